package discord

import (
	"context"
	"slices"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/discord/gateway"
	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/door"
)

const (
	keyMessage  = "discord:"
	keyPress    = "discord:i:" // an interaction, which is no message
	refusalText = "I do not take direct messages from everybody. Ask me in a channel where I work, or ask whoever runs me to let you in."
)

// handle takes in one event. An error means that it must come again; one that cannot be read would
// not get better by that.
func (s *Surface) handle(ctx context.Context, e gateway.Event) error {
	event, err := rest.Decode(e.Type, e.Data)
	if err != nil {
		s.Log.Warn("an event that cannot be read", "surface", s.Name(), "type", e.Type, "err", err)
		return nil
	}
	switch x := event.(type) {
	case rest.Ready:
		return s.ready(ctx, x)
	case rest.Guild:
		s.channels.Learn(x.ID, append(x.Channels, x.Threads...)...)
	case rest.Channel:
		s.channels.Learn(x.Guild, x)
	case rest.Message:
		_, err = s.take(ctx, x)
		if err == nil && rest.Later(x.ID, s.memory.Seen) {
			s.memory.Seen = x.ID
		}
	case rest.Edited:
		if x.Edited != "" && time.Since(rest.MadeAt(x.ID)) < door.LateEdit {
			err = s.edited(ctx, x.Message)
		}
	case rest.Deleted:
		s.door.Deleted(ctx, keyMessage+x.ID)
	case rest.Interaction:
		return s.interaction(ctx, x)
	}
	return err
}

// take makes a turn of a message if it is for the bot and from somebody it serves. Nothing else is
// stored. The error says that it must come again.
func (s *Surface) take(ctx context.Context, m rest.Message) (taken bool, err error) {
	unnamed := m.Automatic() && !slices.Contains(s.cfg.AllowUsers, m.Author.ID)
	if !m.Written() || unnamed || m.Author.ID == s.me || !s.addressed(ctx, &m) {
		return false, nil
	}
	if m.Guild == "" {
		s.knowDM(m.Channel)
	}
	if why := s.forbidden(ctx, m.Guild, m.Channel, m.Author.ID); why != "" {
		if m.Guild == "" { // a stranger is told, once
			err = s.rest.Tell(ctx, m.Channel, why, s.me)
			s.Log.Info("a stranger's direct message", "surface", s.Name(), "person", m.Author.ID, "err", err)
		}
		return false, nil
	}
	in := s.incoming(ctx, m.Guild, m.Channel, m.ID)
	in.Key, in.Person, in.Name, in.Text, in.Dropped = keyMessage+m.ID, s.door.Person(m.Author.ID), m.Writer(), m.Words(s.me), m.Files()
	return s.door.Receive(ctx, in)
}

// edited changes the question that a message asked (S10), or makes one if the edit has added the mention.
func (s *Surface) edited(ctx context.Context, m rest.Message) error {
	words := m.Words(s.me)
	if words == "" {
		return nil
	}
	fresh, err := s.door.Edited(ctx, keyMessage+m.ID, words)
	if fresh {
		_, err = s.take(ctx, m)
	}
	return err
}

// incoming is what all that comes from a channel has in common; id gives the time.
func (s *Surface) incoming(ctx context.Context, guild, channel, id string) engine.Incoming {
	in := engine.Incoming{Channel: channel, At: store.At(rest.MadeAt(id))}
	if guild != "" {
		in.Title = "#" + s.channels.Get(ctx, channel).Name
	}
	return in
}

// addressed tells whether a message is meant for the bot.
func (s *Surface) addressed(ctx context.Context, m *rest.Message) bool {
	switch {
	case m.Guild == "", m.Mentioned(s.me), s.Reply == "always":
		return true
	case s.Reply == "thread":
		return s.door.Spoken(m.Channel, "") && len(m.Mentions) == 0 && s.channels.Get(ctx, m.Channel).IsThread()
	}
	return false
}

// forbidden says why somebody may not wake the bot from there; "" if he may.
func (s *Surface) forbidden(ctx context.Context, guild, channel, user string) string {
	named := slices.Contains(s.cfg.AllowUsers, user)
	switch {
	case guild == "" && !s.cfg.DM && !named:
		return refusalText
	case guild != "" && len(s.cfg.AllowUsers) > 0 && !named:
		return "I do not work for everybody; ask whoever runs me to let you in."
	case guild != "" && len(s.cfg.AllowChannels) > 0 && !s.channels.IsIn(ctx, s.cfg.AllowChannels, guild, channel):
		return "I do not work in this channel."
	}
	return ""
}
