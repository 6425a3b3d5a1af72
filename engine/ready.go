package engine

import (
	"fmt"
	"slices"
	"time"

	"holdfast/store"
)

const (
	// stuckFor is how long a turn may stand ready with nothing in its way until the house is called
	// unready (S6), in this process's running time: a suspend does not count.
	stuckFor  = time.Minute
	lookEvery = 5 * time.Second // who asks more often is told what was seen then
	lookAt    = 1000            // turns of each kind, the oldest first
)

// ledger remembers the turns that stood ready at the last look with nothing in their way: since
// when, as long as their rows have not moved. It is filled by the sweep and by whoever asks.
type ledger struct {
	looked time.Time // zero = never
	idle   map[store.ID]idleTurn
}

type idleTurn struct {
	version int64
	since   time.Time // of the first look that saw it so; monotonic
	due     store.Time
}

// Ready is nil once the store is open and timers are loaded and as long as no turn is left lying,
// else it says why not.
func (e *Engine) Ready() error {
	e.mu.Lock()
	err, looked := e.ready, e.ledger.looked
	e.mu.Unlock()
	if err != nil {
		return err
	}
	if time.Since(looked) >= lookEvery {
		if err := e.lookForIdle(); err != nil {
			return fmt.Errorf("turns cannot be read: %w", err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, t := range e.ledger.idle {
		if lying := time.Since(t.since); lying >= stuckFor {
			return fmt.Errorf("turn %s could have run since %s; nothing has taken it up for %s", id, e.clock(t.due), lying.Round(time.Second))
		}
	}
	return nil
}

// lookForIdle looks whether turns are left lying. Where memory knows of none that could run now, it is enough
// that the store has none that memory does not know, which is less to read, and often has been read before.
func (e *Engine) lookForIdle() error {
	if e.quiet() {
		if known, err := e.allKnown(); known || err != nil {
			return err
		}
	}
	return e.look()
}

// quiet reports that memory knows of no turn that could run now.
func (e *Engine) quiet() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if !e.tally.known || e.lost() > 0 || len(e.sched.runs) > 0 {
		return false
	}
	for _, h := range e.timers {
		if h.at <= now {
			return false
		}
	}
	return !slices.ContainsFunc(e.gateList, func(g *gate) bool { return g.rows > 0 && e.room(g, now) > 0 })
}

// allKnown reports that the store has no turn that could run now but those that memory knows, and notes it.
func (e *Engine) allKnown() (bool, error) {
	now := e.now()
	found, err := e.dueUntil(now.Add(window))
	if err != nil || found.Queued || len(found.Due) == batch {
		return false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range found.Due {
		if _, held := e.timers[r.Turn]; !held && r.RetryAt <= now {
			return false, nil
		}
	}
	e.ledger = ledger{looked: time.Now()}
	return true, nil
}

// look finds the turns that could run now, by the store, and leaves out those that memory has an
// answer for: they run, or their conversation, all workers or their gate are taken.
func (e *Engine) look() error {
	now := e.now()
	list, err := e.Store.OverdueTurns(now, e.openGates(now), lookAt)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	idle := map[store.ID]idleTurn{}
	for _, o := range list {
		if !e.leftLying(o, now) {
			continue
		}
		was, seen := e.ledger.idle[o.Turn]
		if !seen || was.version != o.Version {
			was = idleTurn{version: o.Version, since: time.Now(), due: o.Since}
		}
		idle[o.Turn] = was
	}
	e.ledger = ledger{looked: time.Now(), idle: idle}
	return nil
}

// openGates are the keys of those that keep nobody waiting.
func (e *Engine) openGates(now store.Time) (open []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, g := range e.gates {
		target, pause := g.pauses()
		if pause && !slices.Contains(e.paused, target) || !pause && e.room(g, now) > 0 {
			open = append(open, key)
		}
	}
	return open
}

// leftLying reports a turn that nothing keeps from running and nobody runs. Engine.mu is held.
func (e *Engine) leftLying(o store.Overdue, now store.Time) bool {
	if owner, taken := e.sched.busy[o.Conversation]; taken && owner != o.Turn || e.sched.working >= e.sched.workers || e.stopping {
		return false
	}
	if r := e.sched.runs[o.Turn]; r != nil && (r.place == running || r.place == atSlot) {
		return false
	}
	if h, ok := e.timers[o.Turn]; ok && h.at > now { // an in-process wait may go on past its row's time
		return false
	}
	return true
}
