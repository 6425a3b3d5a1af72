//go:build linux && !race

package store

import (
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
// compared with a bare prepared INSERT in a transaction of its own, in rounds, until each bar was reached in one
// during which the disk was steady. That not one reaches it counts if nobody else used the processors in at least
// three of them; where there are not so many within some seconds, half of the speeds must have been reached.
func TestFiguresOfPark(t *testing.T) {
	pages := pagesOfPark(t)
	var steady, all parkReached
	calm := 0
	for began := time.Now(); !steady.reached(1) && time.Since(began) < 6*time.Second; {
		others := othersUse(t)
		f := measureParks(t, parkRound)
		used := others()
		if bare := f.beside(1); bare.took < bare.cpu*3/2 {
			t.Skipf("a bare INSERT takes %v, and %v of a processor: the file system syncs for nothing, and there is nothing to be shared", bare.took/parkRound, bare.cpu/parkRound)
		}
		all.add(&f, pages)
		if f.steady() {
			steady.add(&f, pages)
			if used < f.took()/10 {
				calm++
			}
		}
		t.Logf("of a bare INSERT's speed (%v): %.2f alone, %.1f with 16, %.1f with 64; of its processor time with 16: %.2f; others used %v of %v",
			f.bare[0].took/parkRound, f.speed(0), f.speed(1), f.speed(2), f.processor(1), used, f.took())
	}
	switch {
	case calm >= 3 && !steady.reached(1):
		t.Errorf("at best parks reach %v, want speeds of %v and a processor time of %v", steady, parkBars, parkProcessor)
	case !all.reached(0.5):
		t.Errorf("at best parks reach %v on a busy machine, want speeds of half of %v and a processor time of %v", all, parkBars, parkProcessor)
	}
}

// parkReached is the best of some rounds.
type parkReached struct {
	speed     [len(parkers)]float64
	processor float64 // 0 = no round yet
}

func (r *parkReached) add(f *parkFigures, pages time.Duration) {
	for i := range parkers {
		x := f.speed(i)
		if i == 0 {
			x = f.aloneBut(pages)
		}
		r.speed[i] = max(r.speed[i], x)
	}
	if x := f.processor(1); r.processor == 0 || x < r.processor {
		r.processor = x
	}
}

// reached reports whether the speeds have reached a part of their bars, and the processor time its own.
func (r *parkReached) reached(part float64) bool {
	for i, bar := range parkBars {
		if r.speed[i] < bar*part {
			return false
		}
	}
	return r.processor > 0 && r.processor <= parkProcessor
}

func (f *parkFigures) took() (sum time.Duration) {
	for _, c := range append(f.bare[:], f.parks[:]...) {
		sum += c.took
	}
	return sum
}

// steady reports a round in which the disk was as quick at its end as at its beginning.
func (f *parkFigures) steady() bool {
	least, most := f.bare[0].took, f.bare[0].took
	for _, c := range f.bare {
		least, most = min(least, c.took), max(most, c.took)
	}
	return most < least*3/2
}

// aloneBut is the speed of one caller, but for what the disk takes longer for the pages of a park than for the one
// of an INSERT: at most a third of it, should the disk have been slow only when that was measured.
func (f *parkFigures) aloneBut(pages time.Duration) float64 {
	took := f.parks[0].took
	return f.beside(0).took.Seconds() / (took - min(parkRound*pages, took/3)).Seconds()
}

// pagesOfPark is how much longer the disk takes to sync five pages of a write-ahead log, as many as a lone park
// writes, than one.
func pagesOfPark(t *testing.T) time.Duration {
	t.Helper()
	const syncs = 64
	var took [2]time.Duration
	for range 3 {
		for i, pages := range []int{1, 5} {
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

// othersUse begins to count what everybody but this process uses of the processors, their host included; the
// function that it returns tells how much that was. Kernel threads that write for this process count as others.
func othersUse(t *testing.T) func() time.Duration {
	t.Helper()
	all, own := processorsUsed(t), processorTime()
	return func() time.Duration { return max(0, processorsUsed(t)-all-(processorTime()-own)) }
}

// processorsUsed is what all processors together have worked since the machine was started (proc_stat(5)).
func processorsUsed(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Skip("the kernel does not tell who uses the processors: ", err)
	}
	var user, nice, system, idle, waiting, irq, softirq, stolen int64
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &waiting, &irq, &softirq, &stolen); err != nil {
		t.Fatal(err)
	}
	const tick = time.Second / 100 // USER_HZ
	return time.Duration(user+nice+system+irq+softirq+stolen) * tick
}
