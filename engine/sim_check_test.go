package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"holdfast/store"
)

// checked is what earlier looks have seen.
type checked struct {
	all    []store.Turn            // as they were last read
	head   int64                   // the newest change then
	turns  map[store.ID]store.Turn // as they stood when they were looked at
	told   map[store.ID]bool       // turns that have a notice or an answer
	bounds map[store.ID][]int      // requests made when an episode was begun by a person or an operator
	since  map[string]time.Time    // when something that may only last for a moment was first seen

	approvals map[store.ID]bool // turns that have waited for a person's word
}

// simRow names a request by what both sides know of it.
type simRow struct {
	model string
	at    store.Time
}

func newChecked() checked {
	return checked{turns: map[store.ID]store.Turn{}, told: map[store.ID]bool{}, approvals: map[store.ID]bool{}, bounds: map[store.ID][]int{}, since: map[string]time.Time{}}
}

func (c *checked) newEpisode(t store.Turn) {
	c.bounds[t.ID] = append(c.bounds[t.ID], t.Requests)
	c.forgetUntold(t.ID.String())
}

// forgetUntold begins anew to count how long a turn, or every one (""), waits without being told of.
func (c *checked) forgetUntold(turn string) {
	maps.DeleteFunc(c.since, func(what string, _ time.Time) bool { return strings.HasPrefix(what, "no notice "+turn) })
}

// restarted forgets what only lasts within a process.
func (c *checked) restarted() {
	clear(c.since)
	c.all = nil
}

// lasts reports whether something that is so now has been so for longer than allowed.
func (c *checked) lasts(what string, now bool, allowed time.Duration) bool {
	if !now {
		delete(c.since, what)
		return false
	}
	first, known := c.since[what]
	if !known {
		c.since[what] = time.Now()
		return false
	}
	return time.Since(first) > allowed
}

// check looks at everything at a quiet moment.
func (s *sim) check() {
	if bad := s.log.errors(); len(bad) > 0 {
		s.fault("error", "%s", bad[0])
		return
	}
	turns := s.turns()
	if err := s.engine.Ready(); err != nil {
		s.fault("not ready", "%v", err)
	}
	byID := make(map[store.ID]store.Turn, len(turns))
	for _, t := range turns {
		byID[t.ID] = t
	}
	s.ticked(turns)
	s.checkAccepted(byID)
	s.checkLedger(turns)
	for _, t := range turns {
		if was, known := s.checked.turns[t.ID]; known && was.State == store.Done && (t.State != store.Done || t.Requests != was.Requests || t.Text != was.Text || t.Outcome != was.Outcome) {
			s.fault("done twice", "a done turn has changed: %s, was %s", told(t), told(was))
		} else if !known || was.Version != t.Version {
			s.checkCounts(t)
			s.checkPosts(t)
			s.checkCalls(t)
		}
		s.checked.turns[t.ID] = t
		if t.State != store.Done {
			s.checkWake(t)
		}
	}
}

// ticked follows ticks that have joined a turn which was to be begun anew or was owed: they give it an
// episode of its own (R2).
func (s *sim) ticked(turns []store.Turn) {
	for _, t := range turns {
		if _, known := s.checked.turns[t.ID]; known || !IsSchedule(t.Person) || t.MergedInto == 0 {
			continue
		}
		as, err := s.store.Attempts(t.MergedInto)
		if err != nil {
			s.fault("read", "requests: %v", err)
			return
		}
		n := len(as) // those made since, up to a step of the clock back
		for n > 0 && as[n-1].At >= t.Created && (n == len(as) || as[n-1].At <= as[n].At) {
			n--
		}
		s.checked.bounds[t.MergedInto] = append(s.checked.bounds[t.MergedInto], n)
	}
}

// turns reads all of them, if any may have changed since they were read.
func (s *sim) turns() []store.Turn {
	head := s.store.Head()
	if s.checked.all != nil && s.checked.head == head {
		return s.checked.all
	}
	turns, next, err := s.store.Turns(store.Filter{Limit: 1000})
	if err != nil || next != 0 {
		s.fault("read", "turns: %v, next %v", err, next)
		return nil
	}
	s.checked.all, s.checked.head = turns, head
	return turns
}

// checkAccepted: an acknowledged event has a turn.
func (s *sim) checkAccepted(turns map[store.ID]store.Turn) {
	for _, said := range s.said {
		if said.turn == 0 {
			continue
		}
		t, ok := turns[said.turn]
		if ok && t.MergedInto != 0 {
			_, ok = turns[t.MergedInto]
		}
		if !ok {
			s.fault("lost", "%s was acknowledged and has no turn", said.label)
		}
	}
}

