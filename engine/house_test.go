package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// house is a whole engine on a real store inside a bubble of fake time, with a scripted provider
// and a surface that shows what is stored.
type house struct {
	t      *testing.T
	file   *shelved
	dir    string // of another file, which is opened instead
	parts  Parts
	models *fakeModels
	web    *fakeSurface
	store  *store.Store
	engine *Engine
	log    *logLines
	stop   func()
	offset atomic.Int64 // of the wall clock against the bubble's
	said   int
}

// inHouse runs a test in a bubble.
func inHouse(t *testing.T, configure func(*Parts), f func(h *house)) {
	t.Helper()
	file, err := kept.take()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, file: file, models: &fakeModels{}, log: &logLines{}}
		h.web = &fakeSurface{name: "web", local: true}
		h.parts = Parts{
			Config: Default(), Retry: ladder.Default(), Alerts: DefaultAlerts(), Bots: []Bot{{Name: "bot", Models: []string{"fake/one"}, MaxSteps: 30, ContextTokens: 24000}},
			Providers: map[string]Provider{"fake": {Provider: h.models, Config: llm.Config{Concurrency: 4}, KeyID: "k"}},
			Surfaces:  []Surface{h.web}, Log: slog.New(h.log), Location: time.UTC,
			Wall: func() time.Time { return time.Now().Add(time.Duration(h.offset.Load())) },
		}
		if configure != nil {
			configure(&h.parts)
		}
		h.start()
		f(h)
		h.shutdown()
	})
	kept.give(file) // not after a failure that has left it open
}

// start opens the store and runs the engine.
func (h *house) start() {
	h.t.Helper()
	open := func(log *slog.Logger) (*store.Store, error) { return h.file.Open("normal", log) }
	if h.dir != "" {
		open = func(log *slog.Logger) (*store.Store, error) {
			return store.Open(store.Config{Dir: h.dir, Synchronous: "normal"}, log)
		}
	}
	s, err := open(slog.New(slog.DiscardHandler))
	if err != nil {
		h.t.Fatal(err)
	}
	h.parts.Store = s
	e, err := New(h.parts)
	if err != nil {
		h.t.Fatal(err)
	}
	h.store, h.engine = s, e
	ctx, cancel := context.WithCancel(h.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	h.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Error(err)
		}
		if err := s.Close(); err != nil {
			h.t.Error(err)
		}
	}
	synctest.Wait()
}

// shutdown stops it cleanly; crash cuts everything that runs, which then writes nothing, as a kill does.
func (h *house) shutdown() {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

func (h *house) crash() {
	h.engine.Config.StopGrace = 0
	h.shutdown()
}

// say sends a message of a person and returns its turn.
func (h *house) say(person, text string) store.ID {
	h.t.Helper()
	return h.sayIn("room", person, text)
}

func (h *house) sayIn(channel, person, text string) store.ID {
	h.t.Helper()
	h.said++
	a, err := h.engine.Receive(h.t.Context(), Incoming{Bot: "bot", Surface: "web", Channel: channel, Key: fmt.Sprint("m", h.said), Person: person, Text: text})
	if err != nil {
		h.t.Fatal(err)
	}
	synctest.Wait()
	return a.Turn
}

// turn reads one.
func (h *house) turn(id store.ID) store.Turn {
	h.t.Helper()
	synctest.Wait()
	t, err := h.store.Turn(id)
	if err != nil {
		h.t.Fatal(err)
	}
	return t
}

// wait lets fake time pass.
func (h *house) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// settled waits until a turn is done, at most for the given time.
func (h *house) settled(id store.ID, atMost time.Duration) store.Turn {
	h.t.Helper()
	look := max(100*time.Millisecond, atMost/600)
	for end := time.Now().Add(atMost); time.Now().Before(end); h.wait(look) {
		if t := h.turn(id); t.State == store.Done {
			return t
		}
	}
	t := h.turn(id)
	h.t.Fatalf("turn is %s after %v: %+v\nlog:\n%s", t.State, atMost, t, h.log)
	return t
}

// want fails unless a turn is in a state.
func (h *house) want(id store.ID, state store.State) store.Turn {
	h.t.Helper()
	t := h.turn(id)
	if t.State != state {
		h.t.Fatalf("turn is %s, want %s: %+v\nlog:\n%s", t.State, state, t, h.log)
	}
	return t
}

// transcript is the room's messages as "role kind: text" lines.
func (h *house) transcript() []string {
	h.t.Helper()
	synctest.Wait()
	c, err := h.store.Chat("room")
	if err != nil {
		h.t.Fatal(err)
	}
	ms, err := h.store.Messages(c.ID, 0, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	var lines []string
	for _, m := range ms {
		lines = append(lines, m.Role+" "+m.Kind+": "+m.Text)
	}
	return lines
}

// fakeModels is a provider that does what a script says, one word per request: "ok", "ok:TEXT",
// a status ("503"), a status with a stated wait ("429/45s"), "cut" (content, then a broken stream),
// "error" (an overloaded event in the stream), "reset" (no answer), "silent" (no byte until the time-out),
// "hang" (content, then nothing until cancelled), "call:A+B" (calls of tools). The last word is repeated for ever.
type fakeModels struct {
	mu     sync.Mutex
	script []string
	by     map[string][]string // by model, instead of script
	seen   []seen
	live   int
	most   int
	took   time.Duration // how long an answer takes
}

type seen struct {
	at    time.Time
	model string
	body  string
}

func (f *fakeModels) Prepare(r llm.Request) (llm.Prepared, error) {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
	}
	return llm.Prepared{Model: r.Model, Body: []byte(b.String())}, nil
}

func (f *fakeModels) play(words ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = words
}

func (f *fakeModels) playFor(model string, words ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = map[string][]string{}
	}
	f.by[model] = words
}

