package discord

import (
	"context"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/door"
)

// answerWithin is how long Discord waits for the answer to an interaction.
const answerWithin = 3 * time.Second

// register makes the slash commands known to Discord; those that are known already change nothing.
func (s *Surface) register(ctx context.Context, app string) {
	var list []rest.Command
	for _, c := range door.Commands() {
		list = append(list, rest.Command{Name: c.Name, Type: 1, Description: c.What})
	}
	if err := s.rest.Commands(ctx, app, list); err != nil {
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
		text = s.door.Press(ctx, i.Data.Custom, i.Who().ID)
	default:
		return nil
	}
	s.door.Aside(ctx, answerWithin, func(ctx context.Context) error { return s.rest.Answer(ctx, i, text) })
	return nil
}

// slash makes a turn of a slash command, which the engine carries out.
func (s *Surface) slash(ctx context.Context, i rest.Interaction) (string, error) {
	who := i.Who()
	if why := s.forbidden(ctx, i.Guild, i.Channel, who.ID); why != "" {
		return why, nil
	}
	in := s.incoming(ctx, i.Guild, i.Channel, i.ID)
	in.Key, in.Person, in.Name, in.Text = keyPress+i.ID, s.door.Person(who.ID), who.Shown(), "!"+i.Data.Name
	_, err := s.door.Receive(ctx, in)
	return "All right.", err
}
