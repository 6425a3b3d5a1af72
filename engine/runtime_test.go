//go:build unix

package engine

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// What the environment says of the Go runtime stays; the rest is the daemon's.
func TestTuneRuntime(t *testing.T) {
	for _, c := range []struct {
		percent, threads         string // as the environment says
		wantPercent, wantThreads int    // the latter on two processors that are all Go's
	}{
		{"", "", 400, 3}, {"150", "", 100, 3}, {"", "2", 400, 2},
	} {
		tuned(t) // restores in the end
		t.Setenv("GOGC", c.percent)
		t.Setenv("GOMAXPROCS", c.threads)
		debug.SetGCPercent(100)
		runtime.GOMAXPROCS(runtime.NumCPU())
		TuneRuntime()
		if got := debug.SetGCPercent(100); got != c.wantPercent {
			t.Errorf("GOGC=%s: %d %%, want %d", c.percent, got, c.wantPercent)
		}
		want := runtime.NumCPU() // from four on
		if want < 4 {
			want += c.wantThreads - 2
		}
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("GOMAXPROCS=%s: %d threads, want %d", c.threads, got, want)
		}
	}
}
