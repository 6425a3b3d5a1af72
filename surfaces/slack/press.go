package slack

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/slack/api"
)

// Actions of buttons. Their value is the turn's id, so that a button of an old turn never acts on a
// newer one (R16).
const (
	pressTry  = "try"
	pressStop = "stop"
)

// buttons are those of a notice.
func buttons(turn store.ID) []api.Button {
	return []api.Button{{Action: pressTry, Value: turn.String(), Label: "Try now"}, {Action: pressStop, Value: turn.String(), Label: "Stop"}}
}

// pressed carries a button out and, beside the line, tells who pressed what came of it.
func (s *Surface) pressed(ctx context.Context, payload []byte) {
	var p api.Press
	if err := json.Unmarshal(payload, &p); err != nil || p.Type != "block_actions" {
		return
	}
	for _, a := range p.Actions {
		text := s.press(ctx, a.Action, a.Value, person(p.User.ID))
		if text == "" {
			continue
		}
		s.hands.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			if err := s.api.Tell(ctx, p.Channel.ID, p.Message.Thread, p.User.ID, text); err != nil {
				s.Log.Debug("who pressed a button could not be told", "surface", s.Name(), "err", err)
			}
		})
	}
}

// press does what a button says and returns what there is to say beside what the notice shows.
func (s *Surface) press(ctx context.Context, action, value, by string) string {
	turn, err := store.ParseID(value)
	if err != nil || action != pressTry && action != pressStop {
		return ""
	}
	o := engine.Order{Turn: turn, By: by}
	var t store.Turn
	if action == pressTry {
		t, err = s.engine.Load().Resume(ctx, o)
	} else {
		t, err = s.engine.Load().Stop(ctx, o)
	}
	switch {
	case errors.Is(err, engine.ErrHeld):
		return "The provider takes nothing until " + clock(t.RetryAt) + "; it goes on by itself then."
	case errors.Is(err, engine.ErrNotYours):
		return "Only the person who asked, or an operator of this bot, may do that."
	case errors.Is(err, store.ErrNotFound):
		return "This is so long ago that it is not kept any more."
	case err != nil:
		s.Log.Error("a button could not be obeyed", "surface", s.Name(), "err", err)
		return "That did not work; press it again in a moment."
	case t.State == store.Done && (action == pressTry || t.Outcome != store.Cancelled):
		return "This is done already."
	case action == pressTry:
		return "Trying again now."
	}
	return ""
}
