package engine

import (
	"cmp"
	"slices"
	"time"

	"holdfast/store"
)

// tally counts in memory what /state and the metrics show: the counts that the file held at the
// start, added when they have been read, plus every move since. Guarded by Engine.mu, its lag aside.
type tally struct {
	turns    map[store.State]int64
	settled  map[store.Outcome]int64
	requests map[requestKind]int64
	waits    map[string]time.Duration // planned, by wait_from
	parks    int64
	rearms   int64
	lag      Lag
	models   map[string]*modelTally // by PROVIDER/MODEL
	known    bool                   // the counts at the start are in
}

type requestKind struct{ model, class string }

func newTally() tally {
	return tally{
		turns: map[store.State]int64{}, settled: map[store.Outcome]int64{}, requests: map[requestKind]int64{}, waits: map[string]time.Duration{},
		lag: newLag(), models: map[string]*modelTally{},
	}
}

// waiting is how many turns wait for something other than a worker.
func (t *tally) waiting() int64 {
	return t.turns[store.Retrying] + t.turns[store.Parked] + t.turns[store.Rearming] + t.turns[store.Owed]
}

// nobodyWaits reports that no turn waits for something other than a worker, as far as is known: a wait that
// is being written now may not be counted yet.
func (e *Engine) nobodyWaits() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tally.known && e.tally.waiting() == 0
}

// move counts a turn over from one state to another; from "" is a new one.
func (t *tally) move(from, to store.State) {
	if from != "" {
		t.turns[from]--
	}
	t.turns[to]++
}

// countRequest counts one that has ended after ms; class "" is a success, text is why it failed.
func (e *Engine) countRequest(model string, ms int64, class, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.requests[requestKind{model, class}]++
	m := e.tally.models[model]
	if m == nil {
		m = &modelTally{}
		e.tally.models[model] = m
	}
	m.count(e.now(), ms, class, text)
}

// countBaseline adds what the file held when it was opened. What the last process left running or
// retrying was queued by the load (its moves were not counted), but for what it has counted as parked.
func (e *Engine) countBaseline() {
	counts, err := e.Store.Counts()
	if err != nil {
		e.Log.Error("count turns", "err", err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for s, n := range counts {
		if s == store.Running || s == store.Retrying {
			s = store.Queued
		}
		e.tally.turns[s] += n
	}
	e.tally.known = true
}

// missing reports whether the store has queued turns that memory does not know.
func (e *Engine) missing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tally.known && e.lost() > 0
}

// lost is how many turns are neither done, nor in memory, nor wait as a row with a named wake.
// Engine.mu is held.
func (e *Engine) lost() int64 {
	known := e.tally.turns[store.Queued] + e.tally.turns[store.Running] + e.tally.turns[store.Retrying]
	return max(0, known-int64(len(e.sched.runs)))
}

// Shape is what an operator sees at a glance; all of it is in memory, but for what comes up next and whose
// turns wait at a gate where somebody has come or gone.
type Shape struct {
	Turns     map[store.State]int64 // by state
	Accepted  int64
	Lost      int64
	Gates     []GateShape
	Upcoming  []Upcoming
	Surfaces  []SurfaceShape
	Alerts    []store.Alert   // those that are open, oldest first; one that could not be stored has no id
	Providers []ProviderShape // by name
	Paused    []string        // providers and bots that an operator has paused; "" = everything
}

// GateShape is a closed gate.
type GateShape struct {
	Provider, Model string
	Why             string // "hold" | "down"
	Class           string
	Until, Since    store.Time
	Error           string
	Held            int // turns that wait at it
	People          int // whose turns they are
}

// Upcoming is something due.
type Upcoming struct {
	Kind  string // "resume" | "gate" | "rearm" | "schedule" | "delivery"
	Turn  store.ID
	Name  string // of a schedule
	At    store.Time
	Count int // turns that go on; which of the Of re-arms it is, from 1
	Of    int // re-arms; else 0
}

// upcoming is what stands in the store as due: a turn's next try, or a post's.
func upcoming(d store.Coming) Upcoming {
	u := Upcoming{Kind: "resume", Turn: d.Turn, At: d.At, Count: 1}
	switch {
	case d.Post:
		u.Kind = "delivery"
	case d.State == store.Rearming:
		u.Kind, u.Count, u.Of = "rearm", d.RearmN, d.RearmOf
	}
	return u
}

// upcomingShown is how many of the next due things Shape lists.
const upcomingShown = 50

// Shape reads it.
func (e *Engine) Shape() Shape {
	e.countPeople()
	due, err := e.Store.Upcoming(e.now(), upcomingShown)
	if err != nil {
		e.Log.Error("read what comes up", "err", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Shape{
		Turns: map[store.State]int64{}, Lost: e.lost(), Surfaces: e.surfaceShapes(), Alerts: e.openAlerts(), Providers: e.providerShapes(e.now()), Paused: slices.Clone(e.paused),
	}
	for _, state := range []store.State{store.Done, store.Queued, store.Running, store.Retrying, store.Parked, store.Rearming, store.Owed} {
		s.Turns[state] = e.tally.turns[state]
		s.Accepted += e.tally.turns[state]
	}
	now := e.now()
	closed := map[string]bool{}
	for _, g := range e.gateList {
		if _, why := g.rec.Gate.Closed(now.Go()); why != "" {
			closed[g.row.Key] = true
			s.Gates = append(s.Gates, GateShape{
				Provider: g.row.Provider, Model: g.row.Model, Why: why, Class: g.row.Class, Until: g.row.Until, Since: g.row.Since,
				Error: g.row.Error, Held: g.held(), People: g.people,
			})
			s.Upcoming = append(s.Upcoming, Upcoming{Kind: "gate", At: g.row.Until, Count: g.held()})
			for _, turn := range g.known {
				s.Upcoming = append(s.Upcoming, Upcoming{Kind: "resume", Turn: turn, At: g.row.Until, Count: 1})
			}
		}
	}
	for _, u := range due {
		if !closed[u.Gate] {
			s.Upcoming = append(s.Upcoming, upcoming(u))
		}
	}
	s.Upcoming = append(s.Upcoming, e.ticks.next...)
	slices.SortFunc(s.Upcoming, func(a, b Upcoming) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Turn, b.Turn)) })
	s.Upcoming = s.Upcoming[:min(len(s.Upcoming), upcomingShown)]
	return s
}
