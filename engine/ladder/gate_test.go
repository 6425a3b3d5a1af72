package ladder

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

func (g Gate) fails(at time.Duration, turn string, f Failure, asked bool) Gate {
	return g.Failed(epoch.Add(at), turn, f, asked, true, Default())
}

// goneDown is a gate that three turns have brought down at the epoch.
func goneDown() Gate {
	return Gate{}.fails(0, "a", status(503), false).fails(0, "b", status(503), false).fails(0, "c", status(503), false)
}

func closedFor(t *testing.T, g Gate, at, want time.Duration, why string) {
	t.Helper()
	until, got := g.Closed(epoch.Add(at))
	if got != why || why != "" && until.Sub(epoch.Add(at)) != want || why == "" && !until.IsZero() {
		t.Fatalf("at %v closed until %v for %q, want %v for %q", at, until.Sub(epoch), got, at+want, why)
	}
}

func TestHold(t *testing.T) {
	g := Gate{}.Failed(epoch, "a", status(429).stating(45*time.Second), false, false, Default())
	closedFor(t, g, 0, 45*time.Second, "hold")
	closedFor(t, g, 45*time.Second-1, 1, "hold")
	closedFor(t, g, 45*time.Second, 0, "")
	if !g.Asking || g.Width != 1 || g.Down() || len(g.Failing) > 0 {
		t.Fatalf("after a hold one asks, and a request that is resent is not counted: %+v", g)
	}
	shorter := g.fails(10*time.Second, "b", status(429).stating(5*time.Second), false)
	closedFor(t, shorter, 10*time.Second, 35*time.Second, "hold")
	longer := g.fails(10*time.Second, "b", status(503).stating(time.Minute+1), false)
	closedFor(t, longer, 10*time.Second, time.Minute+time.Millisecond, "hold")
}

func TestWhichClassesHold(t *testing.T) {
	for class, want := range map[string]string{
		"refused": "", "too_large": "", "auth": "", "canceled": "",
		"quota": "hold", "rate_limit": "hold", "overloaded": "hold", "server": "hold", "network": "hold", "timeout": "hold", "unclassified": "hold",
	} {
		f := Failure{Class: class}
		closedFor(t, Gate{}.fails(0, "a", f.stating(time.Minute), false), 0, time.Minute, want)
		if !(Gate{}).fails(0, "a", f.stating(0), false).IsZero() {
			t.Errorf("%s: a stated 0 leaves a mark", class)
		}
	}
}

func TestDownAfterThreeTurnsF12(t *testing.T) {
	g := Gate{}.fails(0, "a", status(503), false).fails(0, "a", network(), false).fails(0, "b", status(500), false).fails(0, "a", status(503), false)
	if g.Down() || !slices.Equal(g.Failing, []string{"a", "b"}) {
		t.Fatalf("two turns brought it down: %+v", g)
	}
	closedFor(t, g, 0, 0, "")
	if g = g.fails(0, "c", status(503), false); !g.Down() || len(g.Failing) > 0 || !g.Asking || g.Width != 1 {
		t.Fatalf("three turns did not: %+v", g)
	}
	closedFor(t, g, 0, 2*time.Second, "down")
	// what was under way does not close it again
	closedFor(t, g.fails(time.Second, "d", status(503), false), time.Second, time.Second, "down")
}

func TestRowIsBroken(t *testing.T) {
	two := Gate{}.fails(0, "a", status(503), false).fails(0, "b", status(503), false)
	for name, g := range map[string]Gate{
		"content":           two.ContentAt(epoch, 4),
		"refused":           two.fails(0, "c", fatal("refused", 400), false),
		"gate_after = 0":    two.Failed(epoch, "c", status(503), false, true, settings(neverDown)),
		"resent":            two.Failed(epoch, "c", status(503), false, false, Default()),
		"the third states":  two.fails(0, "c", status(503).stating(time.Second), false),
		"canceled by us":    two.fails(0, "c", fatal("canceled", 0), false),
		"the same turn":     two.fails(0, "b", status(503), false),
		"gate_after of 200": two.Failed(epoch, "c", status(503), false, true, settings(func(c *Config) { c.GateAfter = 200 })),
	} {
		if g.Down() {
			t.Errorf("%s: down", name)
		}
	}
	if g := two.fails(0, "c", fatal("refused", 400), false); len(g.Failing) > 0 {
		t.Error("an answer that refuses does not break the row")
	}
	if g := two.fails(0, "c", fatal("canceled", 0), false); len(g.Failing) != 2 {
		t.Error("our own cancelling breaks the row")
	}
	if g := two.fails(0, "c", status(503).stating(time.Second), false).fails(0, "d", status(503), false); !g.Down() {
		t.Error("a failure that states a wait is not counted in the row")
	}
	crowd := two
	for _, turn := range []string{"c", "d", "e"} {
		crowd = crowd.fails(0, turn, status(503).stating(time.Second), false)
	}
	if len(crowd.Failing) != 3 {
		t.Errorf("remembers %q, at most gate_after are needed", crowd.Failing)
	}
	if !slices.Equal(two.Failing, []string{"a", "b"}) {
		t.Error("the gate it is called on has changed")
	}
}

