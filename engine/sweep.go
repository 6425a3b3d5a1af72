package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"holdfast/store"
)

// lastSweep is what the store had of due turns when it was last read. As long as nothing is written to it, it
// still has just that, and nobody reads it again: where nothing goes on a sweep reads nothing.
type lastSweep struct {
	store.Swept
	head int64 // the store's before it was read; -1: there was no read, or it did not hold all
}

// stands reports whether it is what a read up to end would find.
func (s *lastSweep) stands(head int64, end store.Time) bool {
	return s.head == head && (s.Beyond == 0 || end < s.Beyond)
}

// loadWindow moves the window on and holds what falls due in it. Rows are read in batches; an entry that is stale by the time it fires finds its turn not due
// and is held anew.
func (e *Engine) loadWindow(now store.Time) error {
	e.mu.Lock()
	e.windowEnd = now.Add(window)
	end := e.windowEnd
	e.mu.Unlock()
	found, err := e.dueUntil(end)
	for rows := found.Due; err == nil && len(rows) > 0; {
		e.mu.Lock()
		for _, r := range rows {
			if _, held := e.timers[r.Turn]; !held && e.sched.runs[r.Turn] == nil {
				e.hold(r.Turn, r.Conversation, r.RetryAt)
			}
		}
		e.mu.Unlock()
		if len(rows) < batch {
			break
		}
		last := rows[len(rows)-1]
		rows, err = e.Store.Due(last.RetryAt, last.Turn, end, batch)
	}
	if err != nil {
		return fmt.Errorf("read due turns: %w", err)
	}
	return nil
}

// dueUntil is the first batch of what is due up to end: read, or as it was read before. The head is asked
// for after the window has moved, so that what is written from then on is held by who writes it.
func (e *Engine) dueUntil(end store.Time) (store.Swept, error) {
	head := e.Store.Head()
	e.mu.Lock()
	s := e.swept
	e.mu.Unlock()
	if s.stands(head, end) {
		return s.Swept, nil
	}
	found, err := e.Store.Sweep(end, batch)
	s = lastSweep{found, head}
	if err != nil || len(found.Due) == batch {
		s = lastSweep{head: -1}
	}
	e.mu.Lock()
	e.swept = s
	e.mu.Unlock()
	return found, err
}

// sweepEveryMinute refills the window, re-adds anything lost (P8) and clears what is old.
func (e *Engine) sweepEveryMinute(ctx context.Context) {
	c := cron.New(cron.WithLogger(cron.DiscardLogger), cron.WithLocation(time.UTC))
	if _, err := c.AddFunc("@every 1m", func() { e.sweep() }); err != nil {
		e.Log.Error("sweep cannot be scheduled", "err", err)
		return
	}
	if _, err := c.AddFunc("@every 1h", func() { e.prune(ctx) }); err != nil {
		e.Log.Error("the clean-up cannot be scheduled", "err", err)
		return
	}
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
}

// sweep is one pass. Where nothing goes on it reads nothing.
func (e *Engine) sweep() {
	if err := e.loadWindow(e.now()); err != nil {
		e.Log.Error("sweep", "err", err)
	}
	e.sweepGates()
	if e.ticksDue() {
		e.ticks.poke()
	}
	if err := e.lookForIdle(); err != nil {
		e.Log.Error("look for turns that are left lying", "err", err)
	}
	if e.missing() {
		if err := e.loadQueued("timer"); err != nil {
			e.Log.Error("sweep", "err", err)
		}
	}
}

// sweepGates counts anew who waits at gates where somebody came or went, and lets in who may go.
func (e *Engine) sweepGates() {
	head := e.Store.Head()
	e.mu.Lock()
	now, open := e.now(), false
	anew := e.counted != head
	for _, g := range e.gateList {
		anew = anew || g.recount
		open = open || g.recount || g.rows > 0 && g.end(now) == 0
	}
	e.mu.Unlock()
	if !open {
		return
	}
	var counts map[string]int
	if anew { // else as many wait as when they were counted
		var err error
		if counts, err = e.Store.GateWaiters(); err != nil {
			e.Log.Error("count turns at gates", "err", err)
			return
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.gateList {
		if anew {
			g.rows, g.recount = counts[g.row.Key], false
		}
		e.letInSoon(g, "timer")
	}
	e.counted = head
}
