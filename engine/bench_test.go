//go:build unix

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// starts notes of each turn when its run has begun (claimed, and its goroutine runs), when its row was
// there, and when all have settled.
type starts struct {
	slog.Handler
	engine *Engine
	want   int

	mu      sync.Mutex
	begun   []time.Duration // after it was due
	read    []time.Duration
	early   int
	settled int
	all     chan struct{} // closed when the rows of all are there
	over    chan struct{} // … when all have settled
}

func (l *starts) Enabled(context.Context, slog.Level) bool { return true }
func (l *starts) Handle(_ context.Context, r slog.Record) error {
	now := time.Now()
	switch r.Message {
	case "turn settled":
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.settled++; l.settled == l.want {
			close(l.over)
		}
	case "turn resumed":
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "turn" {
				l.resumed(a.Value.String(), now)
			}
			return a.Key != "turn"
		})
	}
	return nil
}

// resumed is called by the turn's own goroutine.
func (l *starts) resumed(turn string, now time.Time) {
	id, err := store.ParseID(turn)
	if err != nil {
		panic(err)
	}
	run := l.engine.runOf(id)
	due := run.due.Go()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun, l.read = append(l.begun, run.late), append(l.read, now.Sub(due))
	if run.driven.Round(0).Before(due) {
		l.early++
	}
	if len(l.read) == l.want {
		close(l.all)
	}
}

// holding is a model that answers nobody until it is let go, so that what is measured is how turns
// begin, and not how many whole ones fit into a second.
type holding struct {
	quick
	letGo chan struct{}
}

func (m *holding) Stream(ctx context.Context, p llm.Prepared) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		select {
		case <-m.letGo:
		case <-ctx.Done():
		}
		m.quick.Stream(ctx, p)(yield)
	}
}

