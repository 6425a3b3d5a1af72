package telegram

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/telegram/bot"
)

const (
	remembered  = 1000 // albums, strangers, posts in doubt
	refusalText = "I do not answer everybody here. Ask whoever runs me to let you in."
)

// take takes in one update. An error means that it must come again.
func (s *Surface) take(ctx context.Context, u bot.Update) error {
	switch {
	case u.Callback != nil:
		s.pressed(ctx, *u.Callback)
	case u.Message != nil:
		return s.message(ctx, u.Message)
	case u.Edited != nil && u.Edited.EditDate-u.Edited.Date < int64(door.LateEdit.Seconds()):
		return s.edited(ctx, u.Edited)
	}
	return nil
}

// edited changes the question that a message asked (S10), or makes one if the edit has added the mention.
func (s *Surface) edited(ctx context.Context, m *bot.Message) error {
	words := m.Words(s.me.Name)
	if words == "" {
		return nil
	}
	fresh, err := s.door.Edited(ctx, key(m), words)
	if fresh {
		return s.message(ctx, m)
	}
	return err
}

// key names a message's event in the store.
func key(m *bot.Message) string { return fmt.Sprintf("telegram:%d:%d", m.Chat.ID, m.ID) }

// message makes a turn of a message if it is for the bot and from somebody it serves. Nothing else
// is stored.
func (s *Surface) message(ctx context.Context, m *bot.Message) error {
	text, files := m.Words(s.me.Name), m.Files()
	switch {
	case m.From == nil || m.From.ID == s.me.ID || !s.addressed(m) || s.tooOld(m):
		return nil
	case m.From.Bot && !slices.Contains(s.cfg.AllowUsers, bot.ID(m.From.ID)):
		return nil
	case text == "" && (s.albums[m.Album] || len(files) == 0 && m.Chat.Type == "private"):
		return nil // the rest of an album, or what Telegram itself says
	case !s.allowed(m):
		if m.Chat.Type == "private" {
			s.refuse(ctx, m)
		}
		return nil
	}
	taken, err := s.door.Receive(ctx, engine.Incoming{
		Channel: bot.ID(m.Chat.ID), Thread: m.Topic(), Title: m.Chat.Title, Key: key(m),
		Person: s.door.Person(bot.ID(m.From.ID)), Name: m.From.Shown(), Text: text, Dropped: files, At: store.At(time.Unix(m.Date, 0)),
	})
	if !taken {
		return err
	}
	if m.Album != "" {
		remember(s.albums, m.Album, true)
	}
	return nil
}

// remember adds to what is remembered; that has an end.
func remember[K comparable, V any](known map[K]V, key K, v V) {
	if _, is := known[key]; !is && len(known) >= remembered {
		clear(known)
	}
	known[key] = v
}

// addressed tells whether a message is meant for the bot: in a group that is its name, a reply to it,
// and with reply "thread" whatever names nobody in a topic where it has been spoken to.
func (s *Surface) addressed(m *bot.Message) bool {
	names, reply := m.Mentions(), m.ReplyTo
	switch {
	case m.Chat.Type == "private", slices.Contains(names, "@"+strings.ToLower(s.me.Name)), slices.Contains(names, bot.ID(s.me.ID)):
		return true
	case m.Chat.Type == "channel" || len(names) > 0:
		return false
	case s.Reply == "always", m.IsCommand(), reply != nil && reply.From != nil && reply.From.ID == s.me.ID:
		return true
	}
	return s.Reply == "thread" && m.Topic() != "" && s.door.Spoken(bot.ID(m.Chat.ID), m.Topic())
}

// tooOld tells whether a message was sent too long before this process to be caught up, or after
// too many others.
func (s *Surface) tooOld(m *bot.Message) bool {
	sent := time.Unix(m.Date+1, 0)
	if !sent.Before(s.start) {
		return false
	} else if s.start.Sub(sent) > s.cfg.CatchUp {
		return true
	}
	s.caught[bot.ID(m.Chat.ID)]++
	return s.caught[bot.ID(m.Chat.ID)] > door.CatchUpTurns
}

// allowed tells whether the bot serves that person in that chat.
func (s *Surface) allowed(m *bot.Message) bool {
	named := slices.Contains(s.cfg.AllowUsers, bot.ID(m.From.ID))
	if m.Chat.Type == "private" {
		return s.cfg.DM || named
	}
	return (named || len(s.cfg.AllowUsers) == 0) && (len(s.cfg.AllowChats) == 0 || slices.Contains(s.cfg.AllowChats, bot.ID(m.Chat.ID)))
}

// refuse tells a stranger once that the bot does not answer him.
func (s *Surface) refuse(ctx context.Context, m *bot.Message) {
	if s.told[bot.ID(m.From.ID)] {
		return
	}
	if _, err := s.bot.Make(ctx, bot.Outgoing{Chat: bot.ID(m.Chat.ID), Text: refusalText}); err != nil {
		s.Log.Warn("a stranger could not be told", "surface", s.Name(), "err", err)
		return
	}
	remember(s.told, bot.ID(m.From.ID), true)
	s.door.Remember(s.told)
}
