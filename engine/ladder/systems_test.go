package ladder

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// system reads the settings that come nearest to a known system.
func system(t *testing.T, name string) Config {
	t.Helper()
	var file struct {
		Retry toml.Primitive `toml:"retry"`
	}
	meta, err := toml.DecodeFile(filepath.Join("testdata", name+".toml"), &file)
	if err != nil {
		t.Fatal(err)
	}
	c := Default()
	if meta.Type("retry", "rearm") == "Bool" {
		c.Rearm = nil
	}
	var keys map[string]any
	if err := meta.PrimitiveDecode(file.Retry, &keys); err != nil {
		t.Fatal(err)
	}
	decodeKeys(t, keys, &c)
	if found := problems(c); len(found) > 0 {
		t.Fatal(found)
	}
	return c
}

// decodeKeys sets what the file states; rearm = false is no list and is dealt with above.
func decodeKeys(t *testing.T, keys map[string]any, c *Config) {
	t.Helper()
	delete(keys, "rearm")
	text, err := toml.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	meta, err := toml.Decode(string(text), c)
	if err != nil {
		t.Fatal(err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		t.Fatalf("unknown keys %v", unknown)
	}
}

// line is a turn's way through the same failure again and again.
type line struct {
	name string
	f    Failure
	want []string
}

func walk(t *testing.T, c Config, lane func(*Situation), lines []line) {
	t.Helper()
	for _, l := range lines {
		t.Run(l.name, func(t *testing.T) {
			p := play(t, c)
			if lane != nil {
				lane(&p.s)
			}
			p.expect(l.f, l.want...)
		})
	}
}

func TestDurableParksK1(t *testing.T) {
	c := system(t, "durable-parks")
	walk(t, c, nil, []line{
		{"K1-1, K1-7 the second failure parks", status(503), []string{"L4 wait 2s backoff 1/1", "L5 park 2s backoff 1/30"}},
		{"K1-7 stays in process", status(429).stating(9999 * time.Millisecond), []string{"L4 wait 9.999s retry-after 1/1"}},
		{"K1-8 parks at once", status(429).stating(45 * time.Second), []string{"L5 park 45s retry-after 1/30"}},
		{"K1-8 at 10 s", status(429).stating(10 * time.Second), []string{"L5 park 10s retry-after 1/30"}},
		{"K1-15 a refusal ends", fatal("refused", 400), []string{"end refused"}},
	})
	p := play(t, c)
	same(t, "K1-9", p.waits(status(503), 16, Park), seconds(2, 4, 8, 16, 32, 60, 60, 60))
	if p.e.Parks != 8 {
		t.Errorf("K1-9: %d parks", p.e.Parks)
	}
	p = play(t, c)
	same(t, "K1-10", p.waits(status(503).stating(11*time.Second), 7, Park), seconds(11, 11, 11, 16, 32, 60, 60))
	p = play(t, c)
	var told1 []string
	for !slices.Contains(told1, "end spent") {
		if told1 = append(told1, told(p.fail(status(503)))); len(told1) > 60 {
			t.Fatal("K1-14: no end")
		}
	}
	if p.e.Parks != 18 || p.e.Backoff > c.ParkHorizon+14*time.Second {
		t.Errorf("K1-14: %d parks, back-off %v", p.e.Parks, p.e.Backoff)
	}
	if end := told1[len(told1)-3:]; !slices.Equal(end, []string{"L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3", "end spent"}) {
		t.Errorf("K1-14 ends with %q", end)
	}
	p = play(t, c) // stated waits count as well: 10 of 90 s fit into 15 min
	if got := p.waits(status(429).stating(90*time.Second), 13, Park); len(got) != 10 {
		t.Errorf("horizon of stated waits: %v", got)
	}
	c.Park = false
	walk(t, c, nil, []line{{"K1-30 no parks", status(503), []string{"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3", "end spent"}}})
}

func TestTransportOnlyK2(t *testing.T) {
	c := system(t, "transport-only")
	begun := status(503)
	begun.Begun = true
	durable := []line{
		{"K2-1", status(429), []string{"L1 resend 400ms backoff 1/2"}},
		{"K2-2, K2-3", status(503), []string{"L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "end spent"}},
		{"K2-4", network(), []string{"L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "end spent"}},
		{"K2-4 own cancel", fatal("canceled", 0), []string{"end canceled"}},
		{"K2-5 400", fatal("refused", 400), []string{"end refused"}},
		{"K2-5 401", fatal("auth", 401), []string{"end account"}},
		{"K2-5 408", status(408), []string{"end spent"}},
		{"K2-5 413", fatal("too_large", 413), []string{"trim", "end too_large"}},
		{"K2-6", begun, []string{"end spent"}},
		{"K2-7 stated", status(429).stating(time.Second), []string{"L1 resend 1s retry-after 1/2"}},
		{"K2-7 stated 0", status(429).stating(0), []string{"L1 resend 400ms backoff 1/2"}},
		{"K2-11 no cap", status(429).stating(time.Minute), []string{"L1 resend 1m0s retry-after 1/2", "L1 resend 1m0s retry-after 2/2", "end spent"}},
		{"K2-9 over what remains", status(429).stating(2 * time.Hour), []string{"end spent"}},
	}
	walk(t, c, nil, durable)
	walk(t, c, failFast, []line{
		{"K2-2, K2-3", status(503), []string{"L1 resend 400ms backoff 1/2", "L1 resend 800ms backoff 2/2", "end busy"}},
		{"K2-10 6 + 6", status(429).stating(6 * time.Second), []string{"L1 resend 6s retry-after 1/2", "end busy"}},
		{"K2-10 5 + 5", status(429).stating(5 * time.Second), []string{"L1 resend 5s retry-after 1/2", "L1 resend 5s retry-after 2/2", "end busy"}},
		{"K2-10 at once", status(429).stating(10001 * time.Millisecond), []string{"end busy"}},
		{"K2-12 longer than the turn will wait", status(429).stating(2 * time.Hour), []string{"end busy"}},
	})
}

func TestRearmsOnlyK3(t *testing.T) {
	c := system(t, "rearms-only")
	full := []string{"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3"}
	c.Resends = 0 // the resends before each are shown in K2
	stop := status(500)
	stop.Transient = false
	walk(t, c, nil, []line{
		{"K3-1, K3-6, K3-11", status(503), append(full, "L6 rearm 2m0s rearm 1/3", "L6 rearm 8m0s rearm 2/3", "L6 rearm 32m0s rearm 3/3", "end spent")},
		{"K3-3 refused", fatal("refused", 400), []string{"end refused"}},
		{"K3-3 unclassified", fatal("unclassified", 200), []string{"end unclassified"}},
		{"K3-4 not to be retried", stop, []string{"end no_retry"}},
		{"744 h are waited for", status(429).stating(744 * time.Hour), []string{"L4 wait 744h0m0s retry-after 1/3"}},
	})
	p := play(t, c).expect(status(503), append(full, "L6 rearm 2m0s rearm 1/3")...)
	p.expect(status(429).stating(30*time.Second), "L6 rearm 30s retry-after 1/3") // K3-7
	p.expect(status(503), "L6 rearm 8m0s rearm 2/3")                              // K3-8
	p.expect(fatal("refused", 400), "end refused")                                // K3-8: another kind ends it
	p = play(t, c)                                                                // K3-2: a wake's turn has the full ladder, and the next re-arm follows it
	p.s.Rearms = 1
	p.expect(status(503), append(full, "L6 rearm 8m0s rearm 2/3")...)
	walk(t, c, func(s *Situation) { s.CanRearm = false }, []line{{"K3-5, K3-12", status(503), append(full, "end spent")}})
	walk(t, c, failFast, []line{{"K3-5 fail-fast", status(503), []string{"end busy"}}})
}

func TestInTurnOnlyK4(t *testing.T) {
	c := system(t, "in-turn-only")
	ms := time.Millisecond
	none := func(s *Situation) {}
	walk(t, c, usable, []line{
		{"K4-1 no hint", status(429), []string{"L3 fallback cooldown 30s"}},
		{"K4-6 second tier", status(429).stating(300001 * ms), []string{"L3 fallback cooldown 5m0.001s"}},
		{"K4-7 third tier", status(429).stating(time.Hour), []string{"L3 fallback cooldown 1h0m0s"}},
		{"K4-8 first tier, summed up", status(429).stating(200 * time.Second), []string{"L4 wait 1m40s retry-after 1/3", "L3 fallback cooldown 3m20s"}},
		{"K4-14 account", fatal("quota", 429), []string{"L3 fallback cooldown 30m0s"}},
	})
	walk(t, c, none, []line{
		{"K4-2, K4-3", status(429), []string{"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3", "end spent"}},
		{"K4-4 second tier, 300001 ms", status(429).stating(300001 * ms), []string{"L4 wait 5m0s retry-after 1/3"}},
		{"K4-4 second tier, 3599999 ms", status(429).stating(3599999 * ms), []string{"L4 wait 5m0s retry-after 1/3"}},
		{"K4-5 third tier, 3600000 ms", status(429).stating(3600000 * ms), []string{"end stated_wait"}},
		{"K4-8 first tier, 300000 ms", status(429).stating(300000 * ms), []string{"L4 wait 2m30s retry-after 1/3", "L4 wait 5m0s retry-after 2/3"}},
		{"K4-8 then exponential", status(429).stating(5 * time.Second), []string{"L4 wait 2.5s retry-after 1/3", "L4 wait 5s retry-after 2/3", "L4 wait 8s backoff 3/3", "end spent"}},
		{"K4-9 a tiny hint", status(429).stating(ms), []string{"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3"}},
		{"K4-9 0", status(429).stating(0), []string{"L4 wait 2s backoff 1/3", "L4 wait 4s backoff 2/3", "L4 wait 8s backoff 3/3"}},
		{"K4-14 account", fatal("quota", 429), []string{"end account"}},
		{"K4-19 250 s twice", status(429).stating(250 * time.Second), []string{"L4 wait 2m5s retry-after 1/3", "L4 wait 4m10s retry-after 2/3", "L4 wait 4m10s retry-after 3/3", "end spent"}},
	})
	c.WaitBase = ms
	walk(t, c, none, []line{{"K4-2 base 1 ms", status(429), []string{"L4 wait 1ms backoff 1/3", "L4 wait 2ms backoff 2/3"}}})
	c.StatedWaitFallback, c.WaitBase = 8*ms, 8*ms
	walk(t, c, none, []line{{"K4-4 cap of 8 ms", status(429).stating(1258 * time.Second), []string{"L4 wait 8ms retry-after 1/3"}}})
	if want := 4; len(c.Rearm) != 0 || c.Waits+1 != want {
		t.Errorf("K4-3: %d calls, want %d", c.Waits+1, want)
	}
}
