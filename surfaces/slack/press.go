package slack

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"holdfast/engine"
	"holdfast/store"
)

// Actions of buttons. Their value is the turn's id, so that a button of an old turn never acts on a
// newer one (R16).
const (
	pressTry  = "try"
	pressStop = "stop"
)

const sectionMost = 3000 // characters of a section

// notice is a notice's text with its buttons.
func notice(turn store.ID, text string) []slackapi.Block {
	shown := []rune(text)
	shown = shown[:min(len(shown), sectionMost)]
	button := func(action, label string) *slackapi.ButtonBlockElement {
		return slackapi.NewButtonBlockElement(action, turn.String(), slackapi.NewTextBlockObject(slackapi.PlainTextType, label, false, false))
	}
	return []slackapi.Block{
		slackapi.NewSectionBlock(slackapi.NewTextBlockObject(slackapi.MarkdownType, string(shown), false, false), nil, nil),
		slackapi.NewActionBlock("", button(pressTry, "Try now"), button(pressStop, "Stop")),
	}
}

// press is a button that somebody has pressed.
type press struct {
	Type    string
	User    struct{ ID string }
	Channel struct{ ID string }
	Message struct {
		Thread string `json:"thread_ts"`
	}
	Actions []struct {
		Action string `json:"action_id"`
		Value  string
	}
}

// pressed carries a button out and, beside the line, tells who pressed what came of it.
func (s *Surface) pressed(ctx context.Context, payload []byte) {
	var p press
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
			options := []slackapi.MsgOption{slackapi.MsgOptionText(text, false)}
			if p.Message.Thread != "" {
				options = append(options, slackapi.MsgOptionTS(p.Message.Thread))
			}
			if _, err := s.api.PostEphemeralContext(ctx, p.Channel.ID, p.User.ID, options...); err != nil {
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

// asked is the ts of the message that a turn answers; "" if it was none of Slack's.
func (s *Surface) asked(conversation, turn store.ID) string {
	e := s.engine.Load()
	if e == nil {
		return ""
	}
	h, err := e.Store.History(conversation, turn, 1)
	if err != nil || len(h) == 0 || h[0].Turn != turn || len(h[0].Events) == 0 {
		return ""
	}
	parts := strings.Split(h[0].Events[0].Key, ":")
	if len(parts) != 4 || parts[0] != "slack" {
		return ""
	}
	return parts[3]
}
