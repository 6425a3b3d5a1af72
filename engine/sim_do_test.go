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
		for name, m := range s.models {
			if name == provider || w[1] == "all" {
				m.play(model, ev.words[2:]...)
			}
		}
	case "tool":
		s.world.play(w[1], ev.words[2:])
	case "kill":
		s.killAt(down, w[2])
	case "restart":
		s.restart(down)
	case "step":
		before := s.now()
		s.offset.Add(int64(down))
		s.moved = time.Now()
		if down < 0 { // a silent window may then begin anew: how much of it was over is not known any more
			s.checked.forgetUntold("")
		}
		for _, m := range s.models {
			m.stepped(before, s.now())
		}
	case "chat":
		s.chat.is(w[1])
	case "key", "chain", "gone", "back":
		s.nextConfig = append(s.nextConfig, func() { s.configure(ev.words) })
	case "heal":
		s.heal()
	default:
		if s.engine != nil {
			s.order(w)
		}
	}
}

// configure changes the config.
func (s *sim) configure(w []string) {
	switch w[0] {
	case "gone":
		s.gone[w[1]] = true
	case "back":
		delete(s.gone, w[1])
	case "key":
		if m := s.models[w[1]]; m != nil {
			m.key = w[2]
		}
	case "chain":
		for i := range s.bots {
			if s.bots[i].Name == w[1] {
				s.bots[i].Models = w[2:]
			}
		}
	}
}

// configured puts into the parts what the config has at a start.
func (s *sim) configured() {
	for _, change := range s.nextConfig {
		change()
	}
	s.nextConfig = nil
	s.parts.Bots = slices.DeleteFunc(slices.Clone(s.bots), func(b Bot) bool { return s.gone[b.Name] })
	s.parts.Providers = map[string]Provider{}
	for name, m := range s.models {
		if !s.gone[name] {
			s.parts.Providers[name] = m.provider()
		}
	}
}

// has reports whether the config has a bot now.
func (s *sim) has(bot string) bool {
	return slices.ContainsFunc(s.parts.Bots, func(b Bot) bool { return b.Name == bot })
}

// act lets people or operators do something. It may get to the crash point: then it is cut off, and
// act returns false.
func (s *sim) act(what string, do func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	synctest.Wait()
	select {
	case <-done:
		return true
	default:
	}
	if !s.atPoint() {
		s.fault("hangs", "%s does not end", what)
		s.kill(0)
	}
	<-done
	return false
}

// order is what people and operators want.
func (s *sim) order(w []string) {
	var err error
	if e := s.engine; !s.act(w[0], func() { err = s.carryOut(e, w) }) {
		return
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.fault("order", "%s: %v", strings.TrimSpace(strings.Join(w, " ")), err)
	}
}

func (s *sim) carryOut(e *Engine, w []string) error {
	ctx := context.Background()
	target := w[1]
	if target == "all" {
		target = ""
	}
	said := s.said[w[1]]
	known := said != nil && said.turn != 0
	switch w[0] {
	case "release":
		provider, _ := splitModel(w[1])
		m := s.models[provider]
		if m == nil {
			return nil
		}
		holds := m.released(w[1]) // who is let in by it may be there before it returns
		err := e.Release(ctx, w[1], nil)
		if err != nil {
			m.notReleased(holds)
		}
		return err
	case "pause":
		return e.Pause(ctx, target, nil)
	case "unpause":
		return e.Unpause(ctx, target, nil)
	case "stop", "resume":
		if !known {
			return nil
		}
		t, err := e.Store.Turn(said.turn)
		if err == nil && t.MergedInto != 0 {
			t, err = e.Store.Turn(t.MergedInto)
		}
		if err == nil && w[0] == "stop" {
			_, err = e.Stop(ctx, Order{Turn: t.ID})
		} else if err == nil {
			err = s.resume(e, t)
		}
		return err
	case "approve", "deny", "do", "leave":
		if !known {
			return nil
		}
		t, err := e.Store.Turn(said.turn)
		if err == nil && t.MergedInto != 0 {
			t, err = e.Store.Turn(t.MergedInto)
		}
		if err != nil {
			return err
		}
		return s.decide(e, w[0], t.ID)
	case "edit", "delete", "regenerate":
		if !known || said.command {
			return nil
		}
		return s.askedAnew(e, w[0], said)
	}
	return fmt.Errorf("no line is named %q", w[0])
}

// askedAnew changes a question, takes it back, or asks it again; where it is too late nothing happens.
func (s *sim) askedAnew(e *Engine, what string, said *simSaid) error {
	var err error
	switch what {
	case "edit":
		err = e.EditQuestion(context.Background(), said.in.Bot, said.in.Key, said.in.Text+" in other words")
	case "delete":
		err = e.DeleteQuestion(context.Background(), said.in.Bot, said.in.Key)
		said.deleted = said.deleted || err == nil
	case "regenerate":
		said.anew = true
		_, err = e.Regenerate(context.Background(), Order{Turn: said.turn})
	}
	if TooLate(err) || errors.Is(err, store.ErrBusy) || errors.Is(err, ErrNoBot) {
		return nil
	}
	return err
}

// resume is Try now.
func (s *sim) resume(e *Engine, t store.Turn) error {
	_, err := e.Resume(context.Background(), Order{Turn: t.ID})
	if errors.Is(err, ErrHeld) || errors.Is(err, ErrAsks) {
		return nil
	}
	if err == nil && Waits(t.State) {
		s.checked.newEpisode(t)
	}
	return err
}

