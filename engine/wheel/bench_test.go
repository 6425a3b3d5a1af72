package wheel

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

const million = 1_000_000

// ahead gives a million due times spread over the next day, in random order.
func ahead() []time.Duration {
	r := rand.New(rand.NewPCG(1, 2))
	at := make([]time.Duration, million)
	for i := range at {
		at[i] = time.Minute + time.Duration(r.Int64N(int64(24*time.Hour)))
	}
	return at
}

// order gives a random order of a million handles.
func order() []int { return rand.New(rand.NewPCG(3, 4)).Perm(million) }

// heapItem and timerHeap are what one would write without a wheel: a heap whose items know their place.
type heapItem struct {
	at, key int64
	place   int
}

type timerHeap []*heapItem

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *timerHeap) Push(x any) {
	item := x.(*heapItem)
	item.place = len(*h)
	*h = append(*h, item)
}
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last], *h = nil, (*h)[:last]
	return item
}

// lockedHeap has the lock that the other two have as well.
type lockedHeap struct {
	mu sync.Mutex
	h  timerHeap
}

func (l *lockedHeap) add(at, key int64) *heapItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	item := &heapItem{at: at, key: key}
	heap.Push(&l.h, item)
	return item
}

func (l *lockedHeap) cancel(item *heapItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	heap.Remove(&l.h, item.place)
}

// each is what one of a million timers costs.
type each struct {
	add, cancel time.Duration
	bytes       float64
}

// three are what is compared: each is filled with a million timers, which are then cancelled in random order.
var three = []struct {
	name    string
	measure func(at []time.Duration, cancel []int) each
}{
	{"wheel", func(at []time.Duration, cancel []int) each {
		w, base := New(Config{}), time.Now().UnixMilli()
		return measured(at, cancel, func(d time.Duration) Timer { return w.Add(base+d.Milliseconds(), 1) }, func(t Timer) { w.Cancel(t) })
	}},
	{"heap", func(at []time.Duration, cancel []int) each {
		h, base := &lockedHeap{}, time.Now().UnixMilli()
		return measured(at, cancel, func(d time.Duration) *heapItem { return h.add(base+d.Milliseconds(), 1) }, h.cancel)
	}},
	{"AfterFunc", func(at []time.Duration, cancel []int) each {
		return measured(at, cancel, func(d time.Duration) *time.Timer { return time.AfterFunc(d, func() {}) }, func(t *time.Timer) { t.Stop() })
	}},
}

func measured[H any](at []time.Duration, cancel []int, add func(time.Duration) H, stop func(H)) (e each) {
	handles := make([]H, million)
	before, begin := heapBytes(), time.Now()
	for i, d := range at {
		handles[i] = add(d)
	}
	e.add = time.Since(begin) / million
	e.bytes = float64(heapBytes()-before) / million
	begin = time.Now()
	for _, i := range cancel {
		stop(handles[i])
	}
	e.cancel = time.Since(begin) / million
	return e
}

// BenchmarkMillion reads ns/add, ns/cancel and bytes/timer: the medians of its runs.
func BenchmarkMillion(b *testing.B) {
	at, cancel := ahead(), order()
	for _, x := range three {
		b.Run(x.name, func(b *testing.B) {
			var adds, cancels []time.Duration
			var bytes float64
			for b.Loop() {
				e := x.measure(at, cancel)
				adds, cancels, bytes = append(adds, e.add), append(cancels, e.cancel), e.bytes
			}
			slices.Sort(adds)
			slices.Sort(cancels)
			b.ReportMetric(float64(adds[len(adds)/2].Nanoseconds()), "ns/add")
			b.ReportMetric(float64(cancels[len(cancels)/2].Nanoseconds()), "ns/cancel")
			b.ReportMetric(bytes, "bytes/timer")
		})
	}
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkChurn adds and cancels one timer beside a million others.
func BenchmarkChurn(b *testing.B) {
	at := ahead()
	b.Run("wheel", func(b *testing.B) {
		w, base := New(Config{}), time.Now().UnixMilli()
		for _, d := range at {
			w.Add(base+d.Milliseconds(), 1)
		}
		i := 0
		for b.Loop() {
			w.Cancel(w.Add(base+at[i%million].Milliseconds(), 1))
			i++
		}
	})
	b.Run("heap", func(b *testing.B) {
		h, base := &lockedHeap{}, time.Now().UnixMilli()
		for _, d := range at {
			h.add(base+d.Milliseconds(), 1)
		}
		i := 0
		for b.Loop() {
			h.cancel(h.add(base+at[i%million].Milliseconds(), 1))
			i++
		}
	})
	b.Run("AfterFunc", func(b *testing.B) {
		timers := make([]*time.Timer, million)
		for i, d := range at {
			timers[i] = time.AfterFunc(d, func() {})
		}
		i := 0
		for b.Loop() {
			time.AfterFunc(at[i%million], func() {}).Stop()
			i++
		}
		for _, t := range timers {
			t.Stop()
		}
	})
}

// BenchmarkLateness fires 10,000 timers over 10 s, and 10,000 of one instant, by the wheel and by
// bare time.AfterFunc. Read the lateness; one round takes 10 s.
func BenchmarkLateness(b *testing.B) {
	const n = 10_000
	for _, span := range []time.Duration{10 * time.Second, 0} {
		b.Run("wheel/over="+span.String(), func(b *testing.B) {
			lateness(b, n, span, func(due []int64, fired func(int)) func() {
				w := New(Config{})
				ctx, stop := context.WithCancel(b.Context())
				for i, at := range due {
					w.Add(at, int64(i))
				}
				var wg sync.WaitGroup
				wg.Go(func() {
					w.Run(ctx, func(batch []Due) {
						for _, d := range batch {
							fired(int(d.Key))
						}
					})
				})
				return func() { stop(); wg.Wait() }
			})
		})
		b.Run("AfterFunc/over="+span.String(), func(b *testing.B) {
			lateness(b, n, span, func(due []int64, fired func(int)) func() {
				for i, at := range due {
					time.AfterFunc(time.Until(time.UnixMilli(at)), func() { fired(i) })
				}
				return func() {}
			})
		})
	}
}

func lateness(b *testing.B, n int, span time.Duration, start func([]int64, func(int)) func()) {
	r := rand.New(rand.NewPCG(5, 6))
	for b.Loop() {
		base := time.Now().Add(500 * time.Millisecond).UnixMilli()
		due := make([]int64, n)
		for i := range due {
			due[i] = base + r.Int64N(span.Milliseconds()+1)
		}
		late := make([]time.Duration, n)
		var wg sync.WaitGroup
		wg.Add(n)
		stop := start(due, func(i int) {
			late[i] = time.Since(time.UnixMilli(due[i]))
			wg.Done()
		})
		wg.Wait()
		stop()
		slices.Sort(late)
		if late[0] < 0 {
			b.Fatalf("fired %v early", -late[0])
		}
		b.ReportMetric(late[n/2].Seconds()*1000, "p50-ms")
		b.ReportMetric(late[n*99/100].Seconds()*1000, "p99-ms")
		b.ReportMetric(late[n-1].Seconds()*1000, "max-ms")
	}
}
