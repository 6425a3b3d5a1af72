package ladder

import (
	"reflect"
	"testing"
	"time"
)

// one is a single decision, from a first failure in the durable lane on.
type one struct {
	name string
	f    Failure
	e    Episode
	r    Run
	s    func(*Situation)
	c    []func(*Config)
	want string
}

func (o one) decide() Decision {
	s := Situation{Now: epoch, Model: model, Durable: true, CanRearm: true, Remaining: time.Hour}
	if o.s != nil {
		o.s(&s)
	}
	return Decide(o.f, o.e, o.r, s, settings(o.c...))
}

func run(t *testing.T, cases []one) {
	t.Helper()
	for _, o := range cases {
		t.Run(o.name, func(t *testing.T) {
			if got := told(o.decide()); got != o.want {
				t.Errorf("got %q, want %q", got, o.want)
			}
		})
	}
}

func usable(s *Situation)    { s.FallbackOK = true }
func failFast(s *Situation)  { s.FailFast = true }
func fleeting(s *Situation)  { s.Durable = false }
func oneShot(s *Situation)   { s.OneShot = true }
func owed(s *Situation)      { s.OneShot, s.Owed = true, true }
func late(s *Situation)      { s.Remaining = 0 }
func last(s *Situation)      { s.LastRequest = true }
func askedDown(s *Situation) { s.Asked, s.AskedDown = true, true }

func both(a, b func(*Situation)) func(*Situation) { return func(s *Situation) { a(s); b(s) } }

func held(d time.Duration) func(*Situation) {
	return func(s *Situation) { s.GateUntil, s.GateHold = s.Now.Add(d), true }
}

func down(d time.Duration) func(*Situation) {
	return func(s *Situation) { s.GateUntil = s.Now.Add(d) }
}

func TestEndsAtOnce(t *testing.T) {
	broken := network()
	broken.Transient = false
	cut := broken
	cut.Status, cut.Begun = 200, true
	stop := status(429)
	stop.Transient = false
	run(t, []one{
		{name: "refused R3", f: fatal("refused", 400), want: "end refused"},
		{name: "refused in spite of a fallback", f: fatal("refused", 400), s: usable, want: "end refused"},
		{name: "refused with a stated wait", f: fatal("refused", 400).stating(time.Minute), want: "end refused"},
		{name: "unclassified R3", f: fatal("unclassified", 302), s: usable, want: "end unclassified"},
		{name: "canceled R3", f: fatal("canceled", 0), s: usable, want: "end canceled"},
		{name: "canceled by the deadline R3", f: fatal("canceled", 0), s: late, want: "end deadline"},
		{name: "deadline T2", f: status(503), s: both(late, usable), want: "end deadline"},
		{name: "not to be retried", f: stop, s: usable, want: "end no_retry"},
		{name: "not to be retried, cut", f: cut, want: "end no_retry"},
		{name: "certificate", f: broken, s: usable, want: "end certificate"},
		{name: "too large F14", f: fatal("too_large", 413), want: "trim"},
		{name: "too large twice F14", f: fatal("too_large", 413), e: Episode{Trimmed: true}, s: usable, want: "end too_large"},
		{name: "too large, re-armed F14", f: fatal("too_large", 413), s: oneShot, want: "trim"},
		{name: "too large at the ceiling P18", f: fatal("too_large", 413), s: last, want: "L7 owe max_requests"},
		{name: "refused too late", f: fatal("refused", 400), s: late, want: "end refused"},
		{name: "not to be retried, no status", f: Failure{Class: "timeout"}, want: "end no_retry"},
		{name: "trimmed, and then busy", f: status(408), e: Episode{Trimmed: true}, want: "L4 wait 2s backoff 1/1"},
		{name: "too large too late", f: fatal("too_large", 413), s: late, want: "end deadline"},
	})
	if d := (one{f: fatal("too_large", 413)}).decide(); !d.Episode.Trimmed {
		t.Error("a trimming is not remembered (F14)")
	}
}

