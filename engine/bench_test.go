package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// lateness notes when each turn's run has begun, by the log's line for it.
type lateness struct {
	slog.Handler
	mu    sync.Mutex
	began map[string]time.Time
	all   chan struct{}
	want  int
}

func (l *lateness) Enabled(context.Context, slog.Level) bool { return true }
func (l *lateness) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "turn resumed" {
		return nil
	}
	now := time.Now()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "turn" {
			l.mu.Lock()
			l.began[a.Value.String()] = now
			if len(l.began) == l.want {
				close(l.all)
			}
			l.mu.Unlock()
			return false
		}
		return true
	})
	return nil
}

// parked fills a store with turns that are due over a while, and returns when each is.
func parked(b *testing.B, dir string, n int, first time.Time, over time.Duration) map[string]time.Time {
	b.Helper()
	s, err := store.Open(store.Config{Dir: dir, Synchronous: "normal"}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	due := make(map[string]time.Time, n)
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range 32 {
		all.Go(func() {
			for i := w; i < n; i += 32 {
				a, err := s.Admit(store.Admission{At: store.At(time.Now()), Bot: "bot", Key: fmt.Sprint(i), Kind: "message", Surface: "web", Channel: fmt.Sprint(i), Person: "p", Text: "hello", Lane: "durable"})
				at := store.At(first.Add(over * time.Duration(i) / time.Duration(n)))
				if err == nil {
					_, err = s.WaitTurn(store.Waiting{Turn: a.Turn, At: store.At(time.Now()), State: store.Parked, Wait: store.Wait{RetryAt: at, From: "backoff", MS: int64(at - store.At(time.Now()))}, FirstFailed: store.At(time.Now())})
				}
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				due[a.Turn.String()] = at.Go()
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return due
}

// lags runs an engine over it and returns how late each run began, sorted; none may be early.
func lags(b *testing.B, dir string, due map[string]time.Time, workers int) []time.Duration {
	b.Helper()
	s, err := store.Open(store.Config{Dir: dir, Synchronous: "full"}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l := &lateness{Handler: slog.DiscardHandler, began: map[string]time.Time{}, all: make(chan struct{}), want: len(due)}
	p := Parts{
		Config: Default(), Retry: ladder.Default(), Bots: []Bot{{Name: "bot", Models: []string{"fake/one"}, ContextTokens: 24000}},
		Providers: map[string]Provider{"fake": {Provider: &fakeModels{}, Config: llm.Config{Concurrency: workers}}},
		Surfaces:  []Surface{&fakeSurface{name: "web", local: true}}, Store: s, Log: slog.New(l),
	}
	p.Config.Workers, p.Config.StopGrace = workers, 0
	e, err := New(p)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	<-l.all
	cancel()
	running.Wait()
	var late []time.Duration
	for turn, at := range due {
		d := l.began[turn].Sub(at)
		if d < 0 {
			b.Errorf("turn %s began %v early", turn, -d)
		}
		late = append(late, d)
	}
	slices.Sort(late)
	return late
}

// afterFuncs is the same with bare timers.
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
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(late[len(late)/2]), name+"-p50-ms")
	b.ReportMetric(ms(late[len(late)*99/100]), name+"-p99-ms")
	b.ReportMetric(ms(late[len(late)-1]), name+"-max-ms")
}

// BenchmarkResumeLag is how late 10,000 turns due over 10 s begin to run, beside bare time.AfterFunc.
func BenchmarkResumeLag(b *testing.B) {
	const n, over = 10_000, 10 * time.Second
	for b.Loop() {
		first := time.Now().Add(12 * time.Second)
		dir := b.TempDir()
		due := parked(b, dir, n, first, over)
		report(b, "turns", lags(b, dir, due, 32))
		report(b, "timers", afterFuncs(n, time.Now().Add(time.Second), over))
	}
}

// BenchmarkResumeBurst is how long it takes until 10,000 turns due at one instant run.
func BenchmarkResumeBurst(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		first := time.Now().Add(12 * time.Second)
		dir := b.TempDir()
		due := parked(b, dir, n, first, 0)
		report(b, "turns", lags(b, dir, due, n))
		report(b, "timers", afterFuncs(n, time.Now().Add(time.Second), 0))
	}
}
