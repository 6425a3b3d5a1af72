package engine

import "holdfast/store"

// joinOlder lets a message whose turn comes to run join an older turn of the same person that has
// begun to wait since the message came: both are answered there, in order (P19). A message that
// comes while that turn waits has joined it when it was admitted.
func (e *Engine) joinOlder(r *run, t *store.Turn) (bool, error) {
	if !e.Config.Merge || t.State != store.Queued || t.Requests > 0 || t.Supersedes != 0 || r.by == "operator" {
		return false, nil
	}
	if e.nobodyWaits() { // one of its own conversation is counted: it had that until then
		return false, nil
	}
	if older, err := e.Store.OlderWaits(t.Conversation, t.ID, t.Person); err != nil || !older {
		return false, err
	}
	into, was, err := e.Store.JoinTurn(t.ID, e.now())
	if err != nil || into == 0 {
		return false, err
	}
	e.mu.Lock()
	e.tally.move(store.Queued, store.Done)
	e.tally.settled[store.Merged]++
	e.mu.Unlock()
	e.Log.Info("turn joined", "turn", t.ID.String(), "into", into.String())
	if was == store.Rearming || was == store.Owed {
		by := "message"
		if only, err := e.onlyClock(t); err == nil && only {
			by = "schedule"
		}
		_, err = e.start(into, by, false, nil)
	}
	return true, err
}
