package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"holdfast/store"
)

// do carries out a line. One that makes no sense at the moment does nothing, so that any line of a
// script can be left out.
func (s *sim) do(ev simEvent) {
	w := append(ev.words, "", "", "", "", "")
	down, _ := time.ParseDuration(w[1])
	switch w[0] {
	case "say":
		s.say(w)
	case "again":
		if said := s.said[w[1]]; said != nil && said.turn != 0 && s.engine != nil {
			s.deliver(said)
		}
	case "as":
		provider, model, _ := strings.Cut(w[1], "/")
		if m := s.models[provider]; m != nil {
			m.play(model, ev.words[2:]...)
		}
	case "kill":
		s.killAt(down, w[2])
	case "restart":
		s.restart(down)
	case "step":
		before := s.now()
		s.offset.Add(int64(down))
		s.moved = time.Now()
		for _, m := range s.models {
			m.stepped(before, s.now())
		}
	case "chat":
		s.chat.is(w[1])
	case "key":
		if m := s.models[w[1]]; m != nil {
			s.nextConfig = append(s.nextConfig, func() { m.key = w[2]; s.parts.Providers[m.name] = m.provider() })
		}
	case "chain":
		for i := range s.parts.Bots {
			if s.parts.Bots[i].Name == w[1] {
				chain := ev.words[2:]
				s.nextConfig = append(s.nextConfig, func() { s.parts.Bots = slices.Clone(s.parts.Bots); s.parts.Bots[i].Models = chain })
			}
		}
	case "heal":
		s.heal()
	default:
		if s.engine != nil {
			s.order(w)
		}
	}
}

// order is what people and operators want.
func (s *sim) order(w []string) {
	ctx := context.Background()
	target := w[1]
	if target == "all" {
		target = ""
	}
	var err error
	switch said := s.said[w[1]]; w[0] {
	case "stop":
		if said != nil && said.turn != 0 {
			_, err = s.engine.Stop(ctx, Order{Turn: s.answering(said)})
		}
	case "resume":
		if said != nil && said.turn != 0 {
			err = s.resume(s.answering(said))
		}
	case "release":
		if err = s.engine.Release(ctx, w[1], nil); err == nil {
			provider, _ := splitModel(w[1])
			s.models[provider].released(w[1])
		}
	case "pause":
		err = s.engine.Pause(ctx, target, nil)
	case "unpause":
		err = s.engine.Unpause(ctx, target, nil)
	default:
		s.fault("script", "no line is named %q", w[0])
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.fault("order", "%s: %v", strings.Join(w, " "), err)
	}
}

// answering is the turn that answers a message: its own, or the one that took it in.
func (s *sim) answering(said *simSaid) store.ID {
	t, err := s.store.Turn(said.turn)
	if err != nil {
		s.fault("no turn", "the turn of %s: %v", said.label, err)
	} else if t.MergedInto != 0 {
		return t.MergedInto
	}
	return said.turn
}

// resume is Try now.
func (s *sim) resume(turn store.ID) error {
	before, err := s.store.Turn(turn)
	if err != nil {
		return err
	}
	_, err = s.engine.Resume(context.Background(), Order{Turn: turn})
	if errors.Is(err, ErrHeld) {
		return nil
	}
	if err == nil && Waits(before.State) {
		s.checked.newEpisode(before)
	}
	return err
}

// say sends a message: "say m0 b0 web/r0 ann [fail_fast] [!stop]".
func (s *sim) say(w []string) {
	surface, channel, ok := strings.Cut(w[3], "/")
	if !ok || s.said[w[1]] != nil || !slices.ContainsFunc(s.parts.Bots, func(b Bot) bool { return b.Name == w[2] }) {
		return
	}
	said := &simSaid{label: w[1], in: Incoming{Bot: w[2], Surface: surface, Channel: channel, Key: w[1], Person: w[4], Text: fmt.Sprintf("%s in %s", w[1], w[3])}}
	for _, more := range w[5:] {
		switch {
		case more == "fail_fast":
			said.in.Lane = more
		case asCommand(more) != "":
			said.in.Text, said.command = more, true
		}
	}
	s.said[said.label] = said
	if s.engine == nil {
		s.unheard = append(s.unheard, said)
		return
	}
	s.deliver(said)
}

