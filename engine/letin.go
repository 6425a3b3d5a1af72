package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"holdfast/store"
)

// freshFor is how long a turn with a new message goes before older ones at an opening gate.
const freshFor = 10 * time.Minute

// letInSoon lets waiting turns in from a goroutine of its own, if there are any. Engine.mu is held.
func (e *Engine) letInSoon(g *gate, by string) {
	if !e.stopping && (g.rows > 0 || len(g.inMemory) > 0) {
		e.runs.Go(func() { e.letIn(g, by) })
	}
}

// letIn makes as many of a gate's waiting turns ready as may send now: those spoken to lately
// first, then the oldest (F10, F12). It reads the store, so it is never called with Engine.mu held.
func (e *Engine) letIn(g *gate, by string) {
	e.mu.Lock()
	if g.busy {
		g.more = true
		e.mu.Unlock()
		return
	}
	g.busy = true
	for again := true; again; again = g.more {
		g.more = false
		e.letSomeIn(g, by)
	}
	g.busy = false
	e.mu.Unlock()
}

// letSomeIn is one pass; it gives Engine.mu away while it reads.
func (e *Engine) letSomeIn(g *gate, by string) {
	now := e.now()
	n := e.room(g, now)
	if n <= 0 || e.stopping {
		return
	}
	for n > 0 && len(g.inMemory) > 0 {
		r := g.inMemory[0]
		g.inMemory = g.inMemory[1:]
		if r.place != waiting {
			continue
		}
		e.wakeLocked(r.turn, r.conversation, "gate", g.row.Until, false)
		n--
	}
	if n == 0 || g.rows == 0 {
		e.pump()
		return
	}
	rows, err := e.mayGoIn(g, now, n+len(g.letting)+16)
	if err != nil {
		e.Log.Error("read turns at a gate", "err", err, "model", g.model())
		return
	}
	for _, row := range rows {
		if n == 0 {
			break
		}
		if e.sched.runs[row.Turn] != nil || g.letting[row.Turn] {
			continue
		}
		g.letting[row.Turn] = true
		e.wakeLocked(row.Turn, row.Conversation, by, cmp.Or(row.RetryAt, g.row.Until), false)
		n--
	}
	e.pump()
}

// mayGoIn reads the next rows of a gate that may be let in. It passes over owed ones whose time has
// not come, and those whose conversation another turn has: freed lets these in. Engine.mu is held, but
// not while it reads.
func (e *Engine) mayGoIn(g *gate, now store.Time, limit int) ([]store.Ready, error) {
	anew := !g.ofModel() || e.gateOf(g.model()) != g // who goes in meets another gate
	busy, opened := maps.Clone(e.sched.busy), g.rec.Opened
	passed := map[store.ID]bool{}
	e.mu.Unlock()
	rows, err := e.Store.AtGate(g.row.Key, now.Add(-freshFor), func(row store.Ready) bool {
		if _, taken := busy[row.Conversation]; taken {
			passed[row.Conversation] = true
			return true
		}
		return !anew && tooSoon(row, opened, now)
	}, limit)
	e.mu.Lock()
	g.passed = passed
	for c := range passed {
		if _, taken := e.sched.busy[c]; !taken { // it was freed while the rows were read
			g.more = true
		}
	}
	return rows, err
}

// tooSoon reports an owed turn whose own time has not come, unless the gate has opened since it asked (L7).
func tooSoon(row store.Ready, opened time.Time, now store.Time) bool {
	asked := row.RetryAt.Go().Add(-time.Duration(row.WaitMS) * time.Millisecond)
	return row.State == store.Owed && row.RetryAt > now && !opened.After(asked)
}

// freed gives a turn's conversation back and lets those in that were passed over at a gate since it
// had the conversation. Engine.mu is held.
func (e *Engine) freed(conversation, turn store.ID) {
	if !e.sched.free(conversation, turn) {
		return
	}
	for _, g := range e.gateList {
		if g.passed[conversation] {
			delete(g.passed, conversation)
			e.letInSoon(g, "gate")
		}
	}
}

// room is how many more may be let in now. Engine.mu is held.
func (e *Engine) room(g *gate, now store.Time) int {
	if target, ok := g.pauses(); ok {
		if slices.Contains(e.paused, target) {
			return 0
		}
		return g.rows - len(g.letting)
	}
	if bot, ok := g.lacks(); ok {
		if !e.serves(bot) {
			return 0
		}
		return g.rows - len(g.letting)
	}
	if _, why := g.rec.Gate.Closed(now.Go()); why != "" {
		return 0
	}
	width := g.rec.Gate.Width
	if width == 0 {
		width = 4
		if s := e.services[g.row.Provider]; s != nil {
			width = s.slots
		}
	}
	return width - g.inFlight - len(g.letting)
}