func TestMaxRequestsP18(t *testing.T) {
	run(t, []one{
		{name: "owed", f: status(503), s: both(last, usable), want: "L7 owe max_requests"},
		{name: "until the gate's end", f: status(503), s: both(last, held(time.Minute)), want: "L7 owe 1m0s gate max_requests"},
		{name: "owed = false", f: status(503), s: last, c: []func(*Config){notOwed}, want: "end max_requests"},
		{name: "durable = false", f: status(503), s: both(last, fleeting), want: "end max_requests"},
		{name: "fail-fast", f: status(503), s: both(last, failFast), want: "end max_requests"},
		{name: "an owed turn is not counted", f: status(503), s: both(last, owed), want: "L7 owe spent"},
		{name: "refused comes first", f: fatal("refused", 400), s: last, want: "end refused"},
	})
	p := play(t, settings(plain, func(c *Config) { c.MaxRequests = 5 }))
	p.expect(status(503), "L4 wait 2s backoff 1/1", "L5 park 2s backoff 1/30", "L4 wait 2s backoff 1/1", "L5 park 4s backoff 2/30",
		"L7 owe max_requests", "L7 owe spent")
	if (Episode{Requests: 1 << 20}).Last(settings(func(c *Config) { c.MaxRequests = 0 })) {
		t.Error("max_requests = 0 is no limit")
	}
}

func TestResendL1(t *testing.T) {
	begun, silent, reset := status(503), status(504), network()
	begun.Begun, silent.Silent, reset.Begun = true, true, true
	mute := Failure{Class: "timeout", Transient: true, Silent: true}
	const l4 = "L4 wait 2s backoff 1/1"
	second := func(s *Situation) { s.Resends = 1 }
	remain := func(d time.Duration) func(*Situation) { return func(s *Situation) { s.Remaining = d } }
	run(t, []one{
		{name: "429 T1", f: status(429), want: "L1 resend 400ms backoff 1/2"},
		{name: "503 T1", f: status(503), want: "L1 resend 400ms backoff 1/2"},
		{name: "second T1", f: status(503), s: second, want: "L1 resend 800ms backoff 2/2"},
		{name: "third goes up T1", f: status(503), s: func(s *Situation) { s.Resends = 2 }, want: l4},
		{name: "500", f: status(500), want: "L1 resend 400ms backoff 1/2"},
		{name: "600", f: status(600), want: l4},
		{name: "nothing came, not the network's fault", f: Failure{Class: "timeout", Transient: true}, want: l4},
		{name: "cut after a status", f: Failure{Class: "network", Status: 200, Transient: true}, want: l4},
		{name: "529", f: Failure{Class: "overloaded", Status: 529, Transient: true}, want: "L1 resend 400ms backoff 1/2"},
		{name: "599", f: status(599), want: "L1 resend 400ms backoff 1/2"},
		{name: "504", f: status(504), want: "L1 resend 400ms backoff 1/2"},
		{name: "408 is left to the ladder K2-5", f: status(408), want: l4},
		{name: "409 likewise", f: status(409), want: l4},
		{name: "498 likewise", f: Failure{Class: "overloaded", Status: 498, Transient: true}, want: l4},
		{name: "network T2", f: network(), want: "L1 resend 400ms backoff 1/2"},
		{name: "after the headers T3", f: reset, want: l4},
		{name: "inside a stream T9", f: begun, want: l4},
		{name: "silent P20", f: mute, want: l4},
		{name: "silent gateway", f: silent, want: l4},
		{name: "resumed", f: status(503), e: Episode{Resumed: true}, want: l4},
		{name: "asking", f: status(503), s: func(s *Situation) { s.Asked = true }, want: l4},
		{name: "asking when down", f: status(503), s: askedDown, want: "L5 park 2s backoff 1/30"},
		{name: "asking when down, told by half", f: status(503), s: func(s *Situation) { s.AskedDown = true }, want: "L5 park 2s backoff 1/30"},
		{name: "re-armed R4", f: status(503), s: oneShot, want: "L6 rearm 2m0s rearm 1/3"},
		{name: "resends = 0", f: status(503), c: []func(*Config){plain}, want: l4},
		{name: "stated longer T4", f: status(503).stating(time.Second), want: "L1 resend 1s retry-after 1/2"},
		{name: "stated shorter T4", f: status(503).stating(time.Millisecond), want: "L1 resend 400ms backoff 1/2"},
		{name: "stated 0 T4", f: status(429).stating(0), s: usable, want: "L1 resend 400ms backoff 1/2"},
		{name: "stated fraction", f: status(503).stating(time.Second + 1), want: "L1 resend 1.001s retry-after 1/2"},
		{name: "resend_longest", f: status(503).stating(2 * time.Second), want: "L1 resend 2s retry-after 1/2"},
		{name: "over resend_longest", f: status(503).stating(2001 * time.Millisecond), want: "L4 wait 2.001s retry-after 1/1"},
		{name: "resend_longest = 0", f: status(503).stating(time.Minute), c: []func(*Config){func(c *Config) { c.ResendLongest = 0 }}, want: "L1 resend 1m0s retry-after 1/2"},
		{name: "all that remains", f: status(503), s: remain(400 * time.Millisecond), want: "L1 resend 400ms backoff 1/2"},
		{name: "over what remains T5", f: status(503), s: remain(399 * time.Millisecond), want: l4},
		{name: "429 with a fallback F1", f: status(429), s: usable, want: "L3 fallback cooldown 30s"},
		{name: "503 with a fallback", f: status(503), s: usable, want: "L1 resend 400ms backoff 1/2"},
		{name: "its own hold", f: status(503).stating(time.Second), s: held(time.Second), want: "L1 resend 1s retry-after 1/2"},
		{name: "its own hold in milliseconds", f: status(503).stating(time.Second), s: held(1001 * time.Millisecond), want: "L1 resend 1.001s retry-after 1/2"},
		{name: "a hold within its wait", f: status(503), s: held(300 * time.Millisecond), want: "L1 resend 400ms backoff 1/2"},
		{name: "a hold just beyond its wait", f: status(503), s: held(401 * time.Millisecond), want: l4},
		{name: "a hold beyond its wait", f: status(503), s: held(3 * time.Second), want: "L4 wait 3s gate 1/1"},
		{name: "down meanwhile", f: status(503), s: down(100 * time.Millisecond), want: l4},
	})
}

