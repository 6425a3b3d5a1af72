package slack

import (
	"context"
	"slices"
	"time"

	"holdfast/surfaces/door"
	"holdfast/surfaces/slack/api"
)

// Bounds of catching up.
const (
	catchUpOverlap = 10 * time.Minute // what may still have been on its way when the last line ended
	catchUpWeek    = 7 * 24 * time.Hour
	catchUpChats   = 500 // conversations of the house that are looked through
	channelsKept   = 500
	rememberEvery  = 30 * time.Second
	catchUpAgain   = 30 * time.Second // after a try that has not read or stored all; doubling
	catchUpRarely  = 10 * time.Minute
)

// memory is what the next process must know. It is written now and then: what is older than the
// truth is made up for by reading a little more, whose events are known by their keys.
type memory struct {
	Seen     string   `json:"seen"`     // the newest message that was taken in or passed over; "" = the first start
	Channels []string `json:"channels"` // where messages came from, the latest last
	Behind   string   `json:"behind"`   // what was sent from then on may not have been taken in; "" = nothing is missing
	falls    int      // how often it fell behind
	changed  bool
}

// fellBehind notes that what was sent about then or later may not have been taken in.
func (m *memory) fellBehind(ts string) {
	since := api.Stamp(api.Moment(ts).Add(-catchUpOverlap))
	if m.Behind == "" || since < m.Behind {
		m.Behind = since
	}
	m.falls++
	m.changed = true
}

// saw notes a message that has been dealt with.
func (m *memory) saw(channel, ts string) {
	if ts > m.Seen {
		m.Seen, m.changed = ts, true
	}
	if channel != "" && !slices.Contains(m.Channels, channel) {
		m.Channels, m.changed = append(m.Channels, channel), true
		m.Channels = m.Channels[max(0, len(m.Channels)-channelsKept):]
	}
}

// keepMemory writes it down while it changes, and at the end.
func (s *Surface) keepMemory(ctx context.Context) {
	tick := time.NewTicker(rememberEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		s.taking.Lock()
		if s.memory.changed && s.door.Remember(s.memory) {
			s.memory.changed = false
		}
		s.taking.Unlock()
	}
}

// up is told that a line stands after none did: what was said meanwhile may not have been heard.
func (s *Surface) up() {
	s.taking.Lock()
	defer s.taking.Unlock()
	if s.opened == "" { // the first start: nothing was missed
		s.memory.saw("", api.Stamp(time.Now()))
		return
	}
	s.memory.fellBehind(s.opened)
	select {
	case s.stands <- struct{}{}:
	default:
	}
}

// keepUp catches up whenever a line stands anew, and again, less and less often, while something
// could not be read or stored: Slack itself sends an event again for a few minutes only.
func (s *Surface) keepUp(ctx context.Context) {
	for wait := catchUpAgain; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.stands:
			wait = catchUpAgain
		case <-time.After(wait):
		}
		if s.catchUp(ctx) {
			wait = catchUpAgain
		} else {
			wait = min(2*wait, catchUpRarely)
		}
	}
}

// catchUp takes in what was said while no line stood (S2). What is known already changes nothing. Of
// a channel the newest messages are read, and the threads that have grown since: those among them
// and those where the bot has been spoken to of late. It returns whether nothing is missing any more;
// until then the memory says since when something may be, to the next process too.
func (s *Surface) catchUp(ctx context.Context) (whole bool) {
	s.taking.Lock()
	since, falls, channels := s.memory.Behind, s.memory.falls, slices.Clone(s.memory.Channels)
	s.taking.Unlock()
	if since == "" {
		return true
	}
	whole = s.cfg.CatchUp <= 0 || s.catchUpSince(ctx, max(since, api.Stamp(time.Now().Add(-s.cfg.CatchUp))), channels)
	s.taking.Lock()
	defer s.taking.Unlock()
	if whole && falls == s.memory.falls {
		s.memory.Behind, s.memory.changed = "", true
	}
	return whole
}

func (s *Surface) catchUpSince(ctx context.Context, since string, channels []string) (whole bool) {
	more, err := s.api.Channels(ctx, channelsKept)
	if whole = !api.Passing(err); err != nil {
		s.Log.Info("the bot's channels cannot be listed; those where it has heard something are caught up", "surface", s.Name(), "err", err)
	}
	threads := map[string][]string{}
	for _, c := range s.door.Chats(catchUpChats) {
		more = append(more, c.Channel)
		if c.Thread != "" && time.Since(c.Active.Go()) < catchUpWeek {
			threads[c.Channel] = append(threads[c.Channel], c.Thread)
		}
	}
	for _, id := range more {
		if !slices.Contains(channels, id) {
			channels = append(channels, id)
		}
	}
	for _, channel := range channels {
		if err := s.catchUpChannel(ctx, channel, since, threads[channel]); err != nil && ctx.Err() == nil {
			s.Log.Warn("a channel could not be caught up", "surface", s.Name(), "channel", channel, "err", err)
			whole = whole && !api.Passing(err)
		}
	}
	return whole && ctx.Err() == nil
}

func (s *Surface) catchUpChannel(ctx context.Context, channel, since string, threads []string) error {
	for list, err := range s.api.Missed(ctx, channel, since, threads) {
		if err == nil {
			err = s.takeAll(ctx, channel, since, list)
		}
		if err != nil {
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
		if e.TS > since && s.wants(e) && count[e.Root()] < door.CatchUpTurns {
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
