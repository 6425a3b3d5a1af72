package engine

import (
	"context"
	"errors"
	"time"

	"holdfast/store"
)

const (
	changesKept = 24 * time.Hour     // a page that was away for longer gets a snapshot
	wakesKept   = 7 * 24 * time.Hour // bots' own that are over: a call made again within it finds what it has set
	pruneBatch  = 500                // rows deleted in one transaction, so that nobody waits long for it
)

// verifyAfter is how long the daemon is up before it looks through its file: what was overdue at the
// start comes first, and a large file takes a processor for seconds.
const verifyAfter = 30 * time.Second

// verify looks through the file in the background if the last process did not close it.
func (e *Engine) verify(ctx context.Context) {
	e.pause(ctx, verifyAfter)
	if ctx.Err() != nil {
		return
	}
	if err := e.Store.Verify(ctx); err != nil && ctx.Err() == nil {
		e.Log.Error("the store", "err", err)
		e.storeTrouble(err)
	}
}

// clampAtStart follows a step of the clock backwards that was made while no process ran: nothing may
// lie further ahead than its own wait. It reads all that waits; without such a step, which shows in the
// times of what was last written, nothing can lie there, and a start does not read it.
func (e *Engine) clampAtStart() {
	if !e.setBack {
		e.replan(e.now())
		return
	}
	switch n, err := e.Store.ClampWaits(e.now()); {
	case err != nil:
		e.Log.Error("clamp waits at the start", "err", err)
	case n > 0:
		e.mu.Lock()
		e.dropRows()
		e.mu.Unlock()
		e.outbox.poke()
		e.sweep()
	}
	e.replan(e.now())
}

// prune deletes what is old: turns settled longer ago than Keep, and the log that pages follow.
func (e *Engine) prune(ctx context.Context) {
	type pruner struct {
		what   string
		keep   time.Duration
		delete func(store.Time, int) (int, error)
	}
	for _, p := range []pruner{{"changes", changesKept, e.Store.PruneChanges}, {"turns", e.Keep, e.Store.Prune}, {"schedules", wakesKept, e.Store.PruneSchedules}} {
		for n := 1; p.keep > 0 && n > 0 && ctx.Err() == nil; {
			var err error
			if n, err = p.delete(e.now().Add(-p.keep), pruneBatch); err != nil {
				e.Log.Error("delete what is old", "what", p.what, "err", err)
				n = 0
			}
		}
	}
}

// refused tells of an event that could not be stored: nobody is acknowledged, and whoever sent it
// sends it again.
func (e *Engine) refused(err error) error {
	if errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrDamaged) {
		e.storeTrouble(err)
	}
	return err
}
