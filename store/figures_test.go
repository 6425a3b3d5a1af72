//go:build linux && !race

package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The bars: how many parks there are in the time of a bare INSERT, by callers as in parkers, and how much of
// its processor time one needs with 16.
var parkBars = [len(parkers)]float64{0.7, 4, 6}

const (
	parkProcessor = 0.5
	parkRound     = 192 // of each in a round
)

// A park is one whole fact: the turn's row, the end of its request, and what tells pages of both, synced. It is
// compared with a bare prepared INSERT in a transaction of its own, as the median of rounds.
//
// The processor time is always held to its bar. The speeds are, by rounds in which nobody else took the processors
// or the disk: three of them are waited for, for some seconds. Where others leave no such rounds, half of the bars
// must be reached, in the best round of all.
func TestFiguresOfPark(t *testing.T) {
	var all, calm []parkFigures
	for began := time.Now(); len(all) == 0 || len(calm) < 3 && time.Since(began) < 6*time.Second; {
		before := waitedForProcessor(t)
		f := measureParks(t, parkRound)
		waited := waitedForProcessor(t) - before
		all = append(all, f)
		if f.calm(waited) {
			calm = append(calm, f)
		}
		t.Logf("of a bare INSERT's speed (%v): %.2f alone, %.1f with 16, %.1f with 64; of its processor time with 16: %.2f; waited %v for a processor",
			f.bare[0].took/parkRound, f.speed(0), f.speed(1), f.speed(2), f.processor(1), waited)
	}
	if own := medianOf(all, func(f *parkFigures) float64 { return f.beside(1).took.Seconds() / f.beside(1).cpu.Seconds() }); own < 2 {
		t.Skipf("a bare INSERT takes %.1f times its processor time: the file system syncs for nothing, and there is nothing to be shared", own)
	}
	if x := medianOf(all, func(f *parkFigures) float64 { return f.processor(1) }); x > parkProcessor {
		t.Errorf("a park needs %.2f of a bare INSERT's processor time with 16 callers, want at most %.1f", x, parkProcessor)
	}
	pages := pagesOfPark(t)
	for i, bar := range parkBars {
		speed := func(f *parkFigures) float64 { return f.speed(i) }
		if i == 0 {
			speed = func(f *parkFigures) float64 { return f.aloneBut(pages) }
		}
		if len(calm) < 3 {
			if x := bestOf(all, speed); x < bar/2 {
				t.Errorf("%d callers park at %.2f of a bare INSERT's speed at best, on a busy machine, want at least %.2f", parkers[i], x, bar/2)
			}
		} else if x := medianOf(calm, speed); x < bar {
			t.Errorf("%d callers park at %.2f of a bare INSERT's speed, want at least %.1f", parkers[i], x, bar)
		}
	}
}

func bestOf(rounds []parkFigures, of func(*parkFigures) float64) (best float64) {
	for _, f := range rounds {
		best = max(best, of(&f))
	}
	return best
}

// calm reports a round in which the process hardly had to wait for a processor, and the disk was as quick at its
// end as at its beginning.
func (f *parkFigures) calm(waited time.Duration) bool {
	var took time.Duration
	least, most := f.bare[0].took, f.bare[0].took
	for _, c := range f.parks {
		took += c.took
	}
	for _, c := range f.bare {
		took, least, most = took+c.took, min(least, c.took), max(most, c.took)
	}
	return waited < took/20 && most < least*3/2
}

// aloneBut is the speed of one caller, but for what the disk takes longer for the pages of a park than for the one
// of an INSERT.
func (f *parkFigures) aloneBut(pages time.Duration) float64 {
	return f.beside(0).took.Seconds() / (f.parks[0].took - parkRound*pages).Seconds()
}

// pagesOfPark is how much longer the disk takes to sync six pages of a write-ahead log, which a lone park writes,
// than one.
func pagesOfPark(t *testing.T) time.Duration {
	t.Helper()
	const syncs = 64
	var took [2]time.Duration
	for range 3 {
		for i, pages := range []int{1, 6} {
			f, err := os.Create(filepath.Join(t.TempDir(), "log"))
			if err != nil {
				t.Fatal(err)
			}
			page := make([]byte, pages*(24+4096))
			took[i] += costOf(func() {
				for range syncs {
					if _, err := f.Write(page); err != nil {
						t.Fatal(err)
					}
					if err := syscall.Fdatasync(int(f.Fd())); err != nil {
						t.Fatal(err)
					}
				}
			}).took
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return max(0, took[1]-took[0]) / (3 * syncs)
}

// waitedForProcessor is how long the threads of this process have been ready to run and were not let, as the
// kernel counts it.
func waitedForProcessor(t *testing.T) (sum time.Duration) {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil || len(threads) == 0 {
		t.Skip("the kernel does not tell who waits for a processor")
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var ran, waited time.Duration
		if _, err := fmt.Fscan(bytes.NewReader(text), &ran, &waited); err != nil {
			t.Fatal(err)
		}
		sum += waited
	}
	return sum
}
