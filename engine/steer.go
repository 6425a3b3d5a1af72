package engine

import (
	"context"
	"errors"

	"holdfast/store"
)

// steer takes in, between two steps of a turn, what the same person has said meanwhile: the model sees
// it with its next request. It is what joins a waiting turn, done to one that runs.
func (e *Engine) steer(ctx context.Context, r *run, t *store.Turn) (verdict, bool) {
	if !e.Config.Merge {
		return over, true
	}
	moved, joined, err := e.Store.SteerTurn(t.ID, e.now())
	switch {
	case errors.Is(err, store.ErrSettled):
		return over, false
	case err != nil:
		return e.trouble(ctx, r, "take messages in", err), false
	case len(joined) == 0:
		return over, true
	}
	e.mu.Lock()
	for _, id := range joined {
		e.tally.move(store.Queued, store.Done)
		e.tally.settled[store.Merged]++
		e.forget(id)
	}
	e.mu.Unlock()
	for _, id := range joined {
		e.Log.Info("turn joined", "turn", id.String(), "into", t.ID.String())
	}
	e.follow(t, moved)
	return over, true
}