// checkLedger: what memory counts is what the store holds, and nothing is lost.
func (s *sim) checkLedger(turns []store.Turn) {
	shape := s.engine.Shape()
	counts := map[store.State]int64{}
	for _, t := range turns {
		counts[t.State]++
	}
	for state, n := range shape.Turns {
		if counts[state] != n {
			s.fault("ledger", "%d turns are %s, the ledger says %d: %v, %v", counts[state], state, n, counts, shape.Turns)
		}
	}
	if shape.Lost != 0 || shape.Accepted != int64(len(turns)) {
		s.fault("ledger", "%d lost, %d accepted of %d", shape.Lost, shape.Accepted, len(turns))
	}
}

// checkCounts: sends, requests and parks are what the rows of the requests say, and no episode
// makes more requests than it may.
func (s *sim) checkCounts(t store.Turn) {
	as, err := s.store.Attempts(t.ID)
	if err != nil {
		s.fault("read", "requests: %v", err)
		return
	}
	sends, parks, open, ok := 0, 0, 0, 0
	for i, a := range as {
		if a.N != i+1 || a.Send < sends || a.Send > sends+1 {
			s.fault("counts", "requests are not in order: %+v", as)
		}
		sends = a.Send
		switch a.Outcome {
		case "park":
			parks++
		case "":
			open++
		case "ok":
			ok++
		}
	}
	if len(as) != t.Requests || sends != t.Attempts || parks != t.Parks {
		s.fault("counts", "%d requests, %d sends, %d parks: %s", len(as), sends, parks, told(t))
	}
	if open > 1 || open == 1 && t.State != store.Running {
		s.fault("counts", "%d requests are open: %s", open, told(t))
	}
	s.checkCeiling(t, as)
}

// checkCeiling: requests per episode never exceed max_requests. Those of an owed turn are not counted.
func (s *sim) checkCeiling(t store.Turn, as []store.Attempt) {
	most := s.parts.Retry.MaxRequests
	if most == 0 {
		return
	}
	n, owed := 0, false
	for i, a := range as {
		if slices.Contains(s.checked.bounds[t.ID], i) {
			n, owed = 0, false
		}
		if cutOff := a.Outcome == "interrupted" || a.Outcome == "cancelled"; !owed && (n > 0 || !cutOff) { // an episode begins with a failed request
			n++
		}
		switch a.Outcome {
		case "ok":
			n, owed = 0, false
		case "owed":
			owed = true
		case "interrupted": // with the last that was allowed
			owed = owed || n >= most
		}
		if n > most {
			s.fault("ceiling", "request %d is number %d of its episode, %d are allowed: %s", i+1, n, most, told(t))
			return
		}
	}
}

// checkPosts: one notice or answer per turn, and an answered turn has one.
func (s *sim) checkPosts(t store.Turn) {
	posts, err := s.store.Posts(t.ID)
	if err != nil {
		s.fault("read", "posts: %v", err)
		return
	}
	s.checked.told[t.ID] = len(posts) > 0
	parts := map[int]int{}
	for _, p := range posts {
		parts[p.Part]++
		if parts[p.Part] > 1 {
			s.fault("two messages", "part %d of a turn twice: %+v, %s", p.Part, posts, told(t))
		}
		if p.Part == 0 && (t.State == store.Done) == IsNotice(p.Kind) {
			s.fault("message", "a turn shows a post of kind %s: %s", p.Kind, told(t))
		}
	}
	if t.State == store.Done && t.Text != "" && t.Outcome != store.Merged && parts[0] != 1 {
		s.fault("no answer", "a turn has ended and nothing tells of it: %s", told(t))
	}
	if t.State == store.Done && t.Outcome == store.Answered && t.Text == "" {
		s.fault("no answer", "an answer is empty: %s", told(t))
	}
}

// overdue is how late something may run: what a jump of the clock has made due runs within 5 s, and
// a sweep finds within a minute what was passed over.
const (
	overdue = 5 * time.Second
	swept   = 65 * time.Second
)

