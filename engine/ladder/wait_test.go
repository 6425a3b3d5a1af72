package ladder

import (
	"slices"
	"testing"
	"time"
)

func TestFirstWaitInProcessP2(t *testing.T) {
	p := play(t, settings()).expect(status(503), "L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "L4 wait 2s backoff 1/1",
		"L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "L5 park 2s backoff 1/30")
	if p.e.Parks != 1 || !p.e.Resumed {
		t.Fatalf("after a park: %+v", p.e)
	}
	// again in every resumed run, now without resends
	p.expect(status(503), "L4 wait 2s backoff 1/1", "L5 park 4s backoff 2/30", "L4 wait 2s backoff 1/1", "L5 park 8s backoff 3/30")

	run(t, []one{
		{name: "just under 10 s", f: status(503).stating(10*time.Second - 1), want: "L5 park 10s retry-after 1/30"},
		{name: "9999 ms", f: status(503).stating(9999 * time.Millisecond), want: "L4 wait 9.999s retry-after 1/1"},
		{name: "10 s P3", f: status(503).stating(10 * time.Second), want: "L5 park 10s retry-after 1/30"},
		{name: "45 s P3", f: status(429).stating(45 * time.Second), want: "L5 park 45s retry-after 1/30"},
		{name: "second failure P3", f: status(503), e: Episode{Resumed: true}, r: Run{Waits: map[string]int{model: 1}}, want: "L5 park 2s backoff 1/30"},
		{name: "after a mere hold P2", f: status(503), e: Episode{Resumed: true}, s: func(s *Situation) { s.Asked = true }, want: "L4 wait 2s backoff 1/1"},
		{name: "asking when down P2", f: status(503), e: Episode{Resumed: true}, s: askedDown, want: "L5 park 2s backoff 1/30"},
		{name: "a hold of its own length", f: status(503), e: Episode{Resumed: true}, s: held(2 * time.Second), want: "L4 wait 2s backoff 1/1"},
		{name: "a hold a bit longer", f: status(503), e: Episode{Resumed: true}, s: held(2001 * time.Millisecond), want: "L4 wait 2.001s gate 1/1"},
		{name: "a hold of part of a millisecond more", f: status(503), e: Episode{Resumed: true}, s: held(2*time.Second + 1), want: "L4 wait 2.001s gate 1/1"},
		{name: "a closed gate", f: status(503), s: held(5 * time.Second), want: "L4 wait 5s gate 1/1"},
		{name: "a gate closed for long", f: status(503), s: held(11 * time.Second), want: "L5 park 11s gate 1/30"},
		{name: "waits = 0", f: status(503), e: Episode{Resumed: true}, c: []func(*Config){func(c *Config) { c.Waits = 0 }}, want: "L5 park 2s backoff 1/30"},
	})
}

func TestParkDelaysP5(t *testing.T) {
	p := play(t, settings(plain))
	same(t, "lasting 503", p.waits(status(503), 16, Park), seconds(2, 4, 8, 16, 32, 60, 60, 60))
	run(t, []one{
		{name: "longer stated wins", f: status(503).stating(61 * time.Second), e: Episode{Resumed: true, Parks: 9}, want: "L5 park 1m1s retry-after 10/30"},
		{name: "shorter stated does not shorten", f: status(503).stating(10 * time.Second), e: Episode{Resumed: true, Parks: 9}, want: "L5 park 1m0s backoff 10/30"},
		{name: "gate's end at the earliest", f: status(503), e: Episode{Resumed: true, Parks: 9}, s: held(2 * time.Minute), want: "L5 park 2m0s gate 10/30"},
		{name: "down by another", f: status(503), e: Episode{Resumed: true, Parks: 1}, s: down(20 * time.Second), want: "L5 park 20s gate 2/30"},
		{name: "down, and held by another", f: status(503), e: Episode{Resumed: true, Parks: 1}, s: both(askedDown, held(20*time.Second)), want: "L5 park 20s gate 2/30"},
		{name: "down by itself", f: status(503), e: Episode{Resumed: true, Parks: 1}, s: both(askedDown, down(20*time.Second)), want: "L5 park 20s backoff 2/30"},
	})
}

func TestHorizonP9(t *testing.T) {
	p := play(t, settings(plain, noRearm, notOwed))
	var all []Decision
	for len(all) == 0 || all[len(all)-1].Do != End {
		if len(all) > 100 {
			t.Fatal("no end")
		}
		all = append(all, p.fail(status(503)))
	}
	parks := slices.DeleteFunc(slices.Clone(all), func(d Decision) bool { return d.Do != Park })
	if n := len(parks); n != 18 || parks[n-1].Episode.Backoff > 15*time.Minute || parks[n-1].Episode.Backoff+2*time.Second+time.Minute <= 15*time.Minute {
		t.Fatalf("%d parks, back-off %v", n, parks[n-1].Episode.Backoff)
	}
	for i, want := range []string{"L4 wait 2s backoff 1/1", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3", "end spent"} {
		if got := told(all[len(all)-4+i]); got != want {
			t.Fatalf("%d: %q, want %q", i, got, want)
		}
	}
	if !p.e.Spent {
		t.Fatal("not marked as spent")
	}
}

func TestHorizonEdgesP9(t *testing.T) {
	at := func(sum time.Duration, parks int) Episode { return Episode{Resumed: true, Backoff: sum, Parks: parks} }
	waited := Run{Waits: map[string]int{model: 1}}
	horizon := func(c *Config) { c.StatedWaitMode = "horizon" }
	spent := Episode{Resumed: true, Spent: true}
	all := Run{Waits: map[string]int{model: 3}}
	run(t, []one{
		{name: "fits", f: status(503), e: at(14*time.Minute, 9), r: waited, want: "L5 park 1m0s backoff 10/30"},
		{name: "does not fit", f: status(503), e: at(14*time.Minute+time.Millisecond, 9), r: waited, want: "L4 wait 4s backoff 2/3"},
		{name: "a stated wait is outside it", f: status(503).stating(2 * time.Hour), e: at(20*time.Minute, 9), r: waited, want: "L5 park 2h0m0s retry-after 10/30"},
		{name: "the gate is outside it", f: status(503), e: at(20*time.Minute, 9), r: waited, s: held(2 * time.Hour), want: "L5 park 2h0m0s gate 10/30"},
		{name: "own asking is inside", f: status(503), e: at(14*time.Minute, 9), s: both(askedDown, down(2*time.Minute)), want: "L4 wait 4s backoff 2/3"},
		{name: "horizon: a stated wait fits", f: status(503).stating(15 * time.Minute), e: at(0, 0), r: waited, c: []func(*Config){horizon}, want: "L5 park 15m0s retry-after 1/30"},
		{name: "horizon: the gate is outside it", f: status(503), e: at(0, 0), r: waited, s: held(time.Hour), c: []func(*Config){horizon}, want: "L5 park 1h0m0s gate 1/30"},
		{name: "parking off since", f: status(503), e: spent, c: []func(*Config){noPark}, want: "L4 wait 2s backoff 1/3"},
		{name: "horizon: it does not", f: status(503).stating(15*time.Minute + 1), e: at(0, 0), r: waited, c: []func(*Config){horizon}, want: "L4 wait 15m0.001s retry-after 2/3"},
		{name: "30 parks", f: status(503).stating(2 * time.Minute), e: at(0, 29), r: waited, want: "L5 park 2m0s retry-after 30/30"},
		{name: "31 parks", f: status(503).stating(time.Minute), e: at(0, 30), r: waited, want: "L4 wait 1m0s retry-after 2/3"},
		{name: "rest: second", f: status(503), e: spent, want: "L4 wait 4s backoff 2/3"},
		{name: "rest: third", f: status(503), e: spent, r: Run{Waits: map[string]int{model: 2}}, want: "L4 wait 8s backoff 3/3"},
		{name: "rest: a hold binds", f: status(503), e: spent, s: held(time.Minute), want: "L4 wait 1m0s gate 2/3"},
		{name: "rest: being down does not", f: status(503), e: spent, s: down(time.Minute), want: "L4 wait 4s backoff 2/3"},
		{name: "rest: a fallback first", f: status(503), e: spent, r: all, s: usable, want: "L3 fallback cooldown 1m0s"},
		{name: "rest over: re-armed R1", f: status(503), e: spent, r: all, want: "L6 rearm 2m0s rearm 1/3"},
		{name: "rest over: owed R11", f: status(503), e: spent, r: all, c: []func(*Config){noRearm}, want: "L7 owe spent"},
		{name: "rest over: the end", f: status(503), e: spent, r: all, c: []func(*Config){noRearm, notOwed}, want: "end spent"},
		{name: "waits = 1 has no rest", f: status(503), e: spent, c: []func(*Config){func(c *Config) { c.Waits = 1 }}, want: "L6 rearm 2m0s rearm 1/3"},
	})
}

func TestBackoffSum(t *testing.T) {
	p := play(t, settings()).expect(status(503), "L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "L4 wait 2s backoff 1/1")
	if p.e.Backoff != 3200*time.Millisecond {
		t.Fatalf("L1 and L4 sum up to %v", p.e.Backoff)
	}
	p.e.Resumed = true
	p.expect(status(503).stating(time.Hour), "L5 park 1h0m0s retry-after 1/30")
	if p.e.Backoff != 3200*time.Millisecond || p.e.Stated[model] != time.Hour {
		t.Fatalf("a stated wait is in the sum: %+v", p.e)
	}
	p = play(t, settings(plain, func(c *Config) { c.StatedWaitMode = "horizon" }))
	p.expect(status(503).stating(5*time.Second), "L4 wait 5s retry-after 1/1")
	if p.e.Backoff != 5*time.Second {
		t.Fatalf("mode horizon sums up to %v", p.e.Backoff)
	}
}

func TestKillSwitchesP14(t *testing.T) {
	run(t, []one{
		{name: "park = false: however long", f: status(503).stating(time.Hour), c: []func(*Config){noPark}, want: "L4 wait 1h0m0s retry-after 1/3"},
		{name: "park = false: asking when down", f: status(503), s: both(askedDown, down(3*time.Second)), c: []func(*Config){noPark}, want: "L4 wait 3s backoff 1/3"},
		{name: "durable = false", f: status(503).stating(time.Hour), s: fleeting, want: "L4 wait 1h0m0s retry-after 1/3"},
		{name: "re-armed, not durable any more", f: status(503).stating(time.Minute), s: both(oneShot, fleeting), want: "end spent"},
	})
	play(t, settings(plain, noPark)).expect(status(503),
		"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3", "L6 rearm 2m0s rearm 1/3", "L6 rearm 8m0s rearm 2/3")
	p := play(t, settings(plain))
	p.s.Durable = false
	p.expect(status(503), "L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3", "end spent")
	play(t, settings(plain, noPark, noRearm)).expect(status(503),
		"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3", "L7 owe spent", "L7 owe spent")
}

func TestFloorF5(t *testing.T) {
	play(t, settings(plain, noPark)).expect(status(429).stating(0),
		"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3")
	play(t, settings(plain, noPark)).expect(status(429).stating(time.Millisecond),
		"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3")
	play(t, settings(plain)).expect(status(429).stating(time.Millisecond),
		"L4 wait 2s backoff 1/1", "L5 park 2s backoff 1/30", "L4 wait 2s backoff 1/1", "L5 park 4s backoff 2/30")
}

func TestStatedTwiceF6(t *testing.T) {
	play(t, settings()).expect(status(429).stating(250*time.Second), "L5 park 4m10s retry-after 1/30", "L5 park 4m10s retry-after 2/30")
	play(t, settings(noPark)).expect(status(429).stating(250*time.Second), "L4 wait 4m10s retry-after 1/3", "L4 wait 4m10s retry-after 2/3")
	p := play(t, settings())
	p.s.FallbackOK = true
	p.expect(status(429).stating(250*time.Second), "L5 park 4m10s retry-after 1/30", "L3 fallback cooldown 4m10s")
}

func TestFreshBudgetF1(t *testing.T) {
	p := play(t, settings())
	p.s.FallbackOK = true
	p.expect(status(503), "L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "L4 wait 2s backoff 1/1",
		"L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "L3 fallback cooldown 1m0s")
	p.s.Model, p.s.FallbackOK, p.gate = "p/second", false, Gate{}
	p.expect(status(503), "L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "L4 wait 2s backoff 1/1")
}

func TestRearmR1(t *testing.T) {
	spent := Run{Waits: map[string]int{model: 3}}
	ready := Episode{Resumed: true, Spent: true}
	rearms := func(n int) func(*Situation) { return func(s *Situation) { s.OneShot, s.Rearms = true, n } }
	run(t, []one{
		{name: "first", f: status(503), e: ready, r: spent, want: "L6 rearm 2m0s rearm 1/3"},
		{name: "second", f: status(503), s: rearms(1), want: "L6 rearm 8m0s rearm 2/3"},
		{name: "third", f: network(), s: rearms(2), want: "L6 rearm 32m0s rearm 3/3"},
		{name: "spent R11", f: status(503), s: rearms(3), want: "L7 owe spent"},
		{name: "owed = false", f: status(503), s: rearms(3), c: []func(*Config){notOwed}, want: "end spent"},
		{name: "stated: not used up R4", f: status(503).stating(30 * time.Second), s: rearms(2), want: "L6 rearm 30s retry-after 2/3"},
		{name: "stated, the last one R4", f: status(503).stating(30 * time.Second), s: rearms(3), want: "L6 rearm 30s retry-after 3/3"},
		{name: "stated tiny F5", f: status(503).stating(time.Millisecond), s: rearms(1), want: "L6 rearm 2s backoff 1/3"},
		{name: "stated, behind a longer hold", f: status(503).stating(30 * time.Second), s: both(rearms(1), held(time.Minute)), want: "L6 rearm 1m0s gate 1/3"},
		{name: "stated, rearm = false since", f: status(503).stating(30 * time.Second), s: rearms(1), c: []func(*Config){noRearm}, want: "L7 owe 30s retry-after spent"},
		{name: "stated over stated_wait_max", f: status(503).stating(25 * time.Hour), s: rearms(1), want: "L7 owe 25h0m0s retry-after stated_wait"},
		{name: "stated 0 uses it up", f: status(503).stating(0), s: rearms(1), want: "L6 rearm 8m0s rearm 2/3"},
		{name: "first with a long stated wait", f: status(503).stating(time.Hour), e: ready, r: spent, want: "L6 rearm 1h0m0s retry-after 1/3"},
		{name: "first behind a hold", f: status(503), e: ready, r: spent, s: held(time.Hour), want: "L6 rearm 1h0m0s gate 1/3"},
		{name: "first behind a model that is down", f: status(503), e: ready, r: spent, s: down(time.Hour), want: "L6 rearm 2m0s rearm 1/3"},
		{name: "no certain place R6", f: status(503), e: ready, r: spent, s: func(s *Situation) { s.CanRearm = false }, want: "L7 owe spent"},
		{name: "not for an owed turn", f: status(503), s: owed, want: "L7 owe spent"},
		{name: "owed at a gate that is down", f: status(503), s: both(owed, both(askedDown, down(time.Minute))), want: "L7 owe 1m0s backoff spent"},
		{name: "owed, stated R11", f: status(503).stating(time.Minute), s: owed, want: "L7 owe 1m0s retry-after spent"},
		{name: "refused R3", f: fatal("refused", 400), s: rearms(1), want: "end refused"},
	})
	for _, o := range []one{{f: status(503), e: Episode{Spent: true}, r: spent, s: oneShot}, {f: status(503), s: owed}} {
		if d := o.decide(); !d.Episode.Resumed {
			t.Errorf("%s leaves an episode whose next run would resend (L1)", told(d))
		}
	}
}

func TestFailFastT6(t *testing.T) {
	fast := func(more ...func(*Situation)) func(*Situation) {
		return func(s *Situation) {
			s.FailFast = true
			for _, f := range more {
				f(s)
			}
		}
	}
	waited := func(d time.Duration) func(*Situation) {
		return func(s *Situation) { s.Waited, s.Resends = d, 1 }
	}
	done := func(s *Situation) { s.Resends = 2 }
	run(t, []one{
		{name: "resends", f: status(503), s: fast(), want: "L1 resend 400ms backoff 1/2"},
		{name: "without resend_longest", f: status(503).stating(6 * time.Second), s: fast(), want: "L1 resend 6s retry-after 1/2"},
		{name: "6 + 6", f: status(503).stating(6 * time.Second), s: fast(waited(6 * time.Second)), want: "end busy"},
		{name: "6 + 4", f: status(503).stating(4 * time.Second), s: fast(waited(6 * time.Second)), want: "L1 resend 4s retry-after 2/2"},
		{name: "6 + 4.001", f: status(503).stating(4001 * time.Millisecond), s: fast(waited(6 * time.Second)), want: "end busy"},
		{name: "6 + 6 with a fallback", f: status(503).stating(6 * time.Second), s: fast(waited(6*time.Second), usable), want: "L3 fallback cooldown 6s"},
		{name: "resends over", f: status(503), s: fast(done), want: "end busy"},
		{name: "resends over, 429", f: status(429), s: fast(done), want: "end busy"},
		{name: "resends over, 500", f: status(500), s: fast(done), want: "end spent"},
		{name: "resends over, 500 at a closed gate", f: status(500), s: fast(done, down(time.Second)), want: "end busy"},
		{name: "500 that states too long", f: status(500).stating(time.Hour), s: fast(), want: "end busy"},
		{name: "over stated_wait_max", f: status(503).stating(48 * time.Hour), s: fast(), want: "end busy"},
		{name: "resends over with a fallback", f: status(500), s: fast(done, usable), want: "L3 fallback cooldown 20s"},
		{name: "429 with a fallback", f: status(429), s: fast(usable), want: "L3 fallback cooldown 30s"},
		{name: "mode end has no say", f: status(429).stating(2 * time.Hour), s: fast(), c: []func(*Config){func(c *Config) { c.StatedWaitMode = "end" }}, want: "end busy"},
	})
}