// closings lets the asking turn fail as soon as the gate lets it, and gives the closings' lengths.
func closings(g Gate, c Config, n int) (out []time.Duration) {
	for range n {
		until, _ := g.Closed(g.DownUntil.Add(-1))
		out = append(out, g.DownFor)
		g = g.Failed(until, "a", status(503), true, true, c)
	}
	return out
}

func TestClosingsDoubleF12(t *testing.T) {
	want := seconds(2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 120, 240, 300, 300)
	same(t, "closings", closings(goneDown(), Default(), len(want)), want)
	capped := settings(func(c *Config) { c.GateCap = 5 * time.Second })
	same(t, "gate_cap below park_cap", closings(goneDown(), capped, 5), seconds(2, 4, 5, 5, 5))
	sum, asks := time.Duration(0), 0
	for _, d := range closings(goneDown(), Default(), 60) {
		if sum += d; sum <= 15*time.Minute {
			asks++
		}
	}
	if asks > 60-9 { // nine requests of the first three turns
		t.Fatalf("%d asks in 15 minutes", asks)
	}
}

func TestLongerClosingsBegin(t *testing.T) {
	g := goneDown()
	g.DownFor = time.Minute
	for at, want := range map[time.Duration]time.Duration{15 * time.Minute: time.Minute, 15*time.Minute + 1: 2 * time.Minute} {
		if got := g.fails(at, "a", status(503), true).DownFor; got != want {
			t.Errorf("down for %v: closes for %v, want %v", at, got, want)
		}
	}
	if off := g.Failed(epoch.Add(time.Minute), "a", status(503), true, true, settings(neverDown)); !off.Equal(g) {
		t.Errorf("gate_after = 0 closes: %+v", off)
	}
}

func TestAskingSendThatStatesAWait(t *testing.T) {
	g := goneDown().fails(2*time.Second, "a", status(429).stating(30*time.Second), true)
	closedFor(t, g, 2*time.Second, 30*time.Second, "hold")
	if g.Closings != 1 || !g.Down() {
		t.Fatalf("a hold is not a closing: %+v", g)
	}
	g = g.fails(32*time.Second, "a", status(503), true)
	closedFor(t, g, 32*time.Second, 4*time.Second, "down")
	g = g.fails(33*time.Second, "b", status(429).stating(time.Second), false)
	closedFor(t, g, 33*time.Second, 3*time.Second, "hold") // both close it: the later end
	closedFor(t, g, 34*time.Second, 2*time.Second, "down")
	if g := goneDown().fails(2*time.Second, "a", fatal("refused", 400), true); g.Closings != 1 {
		t.Fatal("a refused asking send closes the gate")
	}
}

func TestPacedOpeningF11(t *testing.T) {
	down := goneDown().fails(2*time.Second, "a", status(503), true)
	at := epoch.Add(time.Minute)
	for concurrency, want := range map[int][]int{1: {0}, 2: {0}, 4: {2, 0}, 5: {2, 4, 0}, 100: {2, 4, 8, 16, 32, 64, 0}} {
		g := down
		for i, width := range want {
			if g = g.ContentAt(at, concurrency); g.Width != width || g.Asking || g.Down() || g.Closings > 0 || len(g.Failing) > 0 {
				t.Fatalf("concurrency %d, content %d: %+v", concurrency, i+1, g)
			}
		}
		if !g.IsZero() {
			t.Fatalf("wholly open is not zero: %+v", g)
		}
	}
	if !(Gate{}).ContentAt(at, 100).IsZero() {
		t.Fatal("content at an open gate narrows it")
	}
	half := down.ContentAt(at, 8).fails(time.Minute, "b", status(429).stating(time.Minute), false)
	if half.Width != 1 || !half.Asking {
		t.Fatalf("a hold while it opens: %+v", half)
	}
}

func TestContentDoesNotLiftAHold(t *testing.T) {
	g := goneDown().fails(time.Second, "b", status(429).stating(time.Minute), false)
	g = g.ContentAt(epoch.Add(2*time.Second), 4)
	closedFor(t, g, 2*time.Second, 59*time.Second, "hold")
	if g.Down() || !g.Asking || g.Width != 1 {
		t.Fatalf("%+v", g)
	}
	closedFor(t, g.Content(4).Content(4), 2*time.Second, 59*time.Second, "hold")
	if after := g.ContentAt(epoch.Add(62*time.Second), 1); !after.IsZero() {
		t.Fatalf("a hold that is over is kept: %+v", after)
	}
}

