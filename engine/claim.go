package engine

import (
	"context"
	"fmt"
	"time"

	"holdfast/store"
)

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

func (e *Engine) logResumed(r *run, t store.Turn) {
	late := time.Duration(0)
	if r.due != 0 {
		late = max(0, e.now().Sub(r.due))
	}
	e.resumedLate(r, late)
	e.Log.Info("turn resumed", "turn", t.ID.String(), "late_ms", late.Milliseconds(), "by", r.by)
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
	case t.State == store.Owed && e.Retry.StaleAfter > 0 && e.now().Sub(t.Spoken) > e.Retry.StaleAfter:
		return e.askWhetherWanted(ctx, r, t), true
	case t.State == store.Owed && t.Reason.Why == "account" && r.by == "timer":
		if until := e.accountWaits(t); until != 0 {
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
