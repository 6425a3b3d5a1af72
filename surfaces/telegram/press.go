package telegram

import (
	"context"
	"errors"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/telegram/bot"
)

// What a button does; the turn's id follows, so that one of an old turn never acts on a newer (R16).
const (
	pressRetry = "retry:"
	pressStop  = "stop:"
	stopped    = "Stopped."
)

// buttons are those of a notice.
func buttons(turn store.ID) *bot.Keyboard {
	return &bot.Keyboard{Rows: [][]bot.Button{{{Text: "Try now", Data: pressRetry + turn.String()}, {Text: "Stop", Data: pressStop + turn.String()}}}}
}

// pressed does what a button says and tells the person, and only him.
func (s *Surface) pressed(ctx context.Context, p bot.Press) {
	if err := s.bot.Answer(ctx, p.ID, s.obey(ctx, p)); err != nil {
		s.Log.Debug("a button could not be answered", "surface", s.Name(), "err", err)
	}
}

// obey does what a button says, in the name of who pressed it, and returns what there is to say.
func (s *Surface) obey(ctx context.Context, p bot.Press) string {
	do, said, id := s.engine.Resume, "Trying again now.", strings.TrimPrefix(p.Data, pressRetry)
	if stop, ok := strings.CutPrefix(p.Data, pressStop); ok {
		do, said, id = s.engine.Stop, stopped, stop
	}
	turn, err := store.ParseID(id)
	var t store.Turn
	if err == nil {
		t, err = do(ctx, engine.Order{Turn: turn, By: person(p.From.ID)})
	}
	switch {
	case errors.Is(err, engine.ErrHeld):
		return "The provider takes nothing for another " + time.Until(t.RetryAt.Go()).Round(time.Second).String() + "; it goes on by itself then."
	case errors.Is(err, engine.ErrNotYours):
		return "Only the person who asked, or an operator of this bot, may do that."
	case errors.Is(err, store.ErrNotFound):
		return "This is not kept any more."
	case err != nil:
		s.Log.Error("a button could not be obeyed", "surface", s.Name(), "err", err)
		return "That did not work; press it again in a moment."
	case t.State == store.Done && (said != stopped || t.Outcome != store.Cancelled):
		return "This is done already."
	}
	return said
}

// register makes the commands known, so that Telegram lists them.
func (s *Surface) register(ctx context.Context) {
	err := s.bot.Commands(ctx, []bot.Command{
		{Name: "stop", What: "End what the bot is working on"}, {Name: "new", What: "Start afresh, without what was said before"},
		{Name: "retry", What: "Try the last failed or waiting question again"}, {Name: "status", What: "Tell what waits, and for what"}, {Name: "help", What: "List the commands"},
	})
	if err != nil {
		s.Log.Warn("commands could not be registered; they work all the same", "surface", s.Name(), "err", err)
	}
}