func TestReleasedF11(t *testing.T) {
	g := Gate{}.fails(0, "a", status(429).stating(time.Hour), false).Released(epoch.Add(time.Minute))
	closedFor(t, g, time.Minute, 0, "")
	if !g.Asking || g.Width != 1 {
		t.Fatalf("all at once after a release: %+v", g)
	}
	g = goneDown().Released(epoch)
	closedFor(t, g, 0, 0, "")
	if !g.Down() || !g.Asking {
		t.Fatalf("a release heals: %+v", g)
	}
	closedFor(t, g.fails(0, "a", status(503), true), 0, 4*time.Second, "down")
	if bare := (Gate{HoldUntil: epoch.Add(time.Hour)}).Released(epoch); !bare.Equal(Gate{Asking: true, Width: 1}) {
		t.Fatalf("not one asks: %+v", bare)
	}
	if open := (Gate{Failing: []string{"a"}}); !open.Released(epoch).Equal(open) {
		t.Fatal("a release narrows an open gate")
	}
}

func TestClampedP16(t *testing.T) {
	g := goneDown().fails(0, "d", status(503).stating(30*time.Second), false)
	back := -time.Hour
	c := g.Clamped(epoch.Add(back), 0)
	closedFor(t, c, back, 30*time.Second, "hold")
	if c.DownUntil.Sub(epoch) != back+2*time.Second || c.DownSince.Sub(epoch) != back {
		t.Fatalf("%+v", c)
	}
	closedFor(t, g.Clamped(epoch.Add(back), 10*time.Second), back, 10*time.Second, "hold")
	closedFor(t, Gate{HoldUntil: epoch}.Clamped(epoch.Add(back), time.Minute), back, time.Minute, "hold")
	if forward := g.Clamped(epoch.Add(time.Second), 0); !forward.Equal(g) {
		t.Fatalf("nothing to clamp, and yet: %+v", forward)
	}
}

func TestGateOutlivesTheProcessF10(t *testing.T) {
	for _, g := range []Gate{{}, {Failing: []string{"a", "b"}}, goneDown().fails(time.Second, "x", status(503).stating(time.Minute), false)} {
		text, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var back Gate
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(g) {
			t.Fatalf("%s came back as %+v (%v)", text, back, err)
		}
	}
	if text, _ := json.Marshal(Gate{}); string(text) != "{}" {
		t.Fatalf("an open gate is %s", text)
	}
}

func TestEqualSeesEveryField(t *testing.T) {
	for i, g := range []Gate{{HoldUntil: epoch}, {HoldFor: 1}, {DownUntil: epoch}, {DownFor: 1}, {DownSince: epoch}, {Closings: 1}, {Failing: []string{"a"}}, {Asking: true}, {Width: 1}} {
		if g.IsZero() || !g.Equal(g) {
			t.Errorf("field %d", i)
		}
	}
}

// A gate's times must not carry the monotonic clock, which a suspend stops.
func TestGateIsWallClockP16(t *testing.T) {
	now := time.Now()
	failed := Gate{}.Failed(now, "a", status(503).stating(time.Minute), false, true, Default())
	for _, g := range []Gate{failed, failed.Clamped(now.Add(-time.Hour), 0)} {
		if s := fmt.Sprint(g.HoldUntil); s != fmt.Sprint(g.HoldUntil.Round(0).UTC()) {
			t.Fatalf("hold until %s", s)
		}
	}
}

func TestJudge(t *testing.T) {
	s := Situation{Now: epoch, Model: model, Durable: true, CanRearm: true, Remaining: time.Hour}
	d, g := Judge(Gate{}, "a", status(503), Episode{}, Run{}, s, Default())
	if told(d) != "L1 resend 400ms backoff 1/2" || !g.IsZero() {
		t.Fatalf("a resent request is counted: %s %+v", told(d), g)
	}
	s.Resends = 2
	if d, g = Judge(Gate{}, "a", status(503), Episode{}, Run{}, s, Default()); told(d) != "L4 wait 2s backoff 1/1" || len(g.Failing) != 1 {
		t.Fatalf("the send's last request is not counted: %s %+v", told(d), g)
	}
	s.Resends, s.Asked, s.Now = 0, true, epoch.Add(2*time.Second)
	if d, g = Judge(goneDown(), "a", status(503), Episode{}, Run{}, s, Default()); told(d) != "L5 park 4s backoff 1/30" || g.Closings != 2 {
		t.Fatalf("asking when down: %s %+v", told(d), g)
	}
	s.Asked = false // it was under way when the model went down
	if d, _ = Judge(goneDown(), "a", status(503), Episode{Resumed: true}, Run{}, s, Default()); told(d) != "L4 wait 2s backoff 1/1" {
		t.Fatalf("not asking when down: %s", told(d))
	}
	s.Asked = true
	held := Gate{}.fails(0, "x", status(429).stating(time.Second), false)
	if d, _ = Judge(held, "a", status(503), Episode{Resumed: true}, Run{}, s, Default()); told(d) != "L4 wait 2s backoff 1/1" {
		t.Fatalf("asking after a hold (P2): %s", told(d))
	}
}