// checkWake: a turn that is not done has a run in memory that goes on, or its row says what wakes it.
func (s *sim) checkWake(t store.Turn) {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.sched.runs[t.ID]
	lasts := func(what string, now bool, allowed time.Duration) {
		if s.checked.lasts(fmt.Sprint(what, t.ID), now, allowed) {
			s.fault(what, "for more than %v: %s", allowed, told(t))
		}
	}
	atSlotNow := r != nil && r.place == atSlot // a fallback goes on at once, but for the slot
	if Waits(t.State) && (t.Reason.Why == "" || t.From == "" && !atSlotNow) {
		s.fault("no reason", "a turn waits and does not say for what: %s", told(t))
	}
	held, timed := e.timers[t.ID]
	if timed && held.at.Add(overdue) < s.now() {
		lasts("late timer", true, overdue)
	} else {
		lasts("late timer", false, 0)
	}
	s.checkTold(t, r)
	if r != nil {
		s.checkRun(t, r, lasts)
		return
	}
	switch t.State {
	case store.Queued, store.Running, store.Retrying:
		s.fault("forgotten", "nobody in memory knows a turn that is %s: %s", t.State, told(t))
		return
	case store.Rearming:
		if t.RetryAt == 0 || t.RearmN < 1 || t.RearmN > t.RearmOf {
			s.fault("no wake", "a re-arming turn: %s", told(t))
		}
	}
	now := s.now()
	switch {
	case t.Gate == "" && t.RetryAt == 0:
		if !(t.State == store.Owed && t.Reason.Why == "stale" || t.State == store.Parked && t.Reason.Why == "approval") {
			s.fault("no wake", "nothing wakes a turn: %s", told(t))
		}
	case t.Gate == "":
		lasts("overdue", t.RetryAt.Add(overdue) < now, overdue)
		lasts("too far ahead", t.MS > 0 && t.RetryAt > now.Add(time.Duration(t.MS+1)*time.Millisecond), overdue)
	default:
		s.checkAtGate(t, lasts)
	}
}

// checkTold: people are told of a wait that lasts, counted from the first failure of its episode, or
// from its begin at a gate.
func (s *sim) checkTold(t store.Turn, r *run) {
	inLine := r != nil && (r.place == ready || r.place == atSlot) // it goes on as soon as it can: the working sign says so
	untold := Waits(t.State) && t.Lane == "durable" && !inLine && !s.checked.told[t.ID]
	since := fmt.Sprint("first failed ", t.FirstFailed)
	if t.FirstFailed == 0 {
		since = fmt.Sprint("after send ", t.Attempts)
	}
	if allowed := s.parts.Retry.NoticeAfter + swept; s.checked.lasts(fmt.Sprint("no notice ", t.ID, since), untold, allowed) {
		s.fault("no notice", "for more than %v: %s", allowed, told(t))
	}
}

// checkRun: a run in memory runs, or waits for something that there is.
func (s *sim) checkRun(t store.Turn, r *run, lasts func(string, bool, time.Duration)) {
	e := s.engine
	switch r.place {
	case ready:
		owner, busy := e.sched.busy[r.conversation]
		free := !(busy && owner != r.turn) && e.sched.working < e.sched.workers
		if free && !e.stopping {
			s.fault("not claimed", "a turn is ready, a worker and its conversation are free: %s", told(t))
		}
	case atSlot:
		queued := slices.Contains(e.sched.granted, r)
		for _, v := range e.services {
			waits := slices.Contains(v.queue, r)
			queued = queued || waits
			if waits && v.used < v.slots {
				s.fault("not claimed", "a turn waits for a slot of %s and there is one: %s", v.name, told(t))
			}
		}
		if !queued {
			s.fault("no wake", "a turn waits for a slot and stands in no line: %s", told(t))
		}
	case waiting:
		if _, timed := e.timers[t.ID]; !timed {
			s.fault("no wake", "a turn waits in process without a timer: %s", told(t))
		}
	}
	lasts("overdue", false, 0)
}

// checkAtGate: a gate at which a turn waits opens, or lets in, or has somebody on the way.
func (s *sim) checkAtGate(t store.Turn, lasts func(string, bool, time.Duration)) {
	e := s.engine
	g := e.gates[t.Gate]
	if g == nil {
		s.fault("no wake", "a turn waits at a gate that nobody knows: %s", told(t))
		return
	}
	now := s.now()
	if target, paused := g.pauses(); paused {
		lasts("stuck at a pause", !slices.Contains(e.paused, target), swept)
		return
	}
	if bot, lacks := g.lacks(); lacks {
		lasts("stuck without need", e.serves(bot), swept)
		return
	}
	until, why := g.rec.Gate.Closed(now.Go())
	closed := why != ""
	end := g.end(now)
	lasts("row of the gate", closed != (end != 0) || closed && end.Go().Sub(until).Abs() > time.Millisecond, overdue)
	if closed && g.timer == 0 {
		s.fault("no wake", "a closed gate has no timer: %s", told(t))
	}
	_, busy := e.sched.busy[t.Conversation]
	resting := t.State == store.Owed && e.timers[t.ID].at > now || t.State == store.Owed && t.RetryAt > now
	lasts("stuck at a gate", !closed && !resting && !busy && g.inFlight == 0 && len(g.letting) == 0, swept)
}

