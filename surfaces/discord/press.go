package discord

import (
	"context"
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

// buttons are those below a post; none takes away those that it had.
func buttons(p store.Post) []rest.Row {
	var list []rest.Button
	for _, b := range engine.Buttons(p) {
		list = append(list, rest.Press(b.Label, b.Key(p), b.Primary, b.Danger))
	}
	return rest.Buttons(list...)
}

// interaction takes in a pressed button or a slash command. A command is stored before it is
// answered; the error says that it must come again. Answers go out beside the line.
func (s *Surface) interaction(ctx context.Context, i rest.Interaction) error {
	text := ""
	var err error
	switch i.Type {
	case rest.IsCommand:
		if text, err = s.slash(ctx, i); err != nil {
			return err
		}
	case rest.IsPress:
		if text, err = s.engine.Press(ctx, engine.PressedKey(i.Data.Custom, person(i.Who().ID))); err != nil {
			s.Log.Error("a button could not be obeyed", "surface", s.Name(), "err", err)
		}
	default:
		return nil
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