func TestFallbackL3(t *testing.T) {
	in200 := Failure{Class: "rate_limit", Status: 200, Transient: true, Begun: true}
	waited := Run{Waits: map[string]int{model: 1}}
	elsewhere := Run{Waits: map[string]int{"p/other": 3}}
	const minutes5 = 5 * time.Minute
	run(t, []one{
		{name: "429 F1", f: status(429), s: usable, want: "L3 fallback cooldown 30s"},
		{name: "429 in a stream K4-18", f: in200, s: usable, want: "L3 fallback cooldown 30s"},
		{name: "429 without one F2", f: in200, want: "L4 wait 2s backoff 1/1"},
		{name: "stated, if not said so", f: Failure{Class: "rate_limit", Status: 429, Transient: true, Begun: true, Stated: time.Second}, s: usable, want: "L4 wait 2s backoff 1/1"},
		{name: "sum over it, nothing stated now", f: status(503), e: Episode{Resumed: true, Stated: map[string]time.Duration{model: minutes5 + 1}}, s: usable, want: "L3 fallback cooldown 1m0s"},
		{name: "stated 0 is stated", f: in200.stating(0), s: usable, want: "L4 wait 2s backoff 1/1"},
		{name: "300000 ms F4", f: in200.stating(minutes5), s: usable, want: "L5 park 5m0s retry-after 1/30"},
		{name: "300001 ms F4", f: in200.stating(minutes5 + time.Millisecond), s: usable, want: "L3 fallback cooldown 5m0.001s"},
		{name: "sum at the limit", f: in200.stating(time.Minute), e: Episode{Stated: map[string]time.Duration{model: 4 * time.Minute}}, s: usable, want: "L5 park 1m0s retry-after 1/30"},
		{name: "sum over it F6", f: in200.stating(time.Minute), e: Episode{Stated: map[string]time.Duration{model: 4*time.Minute + 1}}, s: usable, want: "L3 fallback cooldown 1m0s"},
		{name: "another's sum", f: in200.stating(time.Minute), e: Episode{Stated: map[string]time.Duration{"p/other": time.Hour}}, s: usable, want: "L5 park 1m0s retry-after 1/30"},
		{name: "L4 made P3", f: status(503), e: Episode{Resumed: true}, r: waited, s: usable, want: "L3 fallback cooldown 1m0s"},
		{name: "L4 made elsewhere", f: status(503), e: Episode{Resumed: true}, r: elsewhere, s: usable, want: "L4 wait 2s backoff 1/1"},
		{name: "parking off, one of three", f: status(503), e: Episode{Resumed: true}, r: waited, s: usable, c: []func(*Config){noPark}, want: "L4 wait 4s backoff 2/3"},
		{name: "parking off, three of three", f: status(503), e: Episode{Resumed: true}, r: Run{Waits: map[string]int{model: 3}}, s: usable, c: []func(*Config){noPark}, want: "L3 fallback cooldown 1m0s"},
		{name: "quota F9", f: fatal("quota", 429), s: usable, want: "L3 fallback cooldown 30m0s"},
		{name: "auth F9", f: fatal("auth", 401), s: usable, want: "L3 fallback cooldown 5m0s"},
		{name: "re-armed: every usable model R4", f: status(500), s: both(oneShot, usable), want: "L3 fallback cooldown 20s"},
		{name: "asking when down", f: status(500), s: both(askedDown, usable), want: "L3 fallback cooldown 20s"},
		{name: "asking when down, parking off", f: status(500), s: both(askedDown, usable), c: []func(*Config){noPark}, want: "L4 wait 2s backoff 1/3"},
	})
}

