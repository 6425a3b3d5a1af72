package engine

import (
	"testing"
	"time"

	"holdfast/store"
)

// Turns that wait when the config is changed take the new one at the start: a chain without the model that
// is held, a chain that has another usable model, an allowance that is larger (DESIGN.md §4: change models
// in an outage, restart, and all take the new chain).
func TestWaitingTurnsTakeTheChangedConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		does   string
		state  store.State
		change func(p *Parts)
		atOnce bool
		models []string // that were asked
	}{
		{"held model replaced", "429/1h", store.Parked, chain("fake/two"), true, []string{"one", "two"}},
		{"held model gets a fallback", "429/1h", store.Parked, chain("fake/one", "fake/two"), true, []string{"one", "two"}},
		{"shorter hold is waited for all the same", "429/4m", store.Parked, chain("fake/one", "fake/two"), false, []string{"one"}},
		{"unchanged", "429/1h", store.Parked, chain("fake/one"), false, []string{"one"}},
		{"owed for a long wait", "429/30h", store.Owed, chain("fake/two"), true, []string{"one", "two"}},
		{"account replaced", "401", store.Owed, chain("fake/two"), true, []string{"one", "two"}},
		{"account gets a fallback", "402", store.Owed, chain("fake/one", "fake/two"), true, []string{"one", "two"}},
		{"account unchanged", "402", store.Owed, chain("fake/one"), false, []string{"one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, chain("fake/one"), func(h *house) {
				h.models.playFor("one", c.does, "ok:one")
				h.models.playFor("two", "ok:two")
				id := h.say("ann", "hello")
				h.want(id, c.state)
				h.shutdown()
				c.change(&h.parts)
				h.start()
				h.wait(s(5))
				got := h.turn(id)
				if c.atOnce && (got.Outcome != store.Answered || got.Text != "two") || !c.atOnce && got.State != c.state {
					t.Errorf("%+v", got)
				}
				var asked []string
				for _, r := range h.models.requests() {
					asked = append(asked, r.model)
				}
				equal(t, "asked", asked, c.models)
			})
		})
	}
}

// chain gives the bot its models.
func chain(models ...string) func(p *Parts) {
	return func(p *Parts) { p.Bots[0].Models = models }
}

// R14: a larger allowance counts from the start on, a smaller one does not run anything.
func TestLargerAllowanceRunsAtTheStartR14(t *testing.T) {
	inHouse(t, func(p *Parts) { allow(p, 1) }, func(h *house) {
		h.settled(h.sayIn("room0", "ann", "hello"), s(1))
		id := h.sayIn("room1", "ann", "again")
		h.want(id, store.Parked)
		h.shutdown()
		h.start()
		h.wait(s(5))
		if got := h.want(id, store.Parked); got.From != "budget" || got.Requests != 0 {
			t.Errorf("%+v", got)
		}
		h.shutdown()
		allow(&h.parts, 2)
		h.start()
		h.settled(id, s(5))
		last := h.sayIn("room2", "ann", "third")
		if got := h.want(last, store.Parked); got.From != "budget" || got.RetryAt.Sub(h.engine.now()) > 24*time.Hour {
			t.Errorf("%+v", got)
		}
	})
}

// allow sets how many requests a day the provider takes.
func allow(p *Parts, n int) {
	f := p.Providers["fake"]
	f.Config.DailyRequests = n
	p.Providers["fake"] = f
}
