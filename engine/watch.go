package engine

import (
	"fmt"
	"time"

	"holdfast/store"
)

// watch forgets what is over, and raises what has lasted too long: models that answer nobody, lines that
// are down. It looks at memory alone unless there is something to tell.
func (e *Engine) watch(wall time.Time) {
	now, head := store.At(wall), e.Store.Head()
	e.mu.Lock()
	e.forgetClosings(wall)
	silent, lost, gone := e.silentGates(now, head), e.lostLines(now), e.goneLines()
	e.mu.Unlock()
	for _, g := range silent {
		n, err := e.Store.SufferingOn(g.Provider, g.Model)
		switch {
		case err != nil:
			e.Log.Error("count who waits", "err", err)
		case n.Turns > 0:
			e.raise(alertOutage, g.Provider+"/"+g.Model, g.Since, e.outageText(g.Provider, g.Model, g.Error, g.Since, n))
			e.clearIfOver(g.Key)
		default:
			e.mu.Lock()
			e.gates[g.Key].nobody = head
			e.mu.Unlock()
		}
	}
	e.tellLines(lost, gone)
}

// silentGates are the rows of those that have answered nobody for too long and of which nobody has been
// told, but for those from which nobody suffered when the store was last as it is now. Engine.mu is held.
func (e *Engine) silentGates(now store.Time, head int64) (rows []store.Gate) {
	if e.Alerts.Outage <= 0 {
		return nil
	}
	for _, g := range e.gateList {
		if g.row.Since == 0 || now.Sub(g.row.Since) < e.Alerts.Outage || g.nobody == head {
			continue
		}
		if e.tally.known && e.tally.waiting() == 0 {
			return nil
		}
		if _, told := e.open[alertOutage+"|"+g.model()]; !told {
			rows = append(rows, g.row)
		}
	}
	return rows
}

// clearIfOver closes a model's outage that has ended while it was being told: its answer has found
// nothing to clear yet.
func (e *Engine) clearIfOver(key string) {
	e.mu.Lock()
	g := e.gates[key]
	over, model := g.row.Since == 0, g.model()
	e.mu.Unlock()
	if over {
		e.clear(alertOutage, model)
	}
}

// outageText names the model, since when, how many turns of how many people wait, the oldest, the
// next try, the last error, and where to look.
func (e *Engine) outageText(provider, model, last string, since store.Time, n store.Suffering) string {
	next := "when it answers"
	if n.Next != 0 {
		next = "at " + e.clock(n.Next)
	}
	return fmt.Sprintf("%s/%s has answered nobody since %s: %s of %s wait, the oldest since %s; next try %s; last error: %s. %s",
		provider, model, e.clock(since), count(n.Turns, "turn"), count(n.People, "person"), e.clock(n.Oldest), next, last, e.link("/operator"))
}