func TestCooldownsF7(t *testing.T) {
	for _, c := range []struct {
		f    Failure
		want time.Duration
	}{
		{status(429), 30 * time.Second},
		{status(503), 60 * time.Second},
		{status(500), 20 * time.Second},
		{status(504), 20 * time.Second},
		{status(408), 5 * time.Minute},
		{Failure{Class: "timeout", Status: 500, Transient: true}, 20 * time.Second},
		{network(), 60 * time.Second},
		{fatal("quota", 402), 30 * time.Minute},
		{fatal("auth", 401), 5 * time.Minute},
		{status(500).stating(1234567 * time.Microsecond), 1235 * time.Millisecond},
		{fatal("quota", 429).stating(time.Hour), time.Hour},
		{status(500).stating(0), 20 * time.Second},
	} {
		o := one{f: c.f, r: Run{Waits: map[string]int{model: 1}}, e: Episode{Resumed: true}, s: usable}
		d := o.decide()
		if d.Do != Fallback || d.Cooldown != c.want || !d.Run.Tried[model] {
			t.Errorf("%s %d: %s, tried %v, want a cooldown of %v", c.f.Class, c.f.Status, told(d), d.Run.Tried, c.want)
		}
	}
}

func TestAccountF13(t *testing.T) {
	run(t, []one{
		{name: "quota", f: fatal("quota", 402), want: "L7 owe 1h0m0s backoff cooldown 30m0s account"},
		{name: "auth", f: fatal("auth", 401), want: "L7 owe 1h0m0s backoff cooldown 5m0s account"},
		{name: "never inside a hold F9", f: fatal("quota", 429).stating(5 * time.Hour), s: held(5 * time.Hour), want: "L7 owe 5h0m0s retry-after cooldown 5h0m0s account"},
		{name: "another's hold", f: fatal("auth", 401), s: held(2 * time.Hour), want: "L7 owe 2h0m0s gate cooldown 5m0s account"},
		{name: "over stated_wait_max", f: fatal("quota", 429).stating(48 * time.Hour), want: "L7 owe 48h0m0s retry-after cooldown 48h0m0s account"},
		{name: "re-armed R3", f: fatal("quota", 402), s: oneShot, want: "L7 owe 1h0m0s backoff cooldown 30m0s account"},
		{name: "owed = false", f: fatal("quota", 402), c: []func(*Config){notOwed}, want: "end account"},
		{name: "durable = false", f: fatal("quota", 402), s: fleeting, want: "end account"},
		{name: "fail-fast", f: fatal("auth", 401), s: failFast, want: "end account"},
		{name: "fail-fast with a fallback", f: fatal("auth", 401), s: both(failFast, usable), want: "L3 fallback cooldown 5m0s"},
	})
}

func TestStatedLimits(t *testing.T) {
	end := func(c *Config) { c.StatedWaitMode = "end" }
	ms := time.Millisecond
	run(t, []one{
		{name: "stated_wait_max P17", f: status(503).stating(24 * time.Hour), want: "L5 park 24h0m0s retry-after 1/30"},
		{name: "over it P17", f: status(503).stating(24*time.Hour + ms), want: "L7 owe 24h0m0.001s retry-after stated_wait"},
		{name: "over it, owed = false", f: status(503).stating(24*time.Hour + ms), c: []func(*Config){notOwed}, want: "end stated_wait"},
		{name: "over it, durable = false", f: status(503).stating(24*time.Hour + ms), s: fleeting, want: "end stated_wait"},
		{name: "over it, with a fallback", f: status(503).stating(24*time.Hour + ms), s: usable, want: "L3 fallback cooldown 24h0m0.001s"},
		{name: "end: 3599999 ms F4", f: status(429).stating(time.Hour - ms), c: []func(*Config){end}, want: "L5 park 59m59.999s retry-after 1/30"},
		{name: "end: 3600000 ms F4", f: status(429).stating(time.Hour), c: []func(*Config){end}, want: "end stated_wait"},
		{name: "end: with a fallback F4", f: status(429).stating(time.Hour), s: usable, c: []func(*Config){end}, want: "L3 fallback cooldown 1h0m0s"},
		{name: "end: below the fallback tier, with a fallback", f: status(408).stating(time.Hour), s: usable, c: []func(*Config){end, func(c *Config) { c.StatedWaitFallback = 2 * time.Hour }}, want: "L5 park 1h0m0s retry-after 1/30"},
		{name: "end: re-armed F4", f: status(429).stating(time.Hour), s: oneShot, c: []func(*Config){end}, want: "end stated_wait"},
		{name: "hold: 3600000 ms", f: status(429).stating(time.Hour), want: "L5 park 1h0m0s retry-after 1/30"},
	})
}

