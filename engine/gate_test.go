package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"holdfast/engine/llm"
	"holdfast/store"
)

// F10: a hold stops every turn of its model, also after a restart; one of the waiting turns asks.
func TestHoldStopsAllF10(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.took = s(.5)
		h.models.play("429/45s", "429/30s", "ok")
		first := h.say("ann", "hello")
		h.wait(s(1))
		h.want(first, store.Parked)
		var others []store.ID
		for i := range 9 {
			others = append(others, h.sayIn(fmt.Sprint("other", i), fmt.Sprint("bob", i), "hi"))
		}
		for _, id := range others {
			if p := h.want(id, store.Parked); p.Wait.From != "gate" || p.Reason.Why != "gate" || p.Parks != 0 || p.Attempts != 0 {
				t.Errorf("%+v", p)
			}
		}
		h.crash()
		h.start()
		h.wait(s(20))
		if n := len(h.models.requests()); n != 1 {
			t.Fatalf("%d requests inside the hold", n)
		}
		h.wait(s(26)) // the hold ends: one asks and is held again
		if n := len(h.models.requests()); n != 2 {
			t.Fatalf("%d requests, want one that asks for all", n)
		}
		for _, id := range append(others, first) {
			h.settled(id, s(60))
		}
		if n := len(h.models.requests()); n != 12 {
			t.Errorf("%d requests in all, want 12", n)
		}
	})
}

// F11: a release lets those who wait for the hold run; of an open gate there is nothing to release.
func TestReleaseF11(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45m", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Parked)
		if shape := h.engine.Shape(); len(shape.Gates) != 1 || shape.Gates[0].Held != 1 || shape.Gates[0].Why != "hold" {
			t.Errorf("%+v", shape)
		}
		h.say("ann", "once more") // joins
		others := []store.ID{h.sayIn("attic", "ann", "hello"), h.sayIn("cellar", "bob", "hello")}
		for _, other := range others {
			h.want(other, store.Parked)
		}
		if shape := h.engine.Shape(); shape.Gates[0].Held != 3 || shape.Gates[0].People != 2 || shape.Providers[0].People != 2 {
			t.Errorf("three turns of two people: %+v", shape)
		}
		if _, err := h.engine.Cancel(t.Context(), Order{Turn: others[1]}); err != nil {
			t.Fatal(err)
		}
		if shape := h.engine.Shape(); shape.Gates[0].Held != 2 || shape.Gates[0].People != 1 {
			t.Errorf("one of them has gone: %+v", shape)
		}
		if err := h.engine.Release(t.Context(), "fake/one", nil); err != nil {
			t.Fatal(err)
		}
		h.settled(id, s(1))
		if err := h.engine.Release(t.Context(), "fake/one", nil); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
}

// F12: 1,000 turns on one dead model are asked for as by one: at most 60 requests in 15 minutes;
// recovery answers all without a rush, those of the last ten minutes first.
func TestManyOnOneDeadModelF12(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Rearm, p.Retry.Owed = nil, true }, func(h *house) {
		h.models.play("503")
		var all []store.ID
		for i := range 1000 {
			all = append(all, h.sayIn(fmt.Sprint("room", i), fmt.Sprint("p", i), "hello"))
			if i == 2 {
				h.wait(s(5))
			}
		}
		h.wait(15*time.Minute - s(5))
		if n := len(h.models.requests()); n > 60 {
			t.Errorf("%d requests in 15 minutes, want at most 60", n)
		}
		late := h.sayIn("late", "late", "hello")
		h.models.took = s(1)
		h.models.play("ok")
		n := len(h.models.requests())
		h.settled(late, 10*time.Minute)
		if asked := len(h.models.requests()) - n; asked > 10 {
			t.Errorf("the fresh message was answered after %d others", asked)
		}
		for _, id := range all {
			if got := h.settled(id, 20*time.Minute); got.Outcome != store.Answered {
				t.Fatalf("%+v", got)
			}
		}
		if h.models.most > 4 {
			t.Errorf("%d at once, want at most the 4 slots", h.models.most)
		}
	})
}

// F1: a 429 without a stated wait switches at once; F8: the primary is used again after its cooldown.
func TestFallbackF1F8(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].Models = []string{"fake/one", "fake/two"} }, func(h *house) {
		h.models.playFor("one", "429", "ok:one")
		h.models.playFor("two", "ok:two")
		if got := h.settled(h.say("ann", "hello"), s(1)); got.Text != "two" || got.Attempts != 2 {
			t.Errorf("%+v", got)
		}
		if got := h.settled(h.say("ann", "again"), s(1)); got.Text != "two" {
			t.Errorf("the cooling model was asked: %+v", got)
		}
		h.wait(s(31))
		if got := h.settled(h.say("ann", "later"), s(1)); got.Text != "one" {
			t.Errorf("the primary is not used again: %+v", got)
		}
	})
}

var _ = llm.Server

// A pause keeps everything back, over a restart, and uses nothing up; unpause lets it run.
func TestPause(t *testing.T) {
	for _, target := range []string{"", "fake", "bot"} {
		inHouse(t, nil, func(h *house) {
			if err := h.engine.Pause(t.Context(), target, nil); err != nil {
				t.Fatal(err)
			}
			id := h.say("ann", "hello")
			other := h.sayIn("other", "bob", "hello")
			h.crash()
			h.start()
			h.wait(s(3600))
			if p := h.want(id, store.Parked); p.Wait.From != "gate" || p.Attempts != 0 || len(h.models.requests()) != 0 {
				t.Errorf("%+v", p)
			}
			if err := h.engine.Unpause(t.Context(), target, nil); err != nil {
				t.Fatal(err)
			}
			h.settled(id, s(1))
			h.settled(other, s(1))
			if err := h.engine.Pause(t.Context(), "nobody", nil); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%v", err)
			}
		})
	}
}

// What comes up names every turn with a time of its own, however far it lies and however many wait at a
// gate before it: a retry in process, a park, a re-arm with its count and an owed turn.
func TestUpcomingNamesWhatWaits(t *testing.T) {
	inHouse(t, func(p *Parts) {
		p.Retry.Resends = 0
		p.Bots[0].Models = []string{"fake/one"}
		p.Bots = append(p.Bots, Bot{Name: "two", Models: []string{"fake/two"}})
	}, func(h *house) {
		h.models.playFor("one", "429/40m")
		for i := range 60 {
			h.sayIn(fmt.Sprint("room", i), fmt.Sprint("p", i), "hello")
		}
		h.wait(s(1))
		h.models.playFor("two", "401")
		a, err := h.engine.Receive(t.Context(), Incoming{Bot: "two", Surface: "web", Channel: "other", Key: "k", Person: "ann", Text: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		owed := h.want(a.Turn, store.Owed)
		kinds, last := map[string]int{}, Upcoming{}
		for _, u := range h.engine.Shape().Upcoming {
			kinds[u.Kind]++
			last = u
		}
		if kinds["gate"] != 1 || kinds["resume"] != knownShown+1 {
			t.Errorf("%v", kinds)
		}
		equal(t, "the owed one", []Upcoming{last}, []Upcoming{{Kind: "resume", Turn: a.Turn, At: owed.RetryAt, Count: 1}})
	})
}
