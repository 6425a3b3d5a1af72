package discord

import (
	"context"
	"errors"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/discord/rest"
)

// commands are the slash commands; the engine knows them as "!stop" and so on.
func commands() []rest.Command {
	return []rest.Command{
		{Name: "stop", Type: 1, Description: "End what the bot is working on"},
		{Name: "new", Type: 1, Description: "Start afresh, without what was said before"},
		{Name: "retry", Type: 1, Description: "Try the last failed or waiting question again"},
		{Name: "status", Type: 1, Description: "Tell what waits, and for what"},
		{Name: "help", Type: 1, Description: "List the commands"},
	}
}

// register makes the slash commands known to Discord; those that are known already change nothing.
func (s *Surface) register(ctx context.Context, app string) {
	if err := s.rest.Commands(ctx, app, commands()); err != nil {
		s.Log.Warn("slash commands could not be registered; they work with an exclamation mark", "surface", s.Name(), "err", err)
	}
}

// What a button does; the turn's id follows, so that one of an old turn never acts on a newer (R16).
const (
	pressRetry = "retry:"
	pressStop  = "stop:"
	stopped    = "Stopped."
)

// buttons are those of a notice.
func buttons(turn store.ID) []rest.Row {
	return rest.Buttons(rest.Press("Try now", pressRetry+turn.String()), rest.Press("Stop", pressStop+turn.String()))
}

// interaction takes in a pressed button or a slash command. A command is stored before it is
// answered; the error says that it must come again. Answers go out beside the line.
func (s *Surface) interaction(ctx context.Context, i rest.Interaction) error {
	text := "I do not know this any more."
	switch i.Type {
	case rest.IsCommand:
		var err error
		if text, err = s.slash(ctx, i); err != nil {
			return err
		}
	case rest.IsPress:
		text = s.press(ctx, i)
	}
	s.hands.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second) // Discord's limit
		defer cancel()
		if err := s.rest.Answer(ctx, i, text); err != nil {
			s.Log.Debug("an interaction could not be answered", "surface", s.Name(), "err", err)
		}
	})
	return nil
}

// slash makes a turn of a slash command, which the engine carries out.
func (s *Surface) slash(ctx context.Context, i rest.Interaction) (string, error) {
	who := i.Who()
	if why := s.forbidden(ctx, i.Guild, i.Channel, who.ID); why != "" {
		return why, nil
	}
	in := s.incoming(ctx, i.Guild, i.Channel, i.ID)
	in.Key, in.Person, in.Name, in.Text = keyPress+i.ID, person(who.ID), who.Shown(), "!"+i.Data.Name
	_, err := s.receive(ctx, in)
	return "All right.", err
}

// press does what a button says, in the name of who pressed it, and returns what there is to say.
func (s *Surface) press(ctx context.Context, i rest.Interaction) string {
	do, said, id := s.engine.Resume, "Trying again now.", strings.TrimPrefix(i.Data.Custom, pressRetry)
	if stop, ok := strings.CutPrefix(i.Data.Custom, pressStop); ok {
		do, said, id = s.engine.Stop, stopped, stop
	}
	turn, err := store.ParseID(id)
	var t store.Turn
	if err == nil {
		t, err = do(ctx, engine.Order{Turn: turn, By: person(i.Who().ID)})
	}
	switch {
	case errors.Is(err, engine.ErrHeld):
		return "The provider takes nothing until " + clock(t.RetryAt) + "; it goes on by itself then."
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