func TestEarlyF4(t *testing.T) {
	now := []func(*Config){early, noPark, plain}
	ms := time.Millisecond
	run(t, []one{
		{name: "half", f: status(503).stating(100 * time.Second), c: now, want: "L4 wait 50s retry-after 1/3"},
		{name: "half rounded up", f: status(503).stating(10001 * ms), c: now, want: "L4 wait 5.001s retry-after 1/3"},
		{name: "at least the floor", f: status(503).stating(3 * time.Second), c: now, want: "L4 wait 2s backoff 1/3"},
		{name: "300000 ms", f: status(503).stating(5 * time.Minute), c: now, want: "L4 wait 2m30s retry-after 1/3"},
		{name: "300001 ms", f: status(503).stating(5*time.Minute + ms), c: now, want: "L4 wait 5m0s retry-after 1/3"},
		{name: "3599999 ms", f: status(503).stating(time.Hour - ms), c: now, want: "L4 wait 5m0s retry-after 1/3"},
		{name: "3600000 ms", f: status(503).stating(time.Hour), c: now, want: "L4 wait 1h0m0s retry-after 1/3"},
		{name: "300000 ms, stored as 300001", f: status(503).stating(5 * time.Minute), s: held(5*time.Minute + ms), c: now, want: "L4 wait 2m30s retry-after 1/3"},
		{name: "off: full", f: status(503).stating(100 * time.Second), c: now[1:], want: "L4 wait 1m40s retry-after 1/3"},
		{name: "another's hold is not halved", f: status(503), s: held(time.Minute), c: now, want: "L4 wait 1m0s gate 1/3"},
		{name: "another's longer hold", f: status(503).stating(time.Minute), s: held(2 * time.Minute), c: now, want: "L4 wait 2m0s gate 1/3"},
		{name: "another's long hold is cut", f: status(503), s: held(20 * time.Minute), c: now, want: "L4 wait 5m0s gate 1/3"},
		{name: "being down is not cut", f: status(503), s: down(20 * time.Minute), c: now, want: "L4 wait 20m0s gate 1/3"},
		{name: "parked: half", f: status(503).stating(100 * time.Second), c: []func(*Config){early, plain}, want: "L5 park 50s retry-after 1/30"},
		{name: "parked: long in full", f: status(503).stating(20 * time.Minute), c: []func(*Config){early, plain}, want: "L5 park 20m0s retry-after 1/30"},
	})
	p := play(t, settings(now...)).expect(status(503).stating(100*time.Second), "L4 wait 50s retry-after 1/3")
	if !p.e.Early {
		t.Error("the engine is not told that the send may pass the hold")
	}
	p.expect(status(503), "L4 wait 50s gate 2/3") // then at the stated moment
	if p.e.Early {
		t.Error("the second wait ends with the hold, not inside it")
	}
	left := Episode{Early: true}
	if d := (one{f: status(429), e: left, s: usable}).decide(); d.Do != Fallback || d.Episode.Early || d.Episode.Stated != nil {
		t.Errorf("a send may pass a hold for ever: %s %+v", told(d), d.Episode)
	}
	play(t, settings(now...)).expect(status(503).stating(100*time.Second), "L4 wait 50s retry-after 1/3", "L4 wait 1m40s retry-after 2/3")
}

func TestDecideChangesNothingItIsGiven(t *testing.T) {
	e := Episode{Stated: map[string]time.Duration{model: 1}, Halved: map[string]bool{"x": true}}
	r := Run{Waits: map[string]int{model: 1}, Tried: map[string]bool{"x": true}}
	c := []func(*Config){noPark, plain, early}
	(one{f: status(503).stating(time.Minute), e: e, r: r, c: c}).decide()
	(one{f: status(503).stating(time.Hour), e: e, r: r, c: c, s: usable}).decide()
	if !reflect.DeepEqual(e, Episode{Stated: map[string]time.Duration{model: 1}, Halved: map[string]bool{"x": true}}) ||
		!reflect.DeepEqual(r, Run{Waits: map[string]int{model: 1}, Tried: map[string]bool{"x": true}}) {
		t.Errorf("changed: %v %v", e, r)
	}
}
