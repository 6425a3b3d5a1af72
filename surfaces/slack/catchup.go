package slack

import (
	"context"
	"slices"
	"time"

	"holdfast/surfaces/slack/api"
)

// Bounds of catching up.
const (
	catchUpTurns   = 50               // of one conversation
	catchUpThreads = 100              // of one channel
	catchUpOverlap = 10 * time.Minute // what may still have been on its way when the last line ended
	catchUpWeek    = 7 * 24 * time.Hour
)

// catchUp takes in what was said while no line stood (S2). What is known already changes nothing. Of
// a channel the newest messages are read, and the threads that have grown since: those among them
// and those where the bot has been spoken to of late.
func (s *Surface) catchUp(ctx context.Context) {
	s.taking.Lock()
	seen := s.memory.Seen
	if seen == "" { // the first start: nothing was missed
		s.memory.saw("", api.Stamp(time.Now()))
	}
	channels := slices.Clone(s.memory.Channels)
	s.taking.Unlock()
	if seen == "" || s.cfg.CatchUp <= 0 {
		return
	}
	since := max(api.Stamp(api.Moment(seen).Add(-catchUpOverlap)), api.Stamp(time.Now().Add(-s.cfg.CatchUp)))
	listed, err := s.api.Channels(ctx, channelsKept)
	if err != nil {
		s.Log.Info("the bot's channels cannot be listed; those where it has heard something are caught up", "surface", s.Name(), "err", err)
	}
	for _, id := range listed {
		if !slices.Contains(channels, id) {
			channels = append(channels, id)
		}
	}
	threads := s.knownThreads()
	for _, channel := range channels {
		if err := s.catchUpChannel(ctx, channel, since, threads[channel]); err != nil && ctx.Err() == nil {
			s.Log.Warn("a channel could not be caught up", "surface", s.Name(), "channel", channel, "err", err)
		}
	}
}

// knownThreads are those where the bot has been spoken to of late, by channel.
func (s *Surface) knownThreads() map[string][]string {
	chats, err := s.engine.Load().Store.Chats(0, 500)
	if err != nil {
		s.Log.Error("conversations cannot be read", "surface", s.Name(), "err", err)
	}
	known := map[string][]string{}
	for _, c := range chats {
		if c.Surface == s.Name() && c.Thread != "" && time.Since(c.Active.Go()) < catchUpWeek {
			known[c.Channel] = append(known[c.Channel], c.Thread)
		}
	}
	return known
}

func (s *Surface) catchUpChannel(ctx context.Context, channel, since string, threads []string) error {
	list, grown, err := s.api.History(ctx, channel, since)
	if err == nil {
		err = s.takeAll(ctx, channel, since, list)
	}
	if err != nil {
		return err
	}
	for _, root := range grown {
		if !slices.Contains(threads, root) {
			threads = append(threads, root)
		}
	}
	for _, root := range threads[:min(len(threads), catchUpThreads)] {
		list, err := s.api.Replies(ctx, channel, root, since)
		if err == nil {
			err = s.takeAll(ctx, channel, since, list)
		}
		if err != nil && api.Reason(err) == "" { // else the thread is gone
			return err
		}
	}
	return nil
}

// takeAll takes in what a list has for the bot, oldest first; of each conversation the newest only.
func (s *Surface) takeAll(ctx context.Context, channel, since string, list []api.Event) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	var chosen []api.Event
	count := map[string]int{}
	for _, e := range slices.Backward(list) {
		if e.TS > since && s.wants(e) && count[e.Root()] < catchUpTurns {
			count[e.Root()]++
			chosen = append(chosen, e)
		}
	}
	for _, e := range slices.Backward(chosen) {
		if err := s.take(ctx, e); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		s.memory.saw(channel, list[len(list)-1].TS)
	}
	return nil
}
