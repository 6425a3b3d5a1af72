package surfacetest

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine"
	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// staleAfter is when the house asks whether an owed question is still wanted: sooner than usual, since
// a surface has something to do in every second until then.
const staleAfter = 90 * time.Minute

// House is an engine with a surface over a fake platform.
type House struct {
	T      *testing.T
	Fake   Fake
	Model  *Model
	Engine *engine.Engine
	Store  *store.Store

	dir  string
	name string // of the surface
	log  logs
	stop func()

	mu  sync.Mutex
	die string // the crash point at which the process dies
}

// Start is a new process: store, surface and engine.
func (h *House) Start() {
	h.T.Helper()
	st, err := store.Open(store.Config{Dir: h.dir, Synchronous: "normal"}, slog.New(slog.DiscardHandler))
	if err != nil {
		h.T.Fatal(err)
	}
	surface := h.Fake.Surface()
	ctx, cancel := context.WithCancel(h.T.Context())
	bot := engine.DefaultBot()
	bot.Models = []string{"script/one"}
	retry := ladder.Default()
	retry.StaleAfter = staleAfter
	e, err := engine.New(engine.Parts{
		Config: engine.Config{Workers: 8, Durable: true, Merge: true, TurnDeadline: time.Hour}, Retry: retry, Alerts: engine.DefaultAlerts(), Bots: []engine.Bot{bot},
		Providers: map[string]engine.Provider{"script": {Provider: h.Model, Config: llm.Config{Concurrency: 4}, KeyID: "k"}},
		Surfaces:  []engine.Surface{surface}, Store: st, Log: slog.New(&h.log), Location: time.UTC,
		Crash: func(point string) { h.crash(point, cancel) },
	})
	if err != nil {
		h.T.Fatal(err)
	}
	h.Engine, h.Store, h.name = e, st, surface.Name()
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	h.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			h.T.Error(err)
		}
		if err := st.Close(); err != nil {
			h.T.Error(err)
		}
	}
	h.Wait(time.Second)
}

// Stop ends the process; what runs is cut and writes nothing more, as with a kill.
func (h *House) Stop() {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
	synctest.Wait()
}

// DieAt lets the process die the next time the engine comes to a point: its goroutine ends there and
// nothing is sent or received any more.
func (h *House) DieAt(point string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.die = point
}

func (h *House) crash(point string, kill func()) {
	h.mu.Lock()
	now := h.die == point
	if now {
		h.die = ""
	}
	h.mu.Unlock()
	if now {
		kill()
		runtime.Goexit()
	}
}

// Wait lets time pass.
func (h *House) Wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Turns are the turns so far, oldest first.
func (h *House) Turns() []store.Turn {
	h.T.Helper()
	ts, _, err := h.Store.Turns(store.Filter{Limit: 1000})
	if err != nil {
		h.T.Fatal(err)
	}
	for i, j := 0, len(ts)-1; i < j; i, j = i+1, j-1 {
		ts[i], ts[j] = ts[j], ts[i]
	}
	return ts
}

// Want fails unless a thread shows exactly these messages; each is a part of the text.
func (h *House) Want(thread string, want ...string) []Message {
	h.T.Helper()
	got := h.Fake.Shown(thread)
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = strings.Contains(got[i].Text, want[i])
	}
	if !ok {
		h.T.Fatalf("thread %s shows %s, want %q\nlog:\n%s", thread, describe(got), want, &h.log)
	}
	return got
}

// WantAlert fails unless operators are told something of a kind, with that part in it.
func (h *House) WantAlert(kind, part string) {
	h.T.Helper()
	open, err := h.Store.OpenAlerts()
	for _, a := range open {
		if a.Kind == kind && strings.Contains(a.Text, part) {
			return
		}
	}
	h.T.Errorf("alerts %+v, %v; want %s with %q", open, err, kind, part)
}

func describe(ms []Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d messages", len(ms))
	for _, m := range ms {
		fmt.Fprintf(&b, "\n\t%.200q, %d edits, pings %q", m.Text, m.Edits, m.Pings)
	}
	return b.String()
}

// Model does what a script says, one word per request: "ok:TEXT" answers, "503" and "429/45s" fail,
// the latter with a stated wait; "slow:TEXT" answers after 20 s. The last word is repeated for ever.
type Model struct {
	mu     sync.Mutex
	script []string
	asked  []string
}

// Play sets the script.
func (m *Model) Play(words ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = words
}

// Asked lists the requests so far: the last thing said to the model.
func (m *Model) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

// Prepare implements llm.Provider.
func (m *Model) Prepare(r llm.Request) (llm.Prepared, error) {
	return llm.Prepared{Model: r.Model, Body: []byte(r.Messages[len(r.Messages)-1].Text)}, nil
}

// Stream implements llm.Provider.
func (m *Model) Stream(ctx context.Context, p llm.Prepared) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m.mu.Lock()
		m.asked = append(m.asked, string(p.Body))
		word := "ok:answer"
		if len(m.script) > 0 {
			word = m.script[0]
			m.script = m.script[min(1, len(m.script)-1):]
		}
		m.mu.Unlock()
		kind, text, _ := strings.Cut(word, ":")
		if kind == "slow" {
			select {
			case <-ctx.Done():
				yield(llm.Event{}, &llm.Failure{Class: llm.Canceled, Text: "cut"})
				return
			case <-time.After(20 * time.Second):
			}
			kind = "ok"
		}
		if kind != "ok" {
			f := failureOf(kind)
			yield(llm.Event{}, &f)
			return
		}
		text = strings.ReplaceAll(text, "$said", string(p.Body))
		if yield(llm.Event{Head: &llm.Head{Status: 200}}, nil) && yield(llm.Event{Text: text}, nil) {
			yield(llm.Event{Finish: &llm.Finish{Reason: "stop"}}, nil)
		}
	}
}

func failureOf(word string) llm.Failure {
	status, stated, has := strings.Cut(word, "/")
	f := llm.Failure{Class: llm.Overloaded, Transient: true, Text: status, HasStated: has}
	_, _ = fmt.Sscan(status, &f.Status)
	switch f.Status {
	case 429:
		f.Class = llm.RateLimit
	case 400:
		f.Class, f.Transient = llm.Refused, false
	}
	f.Stated, _ = time.ParseDuration(stated)
	return f
}

// logs keeps what was logged, for failures to show.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }
func (l *logs) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logs) WithGroup(string) slog.Handler            { return l }
func (l *logs) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", r.Time.Format("15:04:05.000"), r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&b, " %s=%v", a.Key, a.Value); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, b.String())
	return nil
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-60):], "\n")
}
