package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/slack/api"
	"holdfast/surfaces/slack/socket"
)

// lateEdit is how old a message may be when an edit that adds the first mention still makes a turn.
const lateEdit = 15 * time.Minute

// envelope takes in what the socket brings. An error means that it must come again.
func (s *Surface) envelope(ctx context.Context, e socket.Envelope) error {
	switch e.Type {
	case "events_api":
		var p struct{ Event api.Event }
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			s.Log.Warn("an event that cannot be read", "surface", s.Name(), "err", err)
			return nil
		}
		return s.message(ctx, p.Event)
	case "interactive":
		s.pressed(ctx, e.Payload)
	}
	return nil
}

// message takes in a message, or what has become of one.
func (s *Surface) message(ctx context.Context, m api.Event) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	if m.Type != "message" && m.Type != "app_mention" {
		return nil
	}
	switch m.SubType {
	case "message_changed": // it changes its question, or makes one if the edit has added the mention
		if m.Message == nil || time.Since(api.Moment(m.Message.TS)) > lateEdit {
			return nil
		}
		now := *m.Message
		now.Channel, now.ChannelType = m.Channel, m.ChannelType
		err := s.engine.Load().EditQuestion(ctx, s.cfg.Bot, s.key(now.Channel, now.TS), s.words(ctx, now))
		if errors.Is(err, store.ErrNotFound) {
			return s.take(ctx, now)
		} else if err != nil && !engine.TooLate(err) {
			return fmt.Errorf("change a question: %w", err)
		}
		return nil
	case "message_deleted":
		s.deleted(ctx, m)
		return nil
	}
	if err := s.take(ctx, m); err != nil {
		return err
	}
	s.memory.saw(m.Channel, m.TS)
	return nil
}

// wants tells whether a message is for the bot and from somebody it serves.
func (s *Surface) wants(m api.Event) bool {
	own := m.User == s.me.User || m.Bot != "" && m.Bot == s.me.Bot
	return m.Said() && !own && s.serves(m) && s.addressed(m)
}

// take makes a turn of a message that the bot wants. Nothing else is stored. A second event of the
// same message is known by its key; one that a client has sent twice by its own id, which memory
// alone knows: the second follows within seconds.
func (s *Surface) take(ctx context.Context, m api.Event) error {
	if other := s.sent.of(m.Sent); !s.wants(m) || other != "" && other != m.TS {
		return nil
	}
	in := engine.Incoming{
		Bot: s.cfg.Bot, Surface: s.Name(), Channel: m.Channel, Thread: m.Root(), Title: s.title(ctx, m), Key: s.key(m.Channel, m.TS),
		Person: person(m.From()), Name: s.names.Person(ctx, m.From()), At: store.At(api.Moment(m.TS)),
		Text: s.words(ctx, m),
	}
	for _, f := range m.Files {
		in.Dropped = append(in.Dropped, cmp.Or(f.Name, f.Title, "a file"))
	}
	if in.Text == "" && len(in.Dropped) == 0 {
		in.Text = "(a mention without words)"
	}
	_, err := s.engine.Load().Receive(ctx, in)
	if errors.Is(err, engine.ErrNoBot) {
		s.Log.Error("a message has no bot to answer it", "surface", s.Name(), "err", err)
		return nil
	} else if err != nil {
		return fmt.Errorf("take in %s: %w", in.Key, err)
	}
	s.sent.add(m.Sent, m.TS)
	s.talks[in.Channel+"/"+in.Thread] = true
	return nil
}

// words are what a message says, with names for ids and without the mention that woke the bot.
func (s *Surface) words(ctx context.Context, m api.Event) string {
	return api.Words(m.Text, s.me.User, func(id string) string { return s.names.Person(ctx, id) })
}

// key names a message's event in the store.
func (s *Surface) key(channel, ts string) string { return keyOf(s.me, channel, ts) }

func keyOf(me api.Self, channel, ts string) string {
	return "slack:" + me.Team + ":" + channel + ":" + ts
}

// serves tells whether the bot answers who sent it, in that place (S9): other bots and people of
// other workspaces only if they are named.
func (s *Surface) serves(m api.Event) bool {
	if slices.Contains(s.cfg.AllowUsers, m.User) || slices.Contains(s.cfg.AllowUsers, m.Bot) && m.Bot != "" {
		return m.Direct() || s.allowed(m.Channel)
	}
	foreign := func(team string) bool { return team != "" && s.me.Team != "" && team != s.me.Team }
	switch {
	case len(s.cfg.AllowUsers) > 0 && !m.Direct(), m.Bot != "", m.User == "":
		return false
	case foreign(m.Team), foreign(m.UserTeam), foreign(m.SourceTeam):
		return false
	case m.Direct():
		return s.cfg.DM && len(s.cfg.AllowUsers) == 0
	}
	return s.allowed(m.Channel)
}

func (s *Surface) allowed(channel string) bool {
	return len(s.cfg.AllowChannels) == 0 || slices.Contains(s.cfg.AllowChannels, channel)
}

// addressed tells whether a message is meant for the bot.
func (s *Surface) addressed(m api.Event) bool {
	switch {
	case m.Direct() || m.Mentions(s.me.User) || s.Reply == "always":
		return true
	case s.Reply == "thread":
		return m.Thread != "" && s.talks[m.Channel+"/"+m.Thread] && !m.Mentions("")
	}
	return false
}

// deleted cancels the waiting turn of a message that is deleted (S10), unless it answers others too.
func (s *Surface) deleted(ctx context.Context, m api.Event) {
	err := s.engine.Load().DeleteQuestion(ctx, s.cfg.Bot, s.key(m.Channel, m.Deleted))
	if err != nil && !engine.TooLate(err) {
		s.Log.Warn("a deleted message's turn could not be cancelled", "surface", s.Name(), "err", err)
	}
}

// title is what a new conversation is called.
func (s *Surface) title(ctx context.Context, m api.Event) string {
	if m.Direct() {
		return "Direct messages"
	}
	return s.names.Channel(ctx, m.Channel)
}
