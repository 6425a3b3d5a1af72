package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// lay puts a turn into the store behind the engine's back: nothing in memory knows of it.
func (h *house) lay(channel string) store.ID {
	h.t.Helper()
	h.said++
	a, err := h.store.Admit(store.Admission{
		At: h.engine.now(), Bot: "bot", Key: fmt.Sprint("m", h.said), Kind: "message", Surface: "web", Channel: channel, Person: "ann", Text: "hello", Lane: "durable",
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return a.Turn
}

// S6: a turn that could run and that nobody takes up makes the house unready after 60 s of running
// time, with its id; once it is taken up all is well.
func TestUnreadyForATurnLeftLyingS6(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		id := h.lay("room")
		for range 11 {
			if err := h.engine.Ready(); err != nil {
				t.Fatalf("%v after less than 60 s", err)
			}
			h.wait(s(5))
		}
		h.offset.Add(int64(time.Hour)) // a suspend: the wall clock moves, the process has not run
		if err := h.engine.Ready(); err != nil {
			t.Errorf("a suspend counts: %v", err)
		}
		h.wait(s(6))
		err := h.engine.Ready()
		if err == nil || !strings.Contains(err.Error(), id.String()) {
			t.Fatalf("%v does not name %s", err, id)
		}
		h.crash()
		h.start()
		h.settled(id, s(5))
		h.wait(s(10))
		if err := h.engine.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// S6: the sweep looks by itself, so that the first question is answered by what lay before.
func TestSweepLooksForTurnsLeftLyingS6(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		id := h.lay("room")
		h.wait(2*time.Minute + s(5))
		if err := h.engine.Ready(); err == nil || !strings.Contains(err.Error(), id.String()) {
			t.Errorf("%v", err)
		}
	})
}

// S6: a turn that waits for its conversation, for a worker or at a gate is not left lying.
func TestReadyWhileSomethingIsInTheWayS6(t *testing.T) {
	for _, c := range []struct {
		name      string
		configure func(*Parts)
		script    string
		do        func(h *house)
	}{
		{"its conversation is taken", nil, "hang", func(h *house) { h.say("ann", "first"); h.lay("room") }},
		{"all workers are taken", func(p *Parts) { p.Config.Workers = 1 }, "hang", func(h *house) { h.say("ann", "first"); h.lay("other") }},
		{"its gate is closed", nil, "429/10m", func(h *house) { h.say("ann", "first"); h.sayIn("other", "bob", "second") }},
		{"all is paused", nil, "ok", func(h *house) {
			if err := h.engine.Pause(h.t.Context(), "", nil); err != nil {
				h.t.Fatal(err)
			}
			h.say("ann", "first")
		}},
		{"one asks for all", nil, "503", func(h *house) {
			for i := range 8 {
				h.sayIn(fmt.Sprint("room", i), fmt.Sprint("p", i), "hello")
			}
		}},
		{"it waits in process", func(p *Parts) { p.Retry.Park = false }, "429/10m", func(h *house) { h.say("ann", "first") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, c.configure, func(h *house) {
				h.models.play(c.script)
				c.do(h)
				for range 40 {
					h.wait(s(5))
					if err := h.engine.Ready(); err != nil {
						t.Fatalf("%v\n%s", err, h.log)
					}
				}
			})
		})
	}
}
