package engine

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
)

// emptyStore is the file of a store that has just been made: a run that begins with a copy of it is
// much cheaper than one that makes its own.
func emptyStore(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(store.Config{Dir: dir, Synchronous: "normal"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "holdfast.db"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// play plays a script in a bubble and returns the first fault, nil if there was none.
func play(t *testing.T, script simScript, dir string, empty []byte) (fault *simFault, log string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		s := playScript(script, dir, empty)
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
	empty := emptyStore(t)
	var next, faults atomic.Int64
	began := time.Now()
	t.Run("runs", func(t *testing.T) {
		for w := range min(runs, runtime.GOMAXPROCS(0)) {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				for i := next.Add(1) - 1; i < int64(runs) && faults.Load() < 3; i = next.Add(1) - 1 {
					seed := first + uint64(i)
					script := drawScript(seed)
					if fault, _ := play(t, script, dir, empty); fault != nil {
						faults.Add(1)
						reportSmallest(t, seed, script, *fault, dir, empty)
					}
				}
			})
		}
	})
	t.Logf("%d runs from seed %d, %.0f a second", runs, first, float64(runs)/time.Since(began).Seconds())
}

// reportSmallest makes the script of a failing seed as small as it gets and prints it.
func reportSmallest(t *testing.T, seed uint64, script simScript, fault simFault, dir string, empty []byte) {
	var log string
	again := func(s simScript) bool {
		for range 2 { // what happens at the same moment happens in any order
			if f, l := play(t, s, dir, empty); f != nil && f.kind == fault.kind {
				fault, log = *f, l
				return true
			}
		}
		return false
	}
	if !again(script) {
		t.Errorf("seed %d: %s: %s\n(at %v, after %q; it does not fail every time)\n\n%s", seed, fault.kind, fault.text, fault.at, fault.line, script)
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
	empty := emptyStore(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if fault, log := play(t, readScript(string(text)), t.TempDir(), empty); fault != nil {
				t.Errorf("%s: %s\n(at %v, after %q)\n\n%s", fault.kind, fault.text, fault.at, fault.line, log)
			}
		})
	}
}
