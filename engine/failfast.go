package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"holdfast/store"
)

// failFast is the lane of visitors and one-shot asks: nobody is there to be answered later, so a turn
// of it never waits at a gate or for a day, and ends at once with a text instead (T6).
const failFast = "fail_fast"

// Busy is what people see when all is busy for a moment, or nobody knows for how long (CONTRACT.md §5).
const Busy = "The AI is busy right now — give it a minute and ask again."

// longBusy is from when on a known wait is told by its end: who asks again in a minute would only be
// turned away again.
const longBusy = time.Minute

// busyText is what people see when a fail-fast turn ends since everything is busy; until is when that
// ends, 0 if nobody knows.
func (e *Engine) busyText(t *store.Turn, until store.Time) string {
	if until.Sub(e.now()) <= longBusy {
		return Busy
	}
	clock, question := e.clock, "ask again then"
	if s, _ := e.place(t); s != nil {
		if s.Traits().Clock != nil {
			clock = s.Traits().Clock
		}
		if s.Traits().Local { // the page, which has a box
			question = "the question stays in the box"
		}
	}
	return fmt.Sprintf("Out of capacity until %s; %s.", clock(until), question)
}

// elsewhere is the verdict of a turn that goes on with another model.
var elsewhere = verdict{place: running}

// turnAway ends a fail-fast turn at a gate that would have it wait, or sends it to a usable fallback.
func (e *Engine) turnAway(ctx context.Context, r *run, g *gate, t *store.Turn) verdict {
	_, pause := g.pauses()
	model := g.model()
	e.mu.Lock()
	row, bot := g.row, e.bots[t.Bot]
	if bot != nil && !pause {
		if _, ok := e.fallback(r, bot, model); ok {
			e.mu.Unlock()
			tried := maps.Clone(r.memory.Tried)
			if tried == nil {
				tried = map[string]bool{}
			}
			tried[model] = true
			r.memory.Tried = tried
			return elsewhere
		}
	}
	e.mu.Unlock()
	why := store.Reason{Why: "gate", Class: row.Class, Provider: row.Provider, Model: row.Model, Text: capital(strings.TrimSpace(e.service(row.Provider) + " " + gateWords(row.Why)))}
	return e.endBusy(ctx, r, t, e.heldUntil(t), why)
}

// endBusy ends a fail-fast turn that would have to wait until a moment (0 = nobody knows).
func (e *Engine) endBusy(ctx context.Context, r *run, t *store.Turn, until store.Time, why store.Reason) verdict {
	text := e.busyText(t, until)
	v, _ := e.settle(ctx, r, t, store.Settled{Outcome: store.Failed, Text: text, Error: text, Reason: why})
	return v
}
