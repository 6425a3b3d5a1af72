package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"holdfast/store"
)

// rowsAtOnce is how many rows one read of the store hands out: others who read wait for it.
const rowsAtOnce = 200

// claim is what runs that begin at the same moment share: their rows are read in one go, after all of
// them were claimed, so that none says what was true before. A row that moves from then on is noticed
// by its version when the run's first request is written (store.Begin).
type claim struct {
	turns []store.ID
	begun *sync.WaitGroup // of all that were claimed with it
	read  chan struct{}   // closed when what follows is there
	rows  map[store.ID]store.Turn
	err   error
}

// begins starts the goroutines of runs that were claimed together. Engine.mu is held. A run that is
// alone reads its own row.
func (e *Engine) begins(claimed []*run) {
	if len(claimed) == 1 {
		e.runs.Go(func() { e.drive(claimed[0]) })
		return
	}
	var claims []*claim
	var begun sync.WaitGroup
	for some := range slices.Chunk(claimed, rowsAtOnce) {
		c := &claim{turns: make([]store.ID, 0, len(some)), begun: &begun, read: make(chan struct{})}
		claims = append(claims, c)
		begun.Add(len(some))
		for _, r := range some {
			r.claim, c.turns = c, append(c.turns, r.turn)
			e.runs.Go(func() { e.drive(r) })
		}
	}
	if len(claims) > 0 {
		e.runs.Go(func() { e.readClaims(&begun, claims) })
	}
}

// readClaims reads the rows of what was claimed, once all of it has begun. All are read before the first
// run goes on with its own: that takes a tenth of a second for ten thousand, and behind their work seconds.
func (e *Engine) readClaims(begun *sync.WaitGroup, claims []*claim) {
	begun.Wait()
	for _, c := range claims {
		c.rows, c.err = e.Store.TurnsOf(c.turns)
	}
	for _, c := range claims {
		close(c.read)
	}
}

// row is the run's turn, as it was read after the run was claimed.
func (e *Engine) row(r *run) (store.Turn, error) {
	c, written := r.claim, r.row
	r.claim, r.row = nil, nil
	switch {
	case written != nil:
		r.unread = true
		return *written, nil
	case c == nil:
		return e.Store.Turn(r.turn)
	}
	t, ok := c.rows[r.turn]
	if !ok && c.err == nil {
		return t, fmt.Errorf("read turn: %w", store.ErrNotFound)
	}
	return t, c.err
}

// mayRun reports whether a turn that was woken is really due; if not, it says where it goes.
func (e *Engine) mayRun(r *run, t store.Turn) (verdict, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch now := e.now(); {
	case t.State == store.Done:
		return over, false
	case t.State == store.Queued || t.State == store.Running || r.force:
		return over, true
	case t.State == store.Retrying:
		if t.Wait.RetryAt > now && r.by == "timer" {
			return verdict{place: waiting, until: t.Wait.RetryAt}, false
		}
		return over, true
	case r.by == "timer" && t.Wait.Gate == "" && t.Wait.RetryAt > now:
		e.hold(t.ID, t.Conversation, t.Wait.RetryAt) // a stale timer: its row has moved since
		return over, false
	}
	return over, true
}

// logResumed tells that a run has begun, and how late: from when it was due until it was claimed and
// its goroutine ran.
func (e *Engine) logResumed(r *run, t store.Turn) {
	e.resumedLate(r)
	e.Log.Info("turn resumed", "turn", t.ID.String(), "late_ms", r.late.Milliseconds(), "by", r.by)
}

// isCommand carries out a command that an earlier process has admitted and no more: it asks no model.
func (e *Engine) isCommand(ctx context.Context, r *run, t store.Turn) (verdict, bool) {
	if r.by != "start" || r.begun || t.Attempts > 0 {
		return over, false
	}
	word, err := e.commandOf(t)
	if err != nil {
		return e.trouble(ctx, r, "read the command", err), true
	} else if word == "" {
		return over, false
	}
	e.obey(ctx, t, word)
	return over, true
}

// isOther takes the turns out that are not to ask a model now: one at which the process dies again and
// again, and owed ones that ask a person or let another ask first.
func (e *Engine) isOther(ctx context.Context, r *run, t *store.Turn) (verdict, bool) {
	byItself := r.by != "operator" && r.by != "message"
	switch limit := e.Config.PoisonAfter; {
	case !byItself:
		return over, false
	case limit > 0 && t.Deaths >= limit:
		return e.poisoned(ctx, r, *t), true
	case t.State == store.Owed && e.Retry.StaleAfter > 0 && e.now().Sub(t.Spoken) > e.Retry.StaleAfter && e.heldUntil(t) == 0:
		return e.askWhetherWanted(ctx, r, t), true
	case t.State == store.Owed && t.Reason.Why == "account" && r.by == "timer":
		if until := e.accountWaits(r, t); until != 0 {
			return e.waitForAccount(ctx, r, t, until), true
		}
	}
	return over, false
}

// poisoned ends a turn at whose present step the process has died again and again (R15).
func (e *Engine) poisoned(ctx context.Context, r *run, t store.Turn) verdict {
	e.raise(alertPoisoned, t.ID.String(), e.now(), fmt.Sprintf("the daemon has died %d times in a row while it worked on one turn of the bot %s; that turn is ended. %s",
		t.Deaths, t.Bot, e.link("/turns/"+t.ID.String())))
	return e.fail(ctx, r, fmt.Sprintf("cannot answer this: the daemon was cut off %d times while working on it, so it is not tried again by itself", t.Deaths))
}