func (f *fakeModels) next(p llm.Prepared) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, seen{time.Now(), p.Model, string(p.Body)})
	f.live++
	f.most = max(f.most, f.live)
	script := f.script
	if s, ok := f.by[p.Model]; ok {
		script = s
	}
	word := "ok"
	if len(script) > 0 {
		word = script[0]
	}
	if len(script) > 1 {
		if _, ok := f.by[p.Model]; ok {
			f.by[p.Model] = script[1:]
		} else {
			f.script = script[1:]
		}
	}
	return word
}

func (f *fakeModels) requests() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seen(nil), f.seen...)
}

func (f *fakeModels) Stream(ctx context.Context, p llm.Prepared) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		word, arg, _ := strings.Cut(f.next(p), ":")
		defer func() { f.mu.Lock(); f.live--; f.mu.Unlock() }()
		fail := func(fl llm.Failure) { yield(llm.Event{}, &fl) }
		head := func() bool { return yield(llm.Event{Head: &llm.Head{Status: 200, RequestID: "req"}}, nil) }
		pause := func(d time.Duration) bool {
			select {
			case <-ctx.Done():
				fail(llm.Failure{Class: llm.Canceled, Text: context.Cause(ctx).Error()})
				return false
			case <-time.After(d):
				return true
			}
		}
		if f.took > 0 && !pause(f.took) {
			return
		}
		switch word {
		case "ok":
			if arg == "" {
				arg = "answer"
			}
			if head() && yield(llm.Event{Text: arg}, nil) {
				yield(llm.Event{Finish: &llm.Finish{Reason: "stop", TokensIn: 3, TokensOut: 1}}, nil)
			}
		case "call":
			if !head() {
				return
			}
			for i, name := range strings.Split(arg, "+") {
				if !yield(llm.Event{Call: &llm.Call{ID: fmt.Sprint("c", i+1), Name: name, Arguments: []byte("{}")}}, nil) {
					return
				}
			}
			if ctx.Err() == nil {
				yield(llm.Event{Finish: &llm.Finish{Reason: "tool_calls", TokensIn: 3, TokensOut: 1}}, nil)
			}
		case "cut":
			if head() && yield(llm.Event{Text: "half an ans"}, nil) {
				fail(llm.Failure{Class: llm.Network, Transient: true, Status: 200, Begun: true, Text: "the stream broke"})
			}
		case "error":
			if head() {
				fail(llm.Failure{Class: llm.Overloaded, Transient: true, Status: 200, Begun: true, Text: "overloaded"})
			}
		case "reset":
			fail(llm.Failure{Class: llm.Network, Transient: true, Text: "connection reset by peer"})
		case "silent":
			if pause(5 * time.Minute) {
				fail(llm.Failure{Class: llm.Timeout, Transient: true, Silent: true, Text: "no byte in time"})
			}
		case "hang":
			if head() && yield(llm.Event{Text: "so far "}, nil) {
				pause(24 * time.Hour)
			}
		default:
			fail(statusFailure(word))
		}
	}
}

