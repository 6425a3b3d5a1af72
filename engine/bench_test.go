package engine

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
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
	fakeModels
	letGo chan struct{}
}

func (m *holding) Stream(ctx context.Context, p llm.Prepared) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		select {
		case <-m.letGo:
		case <-ctx.Done():
		}
		m.fakeModels.Stream(ctx, p)(yield)
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
	if !time.Now().Before(first) {
		tb.Fatal("this machine is too slow: turns were due before all were parked")
	}
}

// resume runs an engine over the store until all its turns have settled. perSecond is how many whole
// turns it worked off a second once the model answered.
func resume(tb testing.TB, dir string, n int) (l *starts, perSecond float64) {
	tb.Helper()
	s, err := store.Open(store.Config{Dir: dir, Synchronous: "full"}, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	l = &starts{Handler: slog.DiscardHandler, want: n, all: make(chan struct{}), over: make(chan struct{})}
	m := &holding{letGo: make(chan struct{})}
	p := Parts{
		Config: Default(), Retry: ladder.Default(), Bots: []Bot{{Name: "bot", Models: []string{"fake/one"}, ContextTokens: 24000}},
		Providers: map[string]Provider{"fake": {Provider: m, Config: llm.Config{Concurrency: n}}},
		Surfaces:  []Surface{&fakeSurface{name: "web", local: true}}, Store: s, Log: slog.New(l),
	}
	p.Config.Workers, p.Config.StopGrace = n, 0
	if l.engine, err = New(p); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = l.engine.Run(ctx) })
	<-l.all
	close(m.letGo)
	began := time.Now()
	<-l.over
	perSecond = float64(n) / time.Since(began).Seconds()
	cancel()
	running.Wait()
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

func report(b *testing.B, name string, late []time.Duration) {
	b.ReportMetric(ms(late[len(late)/2]), name+"-p50-ms")
	b.ReportMetric(ms(late[len(late)*99/100]), name+"-p99-ms")
	b.ReportMetric(ms(late[len(late)-1]), name+"-max-ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// against parks n turns due over a while, runs them beside as many bare timers, and reports both.
func against(b *testing.B, n int, over time.Duration) {
	for b.Loop() {
		dir := b.TempDir()
		timers := afterFuncs(n, time.Now().Add(time.Second), over)
		first := time.Now().Add(8 * time.Second)
		parked(b, dir, n, first, over)
		l, perSecond := resume(b, dir, n)
		report(b, "turns", l.begun)
		report(b, "rows", l.read)
		report(b, "timers", timers)
		last := len(timers) - 1
		b.ReportMetric(float64(l.begun[n*99/100])/float64(timers[n*99/100]), "p99-ratio")
		b.ReportMetric(float64(l.begun[last])/float64(timers[last]), "max-ratio")
		b.ReportMetric(perSecond, "whole-turns/s")
	}
}

// BenchmarkResumeLag is how late 10,000 turns due over 10 s begin to run, beside bare time.AfterFunc.
func BenchmarkResumeLag(b *testing.B) { against(b, 10_000, 10*time.Second) }

// BenchmarkResumeBurst is how long it takes until 10,000 turns due at one instant run, likewise.
func BenchmarkResumeBurst(b *testing.B) { against(b, 10_000, 0) }
