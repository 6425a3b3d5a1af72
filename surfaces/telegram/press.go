package telegram

import (
	"context"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/telegram/bot"
)

// buttons are those below a post; nil takes away those that it had.
func buttons(p store.Post) *bot.Keyboard {
	var row []bot.Button
	for _, b := range engine.Buttons(p) {
		row = append(row, bot.Button{Text: b.Label, Data: b.Key(p)})
	}
	if row == nil {
		return nil
	}
	return &bot.Keyboard{Rows: [][]bot.Button{row}}
}

// pressed carries a button out and tells the person, and only him, what came of it.
func (s *Surface) pressed(ctx context.Context, p bot.Press) {
	text, err := s.engine.Press(ctx, engine.PressedKey(p.Data, person(p.From.ID)))
	if err != nil {
		s.Log.Error("a button could not be obeyed", "surface", s.Name(), "err", err)
	}
	if err := s.bot.Answer(ctx, p.ID, text); err != nil {
		s.Log.Debug("a button could not be answered", "surface", s.Name(), "err", err)
	}
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
