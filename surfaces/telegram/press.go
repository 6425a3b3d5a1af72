package telegram

import (
	"context"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
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
	text := s.door.Press(ctx, p.Data, bot.ID(p.From.ID))
	if err := s.bot.Answer(ctx, p.ID, text); err != nil {
		s.Log.Debug("a button could not be answered", "surface", s.Name(), "err", err)
	}
}

// register makes the commands known, so that Telegram lists them.
func (s *Surface) register(ctx context.Context) {
	var list []bot.Command
	for _, c := range door.Commands() {
		list = append(list, bot.Command(c))
	}
	if err := s.bot.Commands(ctx, list); err != nil {
		s.Log.Warn("commands could not be registered; they work all the same", "surface", s.Name(), "err", err)
	}
}
