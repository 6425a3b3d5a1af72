package discord

import (
	"context"
	"slices"
	"strings"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/discord/gateway"
	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/door"
)

// Earlier implements engine.Historian: the messages of a thread. In a channel the talk before a mention
// may be about anything, and in direct messages everything is said to the bot.
func (s *Surface) Earlier(ctx context.Context, to engine.Place, key string, before store.Time) ([]engine.Said, error) {
	thread := s.channels.Get(ctx, to.Channel)
	if s.blind.Load() || !thread.IsThread() {
		return nil, nil
	}
	id := rest.IDAt(before.Go())
	if own, ok := strings.CutPrefix(strings.Replace(key, keyPress, keyMessage, 1), keyMessage); ok {
		id = own
	}
	list, err := s.rest.Before(ctx, to.Channel, id, engine.EarlierMost)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	if len(list) == engine.EarlierMost {
		if root, err := s.root(ctx, thread); err == nil {
			list = append([]rest.Message{root}, list[1:]...)
		}
	}
	return s.said(list), nil
}

// root is the message that a thread was made of: it stands in the thread's channel, in a forum in the
// thread itself.
func (s *Surface) root(ctx context.Context, thread rest.Channel) (rest.Message, error) {
	m, err := s.rest.Message(ctx, thread.Parent, thread.ID)
	if rest.Refused(err) {
		m, err = s.rest.Message(ctx, thread.ID, thread.ID)
	}
	return m, err
}

// said is what of these messages others have written. If none has a word, the app is not shown any.
func (s *Surface) said(list []rest.Message) (said []engine.Said) {
	s.mu.Lock()
	me := s.me
	s.mu.Unlock()
	others := 0
	for _, m := range list {
		if m.Type == rest.TypeStarter && m.Referenced != nil {
			m = *m.Referenced
		}
		if m.Author.ID == me || !m.Written() {
			continue
		}
		others++
		if text := door.WithFiles(m.Words(me), m.Files()); text != "" {
			said = append(said, engine.Said{Key: keyMessage + m.ID, Name: m.Writer(), Text: text, At: store.At(rest.MadeAt(m.ID))})
		}
	}
	if others > 1 && len(said) == 0 && s.intents()&gateway.MessageContent == 0 {
		s.blind.Store(true)
	}
	return said
}
