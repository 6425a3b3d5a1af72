package discord

import (
	"context"
	"slices"
	"time"

	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/door"
)

const dmsKept = 200 // channels of direct messages, the latest

// ready begins a new session. What was said since the last one was lost is read from the channels
// (S2) before the session counts as begun; what is known already changes nothing.
func (s *Surface) ready(ctx context.Context, r rest.Ready) error {
	s.mu.Lock()
	s.me = r.User.ID
	s.mu.Unlock()
	if len(r.Guilds) == 0 {
		s.Log.Warn("the bot is in no server yet; invite it", "surface", s.Name(), "at", rest.Invite(r.App.ID))
	}
	s.register(ctx, r.App.ID)
	since := rest.IDAt(time.Now().Add(-s.cfg.CatchUp))
	if rest.Later(s.memory.Seen, since) {
		since = s.memory.Seen
	}
	if s.memory.Seen == "" || s.cfg.CatchUp == 0 { // at the first start nothing was missed
		s.memory.Seen = rest.IDAt(time.Now())
		return nil
	}
	for _, id := range s.rest.DMs(ctx, s.cfg.AllowUsers[:min(len(s.cfg.AllowUsers), dmsKept/2)]) {
		s.knowDM(id)
	}
	taken := map[string]int{}
	for m, err := range s.channels.Missed(ctx, r.Guilds, slices.Clone(s.memory.DMs), since) {
		if err != nil {
			return err
		}
		if taken[m.Channel] == door.CatchUpTurns {
			continue
		}
		ok, err := s.take(ctx, m)
		if err != nil {
			return err
		} else if ok {
			taken[m.Channel]++
		}
	}
	return nil
}

// knowDM notes a channel of direct messages.
func (s *Surface) knowDM(channel string) {
	list := append(slices.DeleteFunc(s.memory.DMs, func(id string) bool { return id == channel }), channel)
	s.memory.DMs = list[max(0, len(list)-dmsKept):]
}
