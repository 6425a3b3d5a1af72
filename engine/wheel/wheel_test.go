package wheel

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// clock is a wall clock that can be stepped and, apart from that, runs with the bubble's.
type clock struct {
	mu   sync.Mutex
	step time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.step).Round(0)
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step += d
}

// running is a wheel in Run, and what it has fired.
type running struct {
	*Wheel
	t     *testing.T
	clock *clock
	mu    sync.Mutex
	keys  []int64
	looks atomic.Int64 // how often Run read the wall clock
}

// bubble runs a wheel in a synctest bubble; no entry may ever fire early.
func bubble(t *testing.T, play func(*running)) {
	synctest.Test(t, func(t *testing.T) {
		r := &running{t: t, clock: &clock{}}
		r.Wheel = New(Config{Wall: func() time.Time { r.looks.Add(1); return r.clock.now() }})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := r.Run(ctx, r.fire); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
		play(r)
		stop()
		wg.Wait()
	})
}

func (r *running) fire(batch []Due) {
	wall := r.clock.now().UnixMilli()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range batch {
		if d.At > wall {
			r.t.Errorf("key %d of %d fired early, at %d", d.Key, d.At, wall)
		}
		r.keys = append(r.keys, d.Key)
	}
}

// in adds an entry so long after the present wall clock.
func (r *running) in(d time.Duration, key int64) Timer {
	return r.Add(r.clock.now().Add(d).UnixMilli(), key)
}

// after sleeps d of true time and compares what has fired since the last call.
func (r *running) after(d time.Duration, want ...int64) {
	r.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.keys, want) {
		r.t.Fatalf("fired %v, want %v", r.keys, want)
	}
	r.keys = nil
}

func TestFiresAtTheMillisecond(t *testing.T) {
	bubble(t, func(r *running) {
		for key, d := range []time.Duration{time.Millisecond, 63 * time.Millisecond, 64 * time.Millisecond, 5 * time.Second, time.Hour, 24 * time.Hour} {
			r.in(d, int64(key))
			r.after(d - 1)
			r.after(1, int64(key))
		}
	})
}

func TestDueAlreadyFiresAtOnce(t *testing.T) {
	bubble(t, func(r *running) {
		r.in(time.Hour, 1)
		r.in(0, 2)
		r.in(-time.Hour, 3)
		r.after(0, 3, 2)
	})
}

func TestSoonerEntryWakesRun(t *testing.T) {
	bubble(t, func(r *running) {
		r.in(time.Hour, 1)
		r.after(time.Minute)
		r.in(time.Second, 2)
		r.after(time.Second, 2)
		r.after(time.Hour-time.Minute-time.Second, 1)
	})
}

func TestCancelledEntryDoesNotFire(t *testing.T) {
	bubble(t, func(r *running) {
		first, second := r.in(time.Second, 1), r.in(time.Second, 2)
		if !r.Cancel(first) || r.Cancel(first) {
			t.Fatal("Cancel is true once")
		}
		r.after(time.Second, 2)
		if r.Cancel(second) {
			t.Fatal("Cancel of a fired entry is false")
		}
	})
}

func TestStepForwardFiresOverdue(t *testing.T) { // P16
	bubble(t, func(r *running) {
		r.in(2*time.Hour, 3)
		r.in(30*time.Minute, 2)
		r.in(10*time.Minute, 1)
		r.after(time.Minute)
		r.clock.move(time.Hour)
		r.Stepped()
		r.after(0, 1, 2)
		r.after(time.Hour-time.Minute, 3)
	})
}

func TestStepBackwardDelays(t *testing.T) { // P16
	bubble(t, func(r *running) {
		r.in(10*time.Minute, 1)
		r.after(time.Minute)
		r.clock.move(-time.Hour)
		r.Stepped()
		r.in(time.Minute, 2) // behind the wheel's own time
		r.in(time.Minute-time.Second, 3)
		r.after(time.Minute-time.Second, 3)
		r.after(time.Second, 2)
		r.after(time.Hour + 8*time.Minute - 1)
		r.after(1, 1)
	})
}