// parked fills a store with turns that are due over a while, evenly.
func parked(tb testing.TB, dir string, n int, first time.Time, over time.Duration) {
	tb.Helper()
	s, err := store.Open(store.Config{Dir: dir, Synchronous: "normal"}, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	var all sync.WaitGroup
	for w := range 32 {
		all.Go(func() {
			for i := w; i < n; i += 32 {
				now := store.At(time.Now())
				a, err := s.Admit(store.Admission{At: now, Bot: "bot", Key: fmt.Sprint(i), Kind: "message", Surface: "web", Channel: fmt.Sprint(i), Person: "p", Text: "hello", Lane: "durable"})
				at := store.At(first.Add(over * time.Duration(i) / time.Duration(n)))
				if err == nil {
					_, err = s.WaitTurn(store.Waiting{Turn: a.Turn, At: now, State: store.Parked, Wait: store.Wait{RetryAt: at, From: "backoff", MS: int64(at - now)}, FirstFailed: now})
				}
				if err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// began is an engine at work with room for n requests at once, and what stops it.
func began(tb testing.TB, s *store.Store, l *starts, m llm.Provider, n int) (e *Engine, stop func()) {
	tb.Helper()
	p := Parts{
		Config: Default(), Retry: ladder.Default(), Bots: []Bot{{Name: "bot", Models: []string{"fake/one"}, ContextTokens: 24000}},
		Providers: map[string]Provider{"fake": {Provider: m, Config: llm.Config{Concurrency: n}}},
		Surfaces:  []Surface{silent{}}, Store: s, Log: slog.New(l),
	}
	p.Config.Workers, p.Config.StopGrace = n, 0
	e, err := New(p)
	if err != nil {
		tb.Fatal(err)
	}
	l.engine = e
	ctx, cancel := context.WithCancel(tb.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	return e, func() { cancel(); running.Wait() }
}

// silent is a surface that shows what is stored, and remembers nothing.
type silent struct{ *fakeSurface }

func (silent) Name() string                              { return "web" }
func (silent) Traits() Traits                            { return Traits{Local: true} }
func (silent) Run(ctx context.Context, _ *Engine) error  { <-ctx.Done(); return nil }
func (silent) Draft(Place, store.ID, string)             {}
func (silent) Working(_ Place, _ store.ID, working bool) {}

// resume runs an engine over the store until all its turns have settled. perSecond is how many whole
// turns it has worked off a second from when the first was due, which says something of a burst.
func resume(tb testing.TB, dir string, n int, first time.Time) (l *starts, perSecond float64) {
	tb.Helper()
	s, err := store.Open(store.Config{Dir: dir, Synchronous: "full"}, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	l = &starts{Handler: slog.DiscardHandler, want: n, all: make(chan struct{}), over: make(chan struct{})}
	m := &holding{letGo: make(chan struct{})}
	_, stop := began(tb, s, l, m, n)
	defer stop()
	<-l.all
	close(m.letGo)
	<-l.over
	perSecond = float64(n) / time.Since(first).Seconds()
	slices.Sort(l.begun)
	slices.Sort(l.read)
	if l.early > 0 {
		tb.Errorf("%d turns began early", l.early)
	}
	return l, perSecond
}

// afterFuncs is how late bare timers are, sorted.
func afterFuncs(n int, first time.Time, over time.Duration) []time.Duration {
	late := make([]time.Duration, n)
	var all sync.WaitGroup
	all.Add(n)
	for i := range n {
		at := first.Add(over * time.Duration(i) / time.Duration(n))
		time.AfterFunc(time.Until(at), func() { late[i] = time.Since(at); all.Done() })
	}
	all.Wait()
	slices.Sort(late)
	return late
}

// resumed is how late n turns began that were due over a while, and bare timers for the same moments:
// alone, and beside the turns (nil if nothing ran beside them).
type resumed struct {
	*starts
	alone, beside []time.Duration
	perSecond     float64
}

// resumeAll measures one round; lead is how long it may take to park them. ok is false where that was
// too short.
func resumeAll(tb testing.TB, n int, over, lead time.Duration) (r resumed, ok bool) {
	tb.Helper()
	tuned(tb)
	r.alone = afterFuncs(n, time.Now().Add(time.Second), over)
	dir := tb.TempDir()
	first := time.Now().Add(lead)
	if parked(tb, dir, n, first, over); !time.Now().Add(lead / 10).Before(first) {
		return r, false
	}
	var beside sync.WaitGroup
	if over > 0 { // in a burst they would double it
		beside.Go(func() { r.beside = afterFuncs(n, first, over) })
	}
	r.starts, r.perSecond = resume(tb, dir, n, first)
	beside.Wait()
	return r, true
}

// tuned runs the rest of a test or benchmark as the daemon runs.
func tuned(tb testing.TB) {
	tb.Helper()
	threads, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(100)
	tb.Cleanup(func() {
		runtime.GOMAXPROCS(threads)
		debug.SetGCPercent(percent)
	})
	TuneRuntime()
}

// at is the lateness that so many of a hundred stay below, in ms.
func at(late []time.Duration, percent int) float64 {
	return float64(late[min(len(late)-1, len(late)*percent/100)].Microseconds()) / 1000
}

// benchmark reports a round: in ms, and as ratios to bare timers.
func benchmark(b *testing.B, over time.Duration) {
	for b.Loop() {
		var r resumed
		for lead, ok := 5*time.Second, false; !ok; lead *= 2 {
			if lead > time.Minute {
				b.Fatal("this machine is too slow, or busy: turns were due before all were parked")
			}
			r, ok = resumeAll(b, 10_000, over, lead)
		}
		for _, percent := range []int{50, 99, 100} {
			b.ReportMetric(at(r.begun, percent), fmt.Sprintf("begun-p%d-ms", percent))
			b.ReportMetric(at(r.read, percent), fmt.Sprintf("read-p%d-ms", percent))
			b.ReportMetric(at(r.alone, percent), fmt.Sprintf("timers-p%d-ms", percent))
			b.ReportMetric(at(r.begun, percent)/at(r.alone, percent), fmt.Sprintf("p%d-x-alone", percent))
			if r.beside != nil {
				b.ReportMetric(at(r.begun, percent)/at(r.beside, percent), fmt.Sprintf("p%d-x-beside", percent))
			}
		}
		b.ReportMetric(r.perSecond, "whole-turns/s")
	}
}

// BenchmarkResumeLag is how late 10,000 turns due over 10 s begin to run, beside bare time.AfterFunc.
func BenchmarkResumeLag(b *testing.B) { benchmark(b, 10*time.Second) }

// BenchmarkResumeBurst is how long it takes until 10,000 turns due at one instant run, likewise.
func BenchmarkResumeBurst(b *testing.B) { benchmark(b, 0) }

// BenchmarkTurn is 2,000 whole turns of a model that answers at once: from the message to the end, by 16
// people side by side, synced.
func BenchmarkTurn(b *testing.B) {
	const turns = 2000
	tuned(b)
	for b.Loop() {
		s, err := store.Open(store.Config{Dir: b.TempDir(), Synchronous: "full"}, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		l := &starts{Handler: slog.DiscardHandler, want: turns, all: make(chan struct{}), over: make(chan struct{})}
		e, stop := began(b, s, l, quick{}, 16)
		before, cpu, start := s.Work(), processorTime(), time.Now()
		ask(b, e, turns, 16)
		<-l.over
		took, used, after := time.Since(start), processorTime()-cpu, s.Work()
		stop()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(turns/took.Seconds(), "turns/s")
		b.ReportMetric(used.Seconds()*1e6/turns, "cpu-µs/turn")
		b.ReportMetric(float64(after.Read-before.Read)/turns, "reads/turn")
		b.ReportMetric(float64(after.Written-before.Written)/turns, "writes/turn")
		b.ReportMetric(float64(after.Commits-before.Commits)/turns, "commits/turn")
	}
}

// ask sends messages of people who are side by side, each in a chat of his own.
func ask(tb testing.TB, e *Engine, messages, people int) {
	tb.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range people {
		all.Go(func() {
			for i := next.Add(1); i <= int64(messages); i = next.Add(1) {
				if _, err := e.Receive(tb.Context(), Incoming{Bot: "bot", Surface: "web", Channel: fmt.Sprint("room", i%500), Key: fmt.Sprint(i), Person: fmt.Sprint("person", i%500), Text: "what a person asks"}); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// quick answers at once.
type quick struct{}

func (quick) Prepare(r llm.Request) (llm.Prepared, error) {
	body, err := json.Marshal(r)
	return llm.Prepared{Model: r.Model, Body: body}, err
}

func (quick) Stream(context.Context, llm.Prepared) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		_ = yield(llm.Event{Head: &llm.Head{Status: 200, RequestID: "req"}}, nil) &&
			yield(llm.Event{Text: "what a model answers"}, nil) &&
			yield(llm.Event{Finish: &llm.Finish{Reason: "stop", TokensIn: 30, TokensOut: 10}}, nil)
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
