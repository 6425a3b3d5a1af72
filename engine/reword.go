package engine

import (
	"context"
	"errors"

	"holdfast/engine/llm"
	"holdfast/store"
)

// errReworded cuts a request whose question has changed.
var errReworded = errors.New("the question has changed")

// EditQuestion is told by a surface that a message was edited; key is the platform's id that it came
// in with. It changes the question until the first step of its answer (S10): a request under way is
// cut and made anew, whatever the turn waits for stays. store.ErrNotFound if the message made no
// turn, store.ErrBegun or store.ErrSettled if it is too late: nothing has changed then.
func (e *Engine) EditQuestion(ctx context.Context, bot, key, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ev, err := e.Store.EventByKey(bot, key)
	if err != nil {
		return err
	}
	_, err = e.reword(ev.Turn, ev.ID, text, nil)
	return err
}

// TooLate reports what EditQuestion and DeleteQuestion return where there is nothing to change: a
// message that made no turn, or one whose answer is on its way or given.
func TooLate(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrBegun) || errors.Is(err, store.ErrSettled)
}

// reword changes one message of a turn.
func (e *Engine) reword(turn, event store.ID, text string, c *store.Command) (store.Turn, error) {
	t, err := e.change(turn, func() (store.Turn, error) { return e.Store.Reword(event, text, e.now(), c) })
	if err == nil {
		e.Log.Info("question changed", "turn", turn.String())
	}
	return t, err
}

// change makes a change of what a turn is asked, and cuts a request that asks the old words. Until its
// run knows what has come of it, no answer is journaled, lest it be one to the old words.
func (e *Engine) change(turn store.ID, do func() (store.Turn, error)) (store.Turn, error) {
	before := e.runOf(turn)
	before.changing(1)
	t, err := do()
	if err == nil {
		e.runOf(turn).asks(t.Messages)
	}
	before.changing(-1)
	return t, err
}

// runOf is a turn's run, nil if it is only a row.
func (e *Engine) runOf(turn store.ID) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sched.runs[turn]
}

// changing notes that a change of the question begins (1) or has ended (-1).
func (r *run) changing(by int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes += by
}

// asks tells that the question now counts so many messages and changes.
func (r *run) asks(messages int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest = max(r.latest, messages)
	if r.cut != nil && r.latest > r.built {
		r.cut(errReworded)
	}
}

// builtFrom tells how many messages and changes the context has been built from.
func (r *run) builtFrom(messages int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages, r.built = messages, messages
}

// isStale reports that the question has changed since the context was built, or is being changed.
func (r *run) isStale() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes > 0 || r.latest > r.built
}

// cuttable lets a change end the request under way; nil = none is.
func (r *run) cuttable(cut context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
}

// stoppable lets others end what the run's goroutine does; nil = nothing is to be ended any more.
func (r *run) stoppable(cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel = cancel
}

// stop ends what the run's goroutine does, if one drives it.
func (r *run) stop(cause error) {
	r.mu.Lock()
	cancel := r.cancel
	r.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// afterCut ends the row of a request that was cut since its question had changed, and goes on with
// the new words, as one that is ready: no failure, and nothing of the episode is used up or over.
func (e *Engine) afterCut(ctx context.Context, r *run, t *store.Turn, n int) (verdict, bool) {
	w := store.Waiting{
		Turn: t.ID, At: e.now(), State: store.Queued, Reason: t.Reason, Resumed: t.Resumed, FirstFailed: t.FirstFailed, RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: t.Episode,
		Told: store.Told{Attempt: &store.AttemptEnd{N: n, StatedMS: -1, Outcome: "cancelled", MS: e.since(r).Milliseconds()}},
	}
	r.prepared, r.resends = nil, 0
	r.ended()
	e.exit(r)
	moved, err := e.storeWait(w)
	if errors.Is(err, store.ErrSettled) {
		return over, false
	} else if err != nil {
		return e.trouble(ctx, r, "end a request that was cut", err), false
	}
	e.follow(t, moved)
	return over, true
}

// wasCut reports a failure that is only our own cut.
func (r *run) wasCut(f *llm.Failure) bool { return f.Class == llm.Canceled && r.isStale() }

// DeleteQuestion is told by a surface that a message was deleted. If its turn waits, or has not begun,
// and answers nothing else, it is cancelled; else it goes on with the rest (S10). The text goes
// from the store. A turn that runs is left to end. store.ErrNotFound if the message made no turn.
func (e *Engine) DeleteQuestion(ctx context.Context, bot, key string) error {
	ev, err := e.Store.EventByKey(bot, key)
	if err != nil {
		return err
	}
	t, err := e.Store.Turn(ev.Turn)
	if err != nil || t.State == store.Done || t.State == store.Running {
		return err
	}
	history, err := e.Store.History(t.Conversation, t.ID, 1)
	if err != nil {
		return err
	}
	others := 0
	for _, x := range history {
		for _, other := range x.Events {
			if x.Turn == t.ID && other.ID != ev.ID && other.Text != "" {
				others++
			}
		}
	}
	if others == 0 {
		if t, err = e.Stop(ctx, Order{Turn: t.ID}); err != nil || t.Outcome != store.Cancelled {
			return err
		}
	}
	_, err = e.change(ev.Turn, func() (store.Turn, error) { return e.Store.Withdraw(ev.ID, e.now()) })
	return err
}