// say sends a message: "say m0 b0 web/r0 ann [fail_fast] [!stop]".
func (s *sim) say(w []string) {
	surface, channel, ok := strings.Cut(w[3], "/")
	if !ok || s.said[w[1]] != nil || !slices.ContainsFunc(s.bots, func(b Bot) bool { return b.Name == w[2] }) {
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
	s.mu.Lock()
	s.said[said.label] = said // providers look there for who has said it
	s.mu.Unlock()
	if s.engine == nil {
		s.unheard = append(s.unheard, said)
		return
	}
	s.deliver(said)
}

// heldBack keeps a message that nobody can take: the surface of its bot is not there.
func (s *sim) heldBack(said *simSaid) bool {
	if s.has(said.in.Bot) {
		return false
	}
	if said.turn == 0 {
		s.unheard = append(s.unheard, said)
	}
	return true
}

// deliver hands a message in, as its surface does, and keeps what the engine has acknowledged. The
// platform delivers it again after a kill that has kept it from that.
func (s *sim) deliver(said *simSaid) {
	if s.heldBack(said) {
		return
	}
	e := s.engine
	var got store.Admitted
	var err error
	open, before := s.openTurns(), said.tried
	said.tried = s.today()
	if !s.act(said.label, func() { got, err = e.Receive(context.Background(), said.in) }) {
		s.unheard = append(s.unheard, said)
		return
	}
	s.atPoint() // others may have got there in the same moment; it is acknowledged all the same
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
		if got.Duplicate { // it had got there before
			said.tried = before
		}
		s.checkLimits(said, got, open)
	}
	for _, t := range open { // what a message or "!retry" may have started anew
		if t.Conversation == got.Conversation && (said.command || t.ID == got.Into) {
			s.checked.newEpisode(t)
		}
	}
}

// openTurns are those that are not done.
func (s *sim) openTurns() (open []store.Turn) {
	for _, t := range s.turns() {
		if t.State != store.Done {
			open = append(open, t)
		}
	}
	return open
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
	for _, name := range []string{"look", "put", "write", "ask"} {
		s.world.play(name, []string{"ok"})
	}
	s.chat.is("up")
	s.nextConfig = append(s.nextConfig, func() { clear(s.gone) })
	if len(s.gone) > 0 {
		s.restart(0)
	}
	if s.engine == nil {
		s.passUntil(s.again)
	}
	for _, c := range s.parts.Schedules {
		if err := s.engine.PauseSchedule(context.Background(), c.Name, true, nil); err != nil {
			s.fault("order", "pause the schedule %s: %v", c.Name, err)
		}
	}
	s.settle("of its own", func(t store.Turn) bool {
		return strings.HasPrefix(t.Gate, pauseKey) || s.mayBePaused(t) || s.needsPerson(t)
	})
	if s.failed() {
		return
	}
	for _, target := range s.engine.Paused() {
		if err := s.engine.Unpause(context.Background(), target, nil); err != nil {
			s.fault("order", "unpause %q: %v", target, err)
		}
	}
	s.settle("after the pause", s.needsPerson)
	if s.failed() {
		return
	}
	for _, t := range s.openTurns() {
		if err := s.resume(s.engine, t); err != nil {
			s.fault("order", "resume: %v", err)
		}
	}
	s.settle("after an operator's word", func(store.Turn) bool { s.approveAll(); return false })
	s.settlePosts()
	if !s.failed() {
		s.checkEnd()
	}
}

// needsPerson reports a turn that nothing but a person's word wakes.
func (s *sim) needsPerson(t store.Turn) bool {
	return t.State == store.Owed && t.Reason.Why == "stale" || t.State == store.Parked && t.Reason.Why == "approval"
}

// settlePosts lets time pass until all posts are out.
func (s *sim) settlePosts() {
	for range 20 {
		posts, err := s.store.DueLines(s.now().Add(24*time.Hour), nil, nil, 1)
		switch {
		case err != nil:
			s.fault("read", "posts: %v", err)
			return
		case s.failed() || len(posts) == 0:
			return
		}
		s.passUntil(time.Now().Add(time.Minute))
	}
	s.fault("no end", "a post is not out 20 minutes after all was well")
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
	begun := s.now()
	latest := begun.Add(5 * time.Hour)
	for pause := 5 * time.Second; !s.failed(); pause = min(pause*3/2, 20*time.Minute) {
		for _, m := range s.models {
			latest = max(latest, m.longest().Add(5*time.Hour))
			if m.daily > 0 {
				latest = max(latest, begun.Add(time.Duration(2+len(s.said)/m.daily)*24*time.Hour))
			}
		}
		if limit := s.perBot().DailyTokens; limit > 0 {
			latest = max(latest, begun.Add(time.Duration(2+len(s.said)/max(1, limit/simTokens))*24*time.Hour))
		}
		open := slices.DeleteFunc(s.openTurns(), func(t store.Turn) bool { return mayStay(t) || s.unserved(t) })
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

// unserved reports a turn that waits for a bot or a provider that the script has not at all.
func (s *sim) unserved(t store.Turn) bool {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return strings.HasPrefix(t.Gate, goneKey) && !s.engine.serves(t.Bot)
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

// perBot has the limits that all bots share; without bots it is the zero value.
func (s *sim) perBot() Bot {
	if len(s.bots) == 0 {
		return Bot{}
	}
	return s.bots[0]
}
