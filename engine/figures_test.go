package engine

import (
	"reflect"
	"testing"
	"time"

	"holdfast/store"
)

// What the metrics tell: every count once, whatever the turn goes through.
func TestFigures(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Resends = 0; p.Retry.Rearm = []time.Duration{2 * time.Minute} }, func(h *house) {
		h.models.play("503", "429/45s", "ok")
		h.settled(h.say("ann", "hello"), time.Minute)
		h.models.play("400")
		h.settled(h.say("ann", "no"), s(1))
		f := h.engine.Figures()
		want := map[string]time.Duration{"backoff": s(2), "retry-after": s(45)}
		if !reflect.DeepEqual(f.Waits, want) {
			t.Errorf("waits %v, want %v", f.Waits, want)
		}
		if f.Parks != 1 || f.Rearms != 0 || f.Lost != 0 || f.Turns[store.Done] != 2 || f.Settled[store.Answered] != 1 || f.Settled[store.Refused] != 1 {
			t.Errorf("%+v", f)
		}
		counts := map[RequestCount]bool{}
		for _, c := range f.Requests {
			counts[c] = true
		}
		for class, n := range map[string]int64{"": 1, "overloaded": 1, "rate_limit": 1, "refused": 1} {
			if !counts[RequestCount{"fake", "one", class, n}] {
				t.Errorf("%d of class %q are not in %v", n, class, f.Requests)
			}
		}
		n := uint64(0)
		for _, c := range f.Lag.Counts {
			n += c
		}
		if n != 1 || f.Lag.Sum > s(1) {
			t.Errorf("lag %+v, want one turn resumed in time", f.Lag)
		}
	})
}

// A wait at a gate counts once, also when the turn looks again meanwhile; re-arms count when they are queued.
func TestFiguresOfGateAndRearm(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/10m", "ok")
		first := h.say("ann", "hello")
		h.wait(s(10))
		second := h.sayIn("other", "bob", "hello")
		h.settled(first, 11*time.Minute)
		h.settled(second, time.Minute)
		if got := h.engine.Figures().Waits["gate"]; got != 10*time.Minute-s(10) {
			t.Errorf("gate %v", got)
		}
	})
	inHouse(t, shortLadder, func(h *house) {
		h.models.play("503")
		h.say("ann", "hello")
		h.wait(3 * time.Minute)
		f := h.engine.Figures()
		if f.Rearms != 2 || f.Waits["rearm"] != 10*time.Minute {
			t.Errorf("%+v", f)
		}
	})
}

// A model is shown with what it did in the last hour, and with what stands before it.
func TestProviderShapes(t *testing.T) {
	inHouse(t, func(p *Parts) {
		p.Bots = append(p.Bots, p.Bots[0])
		p.Bots[1].Name, p.Bots[0].Models = "other", []string{"fake/one", "fake/two"}
	}, func(h *house) {
		if p := h.engine.Shape().Providers; len(p) != 2 || p[0].State != "open" || p[0].LastOK != 0 || !reflect.DeepEqual(p[0].Bots, []string{"bot", "other"}) {
			t.Fatalf("%+v", p)
		}
		h.models.took = s(.2)
		h.settled(h.say("ann", "hello"), s(1))
		ok := h.engine.now()
		h.models.playFor("one", "429")
		h.models.playFor("two", "ok")
		h.settled(h.say("ann", "hello"), s(1))
		p := h.engine.Shape().Providers
		if a := p[0]; a.Model != "one" || a.Requests != 2 || a.Failures != 1 || a.Median != 200 || a.LastError != "429" || a.CoolWhy != "rate_limit" || a.CoolUntil <= ok || ok.Sub(a.LastOK) > s(.2) {
			t.Errorf("%+v", a)
		}
		if b := p[1]; b.Model != "two" || b.Requests != 1 || b.Failures != 0 || b.CoolUntil != 0 || b.LastError != "" {
			t.Errorf("%+v", b)
		}
		h.models.playFor("one", "429/10m")
		h.wait(time.Minute)
		h.say("ann", "hello")
		h.wait(s(1))
		if a := h.engine.Shape().Providers[0]; a.State != "held" || a.Class != "rate_limit" || a.Until.Sub(h.engine.now()) < 9*time.Minute {
			t.Errorf("%+v", a)
		}
		h.wait(2 * time.Hour)
		if b := h.engine.Shape().Providers[1]; b.Requests != 0 || b.LastOK == 0 {
			t.Errorf("%+v", b)
		}
		if err := h.engine.Pause(t.Context(), "fake", nil); err != nil {
			t.Fatal(err)
		}
		if s := h.engine.Shape(); !s.Providers[1].Paused || len(s.Paused) != 1 {
			t.Errorf("%+v", s.Providers[1])
		}
	})
}

// Open alerts are in the shape, with their ids and acks.
func TestAlertsInShape(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("401")
		h.say("ann", "hello")
		a := h.engine.Shape().Alerts
		if len(a) != 1 || a[0].Kind != "account" || a[0].Subject != "fake/one" || a[0].ID == 0 || a[0].Acked != 0 {
			t.Fatalf("%+v", a)
		}
		if err := h.engine.Ack(t.Context(), a[0].ID, nil); err != nil {
			t.Fatal(err)
		}
		if a = h.engine.Shape().Alerts; len(a) != 1 || a[0].Acked == 0 {
			t.Errorf("%+v", a)
		}
		if n := h.engine.Figures().Alerts["account"]; n != 1 {
			t.Errorf("%d", n)
		}
	})
}