// deliver hands a message in, as its surface does, and keeps what the engine has acknowledged. The
// platform delivers it again after a kill that has kept it from that.
func (s *sim) deliver(said *simSaid) {
	e := s.engine
	var got store.Admitted
	var err error
	done := make(chan struct{})
	open := s.openTurns()
	go func() {
		defer close(done)
		got, err = e.Receive(context.Background(), said.in)
	}()
	synctest.Wait()
	select {
	case <-done:
	default:
		if !s.atPoint() {
			s.fault("hangs", "%s is not taken in", said.label)
			s.kill(0)
		}
		<-done
		s.unheard = append(s.unheard, said)
		return
	}
	if s.atPoint() { // others may have got there in the same moment; it is acknowledged all the same
		e = nil
	}
	switch {
	case err != nil:
		s.fault("not taken", "%s: %v", said.label, err)
		return
	case said.turn != 0 && said.turn != got.Turn:
		s.fault("twice", "%s has two turns, %v and %v", said.label, said.turn, got.Turn)
	}
	if said.turn == 0 {
		s.heard++
		said.turn, said.order = got.Turn, s.heard
	}
	for _, t := range open { // what a message or "!retry" may have started anew
		if t.Conversation == got.Conversation && (said.command || t.ID == got.Into) {
			s.checked.newEpisode(t)
		}
	}
}

// openTurns are those that are not done.
func (s *sim) openTurns() []store.Turn {
	turns, _, err := s.store.Turns(store.Filter{States: []store.State{store.Queued, store.Running, store.Retrying, store.Parked, store.Rearming, store.Owed}, Limit: 1000})
	if err != nil {
		s.fault("read", "%v", err)
	}
	return turns
}

// killAt kills at once, or sets the trap.
func (s *sim) killAt(down time.Duration, point string) {
	if s.engine == nil {
		return
	}
	if point == "" {
		s.kill(down)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.point, s.downtime = point, down
}

// heal is the end of all trouble: from now on providers and the chat are well. What is owed to a pause or
// to a person's word is seen to after everything else has come to its end.
func (s *sim) heal() {
	s.mu.Lock()
	s.point = ""
	s.mu.Unlock()
	for _, m := range s.models {
		m.play("", "ok@1s")
	}
	s.chat.is("up")
	if s.engine == nil {
		s.passUntil(s.again)
	}
	s.settle("of its own", func(t store.Turn) bool {
		return strings.HasPrefix(t.Gate, pauseKey) || s.mayBePaused(t) || t.Reason.Why == "stale" && t.State == store.Owed
	})
	if s.failed() {
		return
	}
	for _, target := range s.engine.Paused() {
		if err := s.engine.Unpause(context.Background(), target, nil); err != nil {
			s.fault("order", "unpause %q: %v", target, err)
		}
	}
	s.settle("after the pause", func(t store.Turn) bool { return t.Reason.Why == "stale" && t.State == store.Owed })
	if s.failed() {
		return
	}
	for _, t := range s.openTurns() {
		if err := s.resume(t.ID); err != nil {
			s.fault("order", "resume: %v", err)
		}
	}
	s.settle("after an operator's word", func(store.Turn) bool { return false })
	if !s.failed() {
		s.checkEnd()
	}
}

// mayBePaused reports whether a pause keeps a turn from one of its models.
func (s *sim) mayBePaused(t store.Turn) bool {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if s.engine.bots[t.Bot] == nil {
		return false
	}
	return slices.ContainsFunc(s.engine.bots[t.Bot].Models, func(m string) bool { return s.engine.pausedBy(t.Bot, m) != nil })
}

// settle lets time pass until all turns are done, but for those that may stay.
func (s *sim) settle(how string, mayStay func(store.Turn) bool) {
	latest := s.now().Add(5 * time.Hour)
	for _, m := range s.models {
		latest = max(latest, m.longest().Add(5*time.Hour))
	}
	for pause := 5 * time.Second; !s.failed(); pause = min(pause*3/2, 20*time.Minute) {
		open := slices.DeleteFunc(s.openTurns(), mayStay)
		if len(open) == 0 {
			s.look()
			return
		}
		if s.now() > latest {
			s.fault("no end", "a turn has not ended %s, %v after all was well: %s", how, time.Since(s.began), told(open[0]))
			return
		}
		next := s.now().Add(pause)
		for _, t := range open {
			if t.RetryAt > s.now() {
				next = max(next, min(t.RetryAt, s.now().Add(10*pause)))
				break
			}
		}
		s.passUntil(time.Now().Add(next.Sub(s.now())))
		s.look()
	}
}

// told is a turn in a line.
func told(t store.Turn) string {
	return fmt.Sprintf("%v %s %s of %s in %s/%s, retry_at %v, gate %q, from %q, wait %v, reason %+v, attempts %d, requests %d, parks %d, rearm %d of %d, resumed %q, episode %s",
		t.ID, t.State, t.Outcome, t.Person, t.Surface, t.Channel, t.RetryAt.Go().UTC().Format("02 15:04:05.000"), t.Gate, t.From, time.Duration(t.MS)*time.Millisecond, t.Reason,
		t.Attempts, t.Requests, t.Parks, t.RearmN, t.RearmOf, t.Resumed, t.Episode)
}

// people are who has said something in a conversation.
func (s *sim) people() []*simSaid {
	list := slices.Collect(maps.Values(s.said))
	slices.SortFunc(list, func(a, b *simSaid) int { return a.order - b.order })
	return list
}
