package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
)

// play plays a script in a bubble and returns the first fault, nil if there was none.
func play(t *testing.T, script simScript, kept *shelved) (fault *simFault, log string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		s := playScript(script, kept.Kept)
		if len(s.faults) > 0 {
			fault, log = &s.faults[0], s.log.String()
		}
	})
	return fault, log
}

// simRuns is how many random scripts are played, and the first one's seed: HOLDFAST_SIM and
// HOLDFAST_SIM_SEED, else a few.
func simRuns(t *testing.T) (n int, seed uint64) {
	t.Helper()
	n, seed = 200, 1
	if testing.Short() {
		n = 40
	}
	for name, set := range map[string]func(uint64){"HOLDFAST_SIM": func(v uint64) { n = int(v) }, "HOLDFAST_SIM_SEED": func(v uint64) { seed = v }} {
		if text := os.Getenv(name); text != "" {
			v, err := strconv.ParseUint(text, 10, 63)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			set(v)
		}
	}
	return n, seed
}

// The model check: random outages, kills, clock steps and people on the whole engine and a real
// store. What DESIGN.md §6 says is true after every event, and in the end every turn has ended.
func TestSimulation(t *testing.T) {
	runs, first := simRuns(t)
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // many small runs: memory is not short, time is
	var next, faults atomic.Int64
	var workers sync.WaitGroup
	began := time.Now()
	for w := range min(runs, runtime.GOMAXPROCS(0)) { // more would wait for each other inside SQLite
		workers.Go(func() {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				kept := keptStore(t)
				for i := next.Add(1) - 1; i < int64(runs) && faults.Load() < 3; i = next.Add(1) - 1 {
					seed := first + uint64(i)
					script := drawScript(seed)
					if fault, log := play(t, script, kept); fault != nil {
						faults.Add(1)
						reportSmallest(t, seed, script, *fault, log, kept)
					}
				}
			})
		})
	}
	workers.Wait()
	played := min(next.Load(), int64(runs)) // fewer, if it has come to an end at the third fault
	t.Logf("%d runs from seed %d, %.0f a second", played, first, float64(played)/time.Since(began).Seconds())
}

// reportSmallest makes the script of a failing seed as small as it gets and prints it.
func reportSmallest(t *testing.T, seed uint64, script simScript, fault simFault, log string, kept *shelved) {
	again := func(s simScript) bool {
		for range 2 { // what happens at the same moment happens in any order
			if f, l := play(t, s, kept); f != nil && f.kind == fault.kind {
				fault, log = *f, l
				return true
			}
		}
		return false
	}
	if !again(script) {
		t.Errorf("seed %d: %s: %s\n(at %v, after %q; it does not fail every time)\n\n%s\n%s", seed, fault.kind, fault.text, fault.at, fault.line, script, log)
		return
	}
	small := script.smaller(again)
	again(small)
	t.Errorf("seed %d: %s: %s\n(at %v, after %q)\n\nThe smallest script, for testdata/sim:\n\n# %s: %s\n%s\n%s", seed, fault.kind, fault.text, fault.at, fault.line,
		fault.kind, firstLine(fault.text), small, log)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line[:min(len(line), 160)]
}

// Every script that has once found a fault is played again.
func TestSimulatedScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/sim/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if fault, log := play(t, readScript(string(text)), keptStore(t)); fault != nil {
				t.Errorf("%s: %s\n(at %v, after %q)\n\n%s", fault.kind, fault.text, fault.at, fault.line, log)
			}
		})
	}
}

// An outage of 26 hours with three restarts and ten messages in it: every message is answered once
// and in order, no request inside a hold, requests counted and below the ceiling.
func TestOutageOf26Hours(t *testing.T) {
	script := readScript(`
		set stale_after 48h
		provider p0 2
		bot b0 p0/m0
		0s     as p0/m0 503 429/45m@2s reset 503 429/3h@1s cut error 500 silent 429 503
		1s     say m0 b0 web/r0 ann
		20m    say m1 b0 web/r0 ann
		1h     say m2 b0 web/r0 bob
		2h     kill 30m
		4h     say m3 b0 chat/r1 cid
		5h     say m4 b0 chat/r1 cid
		7h30m  kill 3h
		9h     say m5 b0 web/r0 bob           # while it is down: the platform delivers it at the start
		13h    say m6 b0 web/r2 dan
		13h    say m7 b0 web/r2 dan
		18h    restart 1h
		22h    say m8 b0 web/r0 ann
		25h59m say m9 b0 chat/r1 cid
		26h    heal`)
	kept := keptStore(t)
	synctest.Test(t, func(t *testing.T) {
		s := playScript(script, kept.Kept)
		for _, f := range s.faults {
			t.Fatalf("%s: %s\n\n%s", f.kind, f.text, s.log)
		}
		for label, said := range s.said {
			turn := s.checked.turns[said.turn]
			if turn.MergedInto != 0 {
				turn = s.checked.turns[turn.MergedInto]
			}
			if turn.Outcome != store.Answered {
				t.Errorf("%s is not answered: %s", label, told(turn))
			}
		}
		if len(s.said) != 10 {
			t.Errorf("%d messages", len(s.said))
		}
		if n := len(s.models["p0"].seen); n > 26*12+60 {
			t.Errorf("%d requests: more than one in five minutes and those of one episode", n)
		} else {
			t.Logf("%d requests in 26 hours", n)
		}
	})
}
