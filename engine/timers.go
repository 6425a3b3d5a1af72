package engine

import (
	"context"
	"fmt"
	"maps"
	"math"
	"time"

	"holdfast/engine/wheel"
	"holdfast/store"
)

const (
	window     = 2 * time.Minute // how far ahead due rows are held in memory; twice the sweep's interval
	clockCheck = 4 * time.Second // how often wall and monotonic clock are compared (P16: within 5 s)
	clockSlack = 500 * time.Millisecond
	batch      = 1000 // rows read at a time
)

// Wheel keys: a turn's id is positive, the outbox and the schedules have their own, the others are gates by number.
const (
	outboxKey = math.MinInt64
	ticksKey  = math.MinInt64 + 1
)

// held is a turn whose due time lies in the window.
type held struct {
	timer        wheel.Timer
	conversation store.ID
	at           store.Time
}

// hold puts a waiting turn into the wheel if its time lies in the window; beyond it the index in
// the store is enough. Engine.mu is held, and the row is committed: a sweep that reads before that
// commit has moved windowEnd before it, so one of the two holds the turn.
func (e *Engine) hold(turn, conversation store.ID, at store.Time) {
	e.dropTimer(turn)
	if at != 0 && at <= e.windowEnd {
		e.holdAnyway(turn, conversation, at)
	}
}

// holdAnyway holds it wherever its time lies: an in-process wait has no other wake. Engine.mu is held.
func (e *Engine) holdAnyway(turn, conversation store.ID, at store.Time) {
	e.dropTimer(turn)
	e.timers[turn] = held{e.wheel.Add(int64(at), int64(turn)), conversation, at}
}

// dropTimer takes a turn out of the wheel. Engine.mu is held.
func (e *Engine) dropTimer(turn store.ID) {
	if h, ok := e.timers[turn]; ok {
		e.wheel.Cancel(h.timer)
		delete(e.timers, turn)
	}
}

// fire is the wheel's: what has fallen due is made ready.
func (e *Engine) fire(due []wheel.Due) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range due {
		switch {
		case d.Key == outboxKey:
			e.outbox.poke()
		case d.Key == ticksKey:
			e.ticks.poke()
		case d.Key < 0:
			g := e.gateList[-1-d.Key]
			e.letInSoon(g, "timer")
		default:
			turn := store.ID(d.Key)
			if h, ok := e.timers[turn]; ok && int64(h.at) == d.At {
				delete(e.timers, turn)
				e.wakeLocked(turn, h.conversation, "timer", h.at, false)
			}
		}
	}
	e.pump()
}

// load takes up what the last process left: interrupted turns, closed gates, queued turns and the
// window's due ones. What is overdue runs at once.
func (e *Engine) load() error {
	now := e.now()
	last, err := e.Store.Latest() // before anything is written now
	if err != nil {
		return err
	}
	e.setBack = now < last
	n, kept, err := e.Store.Interrupt(now, waitsForItself)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.tally.turns[store.Queued] -= int64(kept) // as which the baseline counts them
	e.tally.turns[store.Parked] += int64(kept)
	e.mu.Unlock()
	if n > 0 {
		e.Log.Info("turns taken up again after a restart", "turns", n)
	}
	if err := e.loadPaused(); err != nil {
		return fmt.Errorf("read what is paused: %w", err)
	}
	if err := e.loadAlerts(); err != nil {
		return fmt.Errorf("read open alerts: %w", err)
	}
	if err := e.loadGates(now); err != nil {
		return err
	}
	if err := e.loadWindow(now); err != nil {
		return err
	}
	if err := e.loadSchedules(now); err != nil {
		return err
	}
	e.mu.Lock()
	e.loaded = true // what has been admitted up to now was not made ready, and stands in the store
	e.mu.Unlock()
	if err := e.loadQueued("start"); err != nil {
		return err
	}
	e.mu.Lock()
	e.ready = nil
	e.mu.Unlock()
	e.runs.Go(e.takeChanges)
	return nil
}

// loadQueued makes every queued turn ready.
func (e *Engine) loadQueued(by string) error {
	for after := store.ID(0); ; {
		rows, err := e.Store.Runnable(after, batch)
		if err != nil {
			return fmt.Errorf("read queued turns: %w", err)
		}
		e.mu.Lock()
		for _, r := range rows {
			after = r.Turn
			if e.sched.runs[r.Turn] == nil {
				e.wakeLocked(r.Turn, r.Conversation, by, 0, false)
			}
		}
		e.pump()
		e.mu.Unlock()
		if len(rows) < batch {
			return nil
		}
	}
}

// dropRows takes the turns that are only rows out of the wheel: the sweep finds them again, at the
// times that they have now. Engine.mu is held.
func (e *Engine) dropRows() {
	for turn := range e.timers {
		if r := e.sched.runs[turn]; r == nil || r.place != waiting {
			e.dropTimer(turn)
		}
	}
}

// watchClock compares wall and monotonic clock: a suspend or a step makes everything overdue run
// now, and after a backward step no due time lies further ahead than its own wait (P16). What lasts
// for too long is told at the same rhythm.
func (e *Engine) watchClock(ctx context.Context) {
	tick := time.NewTicker(clockCheck)
	defer tick.Stop()
	wall, mono := e.Wall().Round(0), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		nowWall, nowMono := e.Wall().Round(0), time.Now()
		if step := nowWall.Sub(wall) - nowMono.Sub(mono); step > clockSlack || step < -clockSlack {
			e.stepped(step)
		}
		e.wheel.Compare(nowWall) // two steps that undo each other are seen by nobody but a timer that was set in between
		e.watch(nowWall)
		wall, mono = nowWall, nowMono
	}
}

// stepped sets everything right after the wall clock has moved by step against the monotonic one.
func (e *Engine) stepped(step time.Duration) {
	e.Log.Info("clock stepped", "by_ms", step.Milliseconds())
	now := e.now()
	if step < 0 {
		if _, err := e.Store.ClampWaits(now); err != nil {
			e.Log.Error("clamp waits after a clock step", "err", err)
		}
		e.mu.Lock()
		e.dropRows()
		for turn, h := range maps.Clone(e.timers) { // what waits in process
			e.holdAnyway(turn, h.conversation, max(h.at+store.Time(step.Milliseconds()), now))
		}
		e.clampGates(now)
		e.ticks.began += store.Time(step.Milliseconds())
		e.mu.Unlock()
		e.replan(now)
	}
	e.wheel.Stepped()
	e.outbox.poke() // what it tries again lies elsewhere now
	e.sweep()
}
