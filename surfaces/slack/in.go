package slack

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/slack/api"
	"holdfast/surfaces/slack/socket"
)

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
		if m.Message == nil || time.Since(api.Moment(m.Message.TS)) > door.LateEdit {
			return nil
		}
		now := *m.Message
		now.Channel, now.ChannelType = m.Channel, m.ChannelType
		fresh, err := s.door.Edited(ctx, keyOf(s.me, now.Channel, now.TS), s.names.Words(ctx, now, s.me))
		if fresh {
			return s.take(ctx, now)
		}
		return err
	case "message_deleted":
		s.door.Deleted(ctx, keyOf(s.me, m.Channel, m.Deleted))
		return nil
	}
	if err := s.take(ctx, m); err != nil {
		s.memory.fellBehind(m.TS)
		return err
	}
	s.memory.saw(m.Channel, m.TS)
	return nil
}

// wants tells whether a message is for the bot and from somebody it serves.
func (s *Surface) wants(m api.Event) bool {
	return m.Said() && !s.me.Wrote(m) && s.serves(m) && s.addressed(m)
}

// take makes a turn of a message that the bot wants. Nothing else is stored. A second event of the
// same message is known by its key; one that a client has sent twice by its own id, which memory
// alone knows: the second follows within seconds.
func (s *Surface) take(ctx context.Context, m api.Event) error {
	if !s.wants(m) || s.sent.Again(m) {
		return nil
	}
	in := engine.Incoming{
		Channel: m.Channel, Thread: m.Root(), Key: keyOf(s.me, m.Channel, m.TS), At: store.At(api.Moment(m.TS)),
		Person: s.door.Person(m.From()), Name: s.names.Person(ctx, m.From()), Text: s.names.Words(ctx, m, s.me), Dropped: m.FileNames(),
	}
	if !m.Direct() {
		in.Title = s.names.Channel(ctx, m.Channel)
	}
	taken, err := s.door.Receive(ctx, in)
	if taken {
		s.sent.Add(m)
	}
	return err
}

// keyOf names a message's event in the store.
func keyOf(me api.Self, channel, ts string) string {
	return "slack:" + me.Team + ":" + channel + ":" + ts
}

// serves tells whether the bot answers who sent it, in that place (S9): other bots and people of
// other workspaces only if they are named.
func (s *Surface) serves(m api.Event) bool {
	if slices.Contains(s.cfg.AllowUsers, m.User) || slices.Contains(s.cfg.AllowUsers, m.Bot) && m.Bot != "" {
		return m.Direct() || s.allowed(m.Channel)
	}
	switch {
	case len(s.cfg.AllowUsers) > 0 && !m.Direct(), m.Bot != "", m.User == "", s.me.Foreign(m):
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
		return m.Thread != "" && s.door.Spoken(m.Channel, m.Thread) && !m.Mentions("")
	}
	return false
}