// statusFailure reads "503" or "429/45s".
func statusFailure(word string) llm.Failure {
	status, stated, hasStated := strings.Cut(word, "/")
	fl := llm.Failure{Transient: true, Text: status, HasStated: hasStated}
	fmt.Sscan(status, &fl.Status)
	fl.Class = map[int]llm.Class{429: llm.RateLimit, 503: llm.Overloaded, 401: llm.Auth, 400: llm.Refused, 402: llm.Quota, 413: llm.TooLarge}[fl.Status]
	if fl.Class == "" {
		fl.Class = llm.Server
	}
	fl.Transient = fl.Status == 429 || fl.Status >= 500
	if limit, ok := strings.CutPrefix(stated, "limit"); ok { // "413/limit100": too large, and the limit in tokens
		fl.HasStated = false
		fmt.Sscan(limit, &fl.Limit)
	} else if hasStated {
		fl.Stated, _ = time.ParseDuration(stated)
	}
	return fl
}

// fakeSurface shows what is stored, or keeps messages like a chat platform.
type fakeSurface struct {
	name  string
	local bool
	mu    sync.Mutex
	fail  []error // of the next calls
	posts []string
	calls []string
	made  []handed
	on    map[store.ID]bool
	draft string
	tries []int         // of the posts handed over
	hold  chan struct{} // a post takes until it is closed, or the engine stops
	holds string        // only in channels that begin so
	held  int           // posts that take so long now
	most  int           // … at once, so far

	mention func([]string) string
}

// handed is a post as it was handed over, in order.
type handed struct {
	edit bool
	post store.Post
}

// called, shown and tried are what has been asked of it, the messages that stand there, and the tries
// that posts came with.
func (f *fakeSurface) called() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}
func (f *fakeSurface) shown() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.posts)
}
func (f *fakeSurface) tried() []int { f.mu.Lock(); defer f.mu.Unlock(); return slices.Clone(f.tries) }

func (f *fakeSurface) Name() string   { return f.name }
func (f *fakeSurface) Traits() Traits { return Traits{Local: f.local, Mention: f.mention} }
func (f *fakeSurface) Run(ctx context.Context, e *Engine) error {
	e.SurfaceState(f.name, "connected", "")
	<-ctx.Done()
	return nil
}
func (f *fakeSurface) Draft(_ Place, _ store.ID, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.draft = text
}
func (f *fakeSurface) Working(_ Place, turn store.ID, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.on == nil {
		f.on = map[store.ID]bool{}
	}
	f.on[turn] = on
}
func (f *fakeSurface) failure() error {
	if len(f.fail) == 0 {
		return nil
	}
	err := f.fail[0]
	f.fail = f.fail[1:]
	return err
}
func (f *fakeSurface) Post(ctx context.Context, to Place, p store.Post) (string, error) {
	f.mu.Lock()
	f.tries = append(f.tries, p.Tries)
	hold := f.hold
	if !strings.HasPrefix(to.Channel, f.holds) {
		hold = nil
	}
	if hold != nil {
		f.held++
		f.most = max(f.most, f.held)
	}
	f.mu.Unlock()
	if hold != nil {
		defer func() { f.mu.Lock(); f.held--; f.mu.Unlock() }()
		select {
		case <-hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "post "+p.Text)
	f.made = append(f.made, handed{false, p})
	if err := f.failure(); err != nil {
		return "", err
	}
	f.posts = append(f.posts, p.Text)
	return fmt.Sprint(len(f.posts)), nil
}
func (f *fakeSurface) Edit(_ context.Context, _ Place, p store.Post) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "edit "+p.Text)
	f.made = append(f.made, handed{true, p})
	if err := f.failure(); err != nil {
		return err
	}
	var n int
	if _, err := fmt.Sscan(p.Handle, &n); err != nil || n > len(f.posts) {
		return errors.New("no such message")
	}
	f.posts[n-1] = p.Text
	return nil
}

// logLines keeps what was logged, as text.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) Enabled(context.Context, slog.Level) bool { return true }
func (l *logLines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logLines) WithGroup(string) slog.Handler            { return l }
func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Level.String() + " " + r.Message)
	r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&b, " %s=%v", a.Key, a.Value); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, b.String())
	return nil
}
func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// with returns the lines with a message.
func (l *logLines) with(message string) []string {
	var found []string
	for s := range strings.SplitSeq(l.String(), "\n") {
		if strings.Contains(s, message) {
			found = append(found, s)
		}
	}
	return found
}