func TestStepsNobodyTold(t *testing.T) { // P16
	bubble(t, func(r *running) {
		r.in(10*time.Minute, 1)
		r.clock.move(-time.Hour)
		r.after(time.Hour + 10*time.Minute - 1)
		r.after(1, 1)
		r.in(10*time.Minute, 2)
		r.in(20*time.Minute, 3)
		r.clock.move(time.Hour)
		r.after(10*time.Minute, 2, 3) // at the next wake-up, which was armed before the step
	})
}

// Two steps that undo each other leave a timer behind that was set between them: one that sleeps for too
// long is woken by who compares the clocks, and one that is right is left alone.
func TestCompareWakesWhoSleepsTooLong(t *testing.T) { // P16
	bubble(t, func(r *running) {
		r.clock.move(-time.Hour)
		r.in(time.Hour+10*time.Second, 1)
		r.after(0)
		r.clock.move(time.Hour)
		r.Compare(r.clock.now())
		r.after(10*time.Second - 1)
		r.after(1, 1)
		r.in(time.Hour, 2)
		r.after(time.Minute)
		looks := r.looks.Load()
		for range 100 {
			r.Compare(r.clock.now())
			r.after(4 * time.Second)
		}
		if n := r.looks.Load() - looks; n != 0 {
			t.Errorf("woken %d times", n)
		}
		r.clock.move(2 * time.Second)
		r.Compare(r.clock.now())
		r.after(59*time.Minute - 402*time.Second - 1)
		r.after(1, 2)
	})
}

func TestNoTick(t *testing.T) {
	bubble(t, func(r *running) {
		r.after(24 * time.Hour)
		if r.looks.Load() > 3 {
			t.Fatalf("an empty wheel looked at the clock %d times in a day", r.looks.Load())
		}
		looks := r.looks.Load()
		r.in(24*time.Hour, 1)
		r.after(24*time.Hour, 1)
		if n := r.looks.Load() - looks; n > levels {
			t.Fatalf("one entry of a day took %d looks", n)
		}
	})
}

func TestOneInstantInBatches(t *testing.T) {
	bubble(t, func(r *running) {
		want := make([]int64, 10_000)
		for i := range want {
			want[i] = int64(i)
			r.in(time.Minute, int64(i))
		}
		r.looks.Store(0)
		r.after(time.Minute, want...)
		if r.looks.Load() > 10 {
			t.Fatalf("10,000 entries of one instant took %d looks", r.looks.Load())
		}
	})
}

func TestOverdueCrowdInOrder(t *testing.T) {
	bubble(t, func(r *running) {
		w := New(Config{Wall: r.clock.now})
		for i := range int64(10_000) {
			w.Add(r.clock.now().UnixMilli()-i, i)
		}
		last := int64(10_000)
		ctx, stop := context.WithCancel(r.t.Context())
		w.Run(ctx, func(batch []Due) {
			for _, d := range batch {
				if d.Key != last-1 {
					r.t.Fatalf("key %d after %d", d.Key, last)
				}
				last = d.Key
			}
			if last == 0 {
				stop()
			}
		})
	})
}

func TestFireMayAddAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Config{})
		ctx, stop := context.WithCancel(t.Context())
		left := 5
		other := w.Add(time.Now().Add(time.Hour).UnixMilli(), 2)
		w.Add(time.Now().UnixMilli(), 1)
		begin := time.Now()
		w.Run(ctx, func(batch []Due) {
			if left--; left == 0 {
				if !w.Cancel(other) || w.Len() != 0 {
					t.Error("the other entry was not pending")
				}
				stop()
				return
			}
			w.Add(batch[0].At+1000, 1)
		})
		if got := time.Since(begin); got != 4*time.Second {
			t.Errorf("four waits of a second took %v", got)
		}
	})
}

func TestManyGoroutines(t *testing.T) {
	bubble(t, func(r *running) {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 500 {
					timer := r.in(time.Duration(i)*time.Millisecond, int64(g))
					if i%2 == 0 {
						r.Cancel(timer)
					}
					if i%50 == 0 {
						time.Sleep(time.Millisecond)
					}
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if r.Len() != 0 {
			t.Fatalf("%d left", r.Len())
		}
	})
}