// checkLimits: a message is turned away exactly if its person has sent too many today, or too many of
// his wait. open are the turns that were not done before it came.
func (s *sim) checkLimits(said *simSaid, got store.Admitted, open []store.Turn) {
	if said.command {
		return
	}
	k := said.in.Bot + " " + said.in.Person + " " + said.tried
	s.messages[k]++
	t, err := s.store.Turn(got.Turn)
	if err != nil || got.Into != 0 || got.Duplicate {
		return
	}
	waits := 0
	for _, o := range open {
		if o.Person == said.in.Person && Waits(o.State) && o.Reason.Why != "approval" {
			waits++
		}
	}
	perPerson, maxWaiting := s.perBot().PerPerson, s.parts.Retry.MaxWaiting
	over := perPerson > 0 && s.messages[k] > perPerson || maxWaiting > 0 && said.in.Lane != "fail_fast" && waits >= maxWaiting
	if refused := t.Outcome == store.Refused && t.Requests == 0; refused != over {
		s.fault("limits", "%s is number %d of the day, %d of its person's turns wait: %s", said.label, s.messages[k], waits, told(t))
	}
}

// checkEnd looks at the whole when everything has come to its end.
func (s *sim) checkEnd() {
	s.checkRequests()
	s.checkAnswers()
	if s.parts.Config.Merge {
		s.checkOrder()
	}
	s.checkChat()
}

// checkRequests: every request that a provider saw has its row, and every row was seen, but for
// those that a kill has cut off before they were sent.
func (s *sim) checkRequests() {
	rows, cut := map[simRow]int{}, map[simRow]int{}
	for id := range s.checked.turns {
		as, err := s.store.Attempts(id)
		if err != nil {
			s.fault("read", "requests: %v", err)
			return
		}
		for _, a := range as {
			rows[simRow{a.Model, a.At}]++
			if a.Outcome == "interrupted" || a.Outcome == "cancelled" {
				cut[simRow{a.Model, a.At}]++
			}
		}
	}
	for _, m := range s.models {
		for _, r := range m.seen {
			k := simRow{r.model, r.wall}
			if rows[k]--; rows[k] < 0 {
				s.fault("no row", "%s saw a request at %v that has no row, for %v", r.model, r.wall, r.labels)
			}
		}
	}
	for k, n := range rows {
		if n > cut[k] {
			s.fault("not sent", "a request of %s at %v was never sent", k.model, k.at)
		}
	}
}

// checkAnswers: an answer answers all that it has taken in, and nothing has been answered twice.
func (s *sim) checkAnswers() {
	for _, said := range s.said {
		if said.turn == 0 || said.command || said.deleted {
			continue
		}
		t := s.checked.turns[said.turn]
		if t.MergedInto != 0 {
			t = s.checked.turns[t.MergedInto]
		}
		if t.State == store.Done && t.Outcome == store.Answered && !slices.Contains(strings.Fields(t.Text), said.label) {
			s.fault("not answered", "%s is not answered by the turn that has taken it in: %q, %s", said.label, t.Text, told(t))
		}
	}
}

// checkOrder: what one person has said in one conversation is answered in that order.
func (s *sim) checkOrder() {
	last := map[string]*simSaid{}
	for _, said := range s.people() {
		if said.turn == 0 || said.command || said.deleted || said.anew {
			continue
		}
		if end := s.answered(said); end != 0 && !s.hasAsked(said) {
			k := said.in.Surface + said.in.Channel + said.in.Person + said.in.Lane
			if before := last[k]; before != nil && s.answered(before) > end {
				s.fault("order", "%s was said before %s and answered after it", before.label, said.label)
			}
			last[k] = said
		}
	}
}

// hasAsked reports whether the answer to a message has waited for a person's word, which blocks nobody.
func (s *sim) hasAsked(said *simSaid) bool {
	t := s.checked.turns[said.turn]
	return s.checked.approvals[t.ID] || s.checked.approvals[t.MergedInto]
}

// answered is when the model gave the answer to a message, 0 if it has not got one.
func (s *sim) answered(said *simSaid) time.Duration {
	t := s.checked.turns[said.turn]
	if t.MergedInto != 0 {
		t = s.checked.turns[t.MergedInto]
	}
	if t.Outcome != store.Answered {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[said.label]
}

// checkChat: people see one message per turn, and it is what the turn says.
func (s *sim) checkChat() {
	for id, t := range s.checked.turns {
		if t.Surface != "chat" || t.State != store.Done {
			continue
		}
		n := 0
		for _, p := range s.chat.of(id) {
			if p.Kind == "mention" || p.Kind == postUnknown || p.Kind == postTold {
				continue
			}
			n++
			if p.Text != t.Text && t.Text != "" {
				s.fault("chat", "people see %q where the turn says %q: %s", p.Text, t.Text, told(t))
			}
		}
		if n > 1 {
			s.fault("chat", "people see %d messages of one turn: %v", n, s.chat.of(id))
		}
	}
}
