package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

const testToken = "the-token-of-the-tests"

// fakeHouse is an engine that works on the real store and never runs a turn by itself.
type fakeHouse struct {
	store *store.Store

	mu    sync.Mutex
	held  map[store.ID]store.Time // turns that wait inside a hold
	shape engine.Shape
	ready error
	fail  error // of everything
	said  []string
	in    []engine.Incoming
	fig   engine.Figures
}

func (f *fakeHouse) Ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready
}

func (f *fakeHouse) Receive(_ context.Context, in engine.Incoming) (store.Admitted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return store.Admitted{}, f.fail
	}
	if in.Bot != "ada" && in.Bot != "bob" {
		return store.Admitted{}, engine.ErrNoBot
	}
	f.in = append(f.in, in)
	return f.store.Admit(store.Admission{
		At: store.At(time.Now()), Bot: in.Bot, Key: in.Key, Kind: "message", Surface: in.Surface, Channel: in.Channel, Thread: in.Thread,
		Title: in.Title, Person: in.Person, Name: in.Name, Text: in.Text, Lane: cmp.Or(in.Lane, "durable"), Own: in.Own, Command: in.Command,
	})
}

// lastIn is what was received last.
func (f *fakeHouse) lastIn() engine.Incoming {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.in[len(f.in)-1]
}

func (f *fakeHouse) Regenerate(_ context.Context, o engine.Order) (store.Turn, error) {
	return f.again(o, "again")
}

func (f *fakeHouse) EditMessage(_ context.Context, o engine.Order, text string) (store.Turn, error) {
	return f.again(o, text)
}

// again makes a turn that takes the place of another.
func (f *fakeHouse) again(o engine.Order, text string) (store.Turn, error) {
	t, err := f.ordered(o)
	if err != nil {
		return t, err
	}
	a, err := f.store.Admit(store.Admission{
		At: store.At(time.Now()), Bot: t.Bot, Key: "again:" + o.Command.ID, Kind: "message", Surface: t.Surface, Channel: t.Channel, Person: t.Person, Text: text,
		Lane: t.Lane, Supersedes: t.ID, Command: o.Command,
	})
	if err != nil {
		return t, err
	}
	return f.store.Turn(a.Turn)
}

func (f *fakeHouse) Decide(_ context.Context, d engine.Decision) (store.Turn, error) {
	return f.store.Decide(store.Decision{Approval: d.Approval, At: store.At(time.Now()), Allow: d.Allow, Command: d.Command})
}

func (f *fakeHouse) CallsOf(t store.Turn) ([]engine.CallShape, *engine.ApprovalShape, error) {
	return (&engine.Engine{Parts: engine.Parts{Store: f.store}}).CallsOf(t)
}

func (f *fakeHouse) Ack(_ context.Context, alert store.ID, c *store.Command) error {
	return f.store.AckAlert(alert, store.At(time.Now()), c)
}

func (f *fakeHouse) Providers() []engine.ProviderShape { return f.Shape().Providers }

func (f *fakeHouse) Figures() engine.Figures {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fig
}

func (f *fakeHouse) Stop(_ context.Context, o engine.Order) (store.Turn, error) {
	t, err := f.ordered(o)
	if err != nil {
		return t, err
	}
	return f.store.SettleTurn(store.Settled{Turn: o.Turn, At: store.At(time.Now()), Outcome: store.Cancelled, Text: o.Say, Command: o.Command})
}

func (f *fakeHouse) Cancel(ctx context.Context, o engine.Order) (store.Turn, error) {
	f.note("cancel " + o.Say)
	return f.Stop(ctx, o)
}

func (f *fakeHouse) Resume(_ context.Context, o engine.Order) (store.Turn, error) {
	t, err := f.ordered(o)
	if err != nil {
		return t, err
	}
	f.mu.Lock()
	until := f.held[o.Turn]
	f.mu.Unlock()
	if until != 0 {
		t.RetryAt = until
		return t, engine.ErrHeld
	}
	return f.store.WakeTurn(store.Wake{Turn: o.Turn, At: store.At(time.Now()), NewEpisode: true, Command: o.Command})
}

func (f *fakeHouse) ordered(o engine.Order) (store.Turn, error) {
	if f.fail != nil {
		return store.Turn{}, f.fail
	}
	t, err := f.store.Turn(o.Turn)
	if err == nil && o.By != "" && o.By != t.Person {
		return t, engine.ErrNotYours
	}
	if err == nil && o.IfVersion != 0 && o.IfVersion != t.Version {
		return t, engine.ErrVersion
	}
	return t, err
}

func (f *fakeHouse) Pause(_ context.Context, target string, c *store.Command) error {
	return f.store.SetMeta("paused", target, c)
}

func (f *fakeHouse) Unpause(_ context.Context, _ string, c *store.Command) error {
	return f.store.SetMeta("paused", "", c)
}

func (f *fakeHouse) Release(_ context.Context, model string, _ *store.Command) error {
	if model != "demo/echo" {
		return store.ErrNotFound
	}
	f.note("release " + model)
	return nil
}

func (f *fakeHouse) Schedules() ([]store.Schedule, error) { return f.store.Schedules() }

func (f *fakeHouse) RunSchedule(_ context.Context, name string, c *store.Command) (store.Turn, error) {
	s, err := f.store.Schedule(name)
	if err != nil {
		return store.Turn{}, err
	}
	now := store.At(time.Now())
	a, err := f.store.Admit(store.Admission{
		At: now, Bot: s.Bot, Key: "run:" + c.ID, Kind: "tick", Surface: s.Surface, Channel: s.Channel, Person: s.Person, Text: s.Prompt, Lane: "durable", Command: c,
		Tick: &store.Tick{Schedule: s.ID},
	})
	if err != nil {
		return store.Turn{}, err
	}
	return f.store.Turn(a.Turn)
}

func (f *fakeHouse) PauseSchedule(_ context.Context, name string, paused bool, c *store.Command) error {
	s, err := f.store.Schedule(name)
	if err != nil {
		return err
	}
	return f.store.PauseSchedule(name, paused, s.Next, 0, store.At(time.Now()), c)
}

func (f *fakeHouse) DeleteSchedule(_ context.Context, name string, c *store.Command) error {
	return f.store.DeleteSchedule(name, store.At(time.Now()), c)
}

func (f *fakeHouse) Shape() engine.Shape {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shape
}

func (f *fakeHouse) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, what)
}

// wait sends a turn to wait until a moment.
func (f *fakeHouse) wait(t *testing.T, id store.ID, at time.Time) {
	t.Helper()
	now := store.At(time.Now())
	_, err := f.store.WaitTurn(store.Waiting{
		Turn: id, At: now, State: store.Parked, Park: true, FirstFailed: now,
		Wait:   store.Wait{RetryAt: store.At(at), From: "backoff", MS: 2000},
		Reason: store.Reason{Why: "failure", Class: "server", Status: 503, Provider: "demo", Model: "echo", Text: "demo does not answer"},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rig is a server that listens, with a real store behind it.
type rig struct {
	*Server
	house *fakeHouse
	base  string // http://127.0.0.1:PORT
	port  string
	stop  func() error // ends Run and returns what it returned
	log   *bytes.Buffer
	slog  *slog.Logger
}

// newRig starts one; change may alter the config.
func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	st, err := store.Open(store.Config{Dir: t.TempDir(), Synchronous: "normal"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := Default()
	c.Token, c.Listen = testToken, l.Addr().String()
	if change != nil {
		change(&c)
	}
	var log bytes.Buffer
	house := &fakeHouse{store: st, held: map[store.ID]store.Time{}}
	tail := NewLog(slog.NewTextHandler(&log, nil))
	s, err := New(c, Parts{
		Store: st, Engine: house, Live: NewLive(), Log: slog.New(tail), Tail: tail, Location: time.UTC, Version: "1.2.3",
		Bots: []Bot{{Name: "ada", Models: []string{"demo/echo"}}}, Demo: true, Listen: l,
		Pages: fstest.MapFS{
			"index.html":     {Data: []byte(`<!doctype html><link href="/assets/app.css"><script src="/assets/app.js"></script>` + strings.Repeat(" ", 500))},
			"app.js":         {Data: []byte("console.log(1);" + strings.Repeat("\n", 500))},
			"app.css":        {Data: []byte("body{}")},
			"SOURCES.sha256": {Data: []byte("x")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	_, port, _ := net.SplitHostPort(s.Addr())
	return &rig{Server: s, house: house, base: "http://127.0.0.1:" + port, port: port, stop: stop, log: &log, slog: slog.New(tail)}
}

// request is one exchange with a server, as tests write it.
type request struct {
	method, path  string
	host, origin  string // "" = our own host; no Origin
	cookie, token string
	body          string
	header        map[string]string
}

// do sends it and returns status, headers and body.
func (g *rig) do(t *testing.T, q request) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(q.method, g.base+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if q.host != "" {
		r.Host = q.host
	}
	if q.origin != "" {
		r.Header.Set("Origin", q.origin)
	}
	if q.cookie != "" {
		r.Header.Set("Cookie", "holdfast_"+g.port+"="+q.cookie)
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	for k, v := range q.header {
		r.Header.Set(k, v)
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

// login opens a session and returns its cookie's value.
func (g *rig) login(t *testing.T) string {
	t.Helper()
	status, header, body := g.do(t, request{method: "POST", path: "/login", origin: g.base, body: `{"secret":"` + testToken + `"}`})
	if status != 200 {
		t.Fatalf("login: %d %s", status, body)
	}
	value, _, _ := strings.Cut(strings.TrimPrefix(header.Get("Set-Cookie"), "holdfast_"+g.port+"="), ";")
	return value
}

// command posts one with the token.
func (g *rig) command(t *testing.T, body string) (int, answer) {
	t.Helper()
	status, _, text := g.do(t, request{method: "POST", path: "/api/v1/commands", token: testToken, body: body})
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, a
}

// answer is what a command may be answered with.
type answer struct {
	ID        string
	OK        bool
	Turn      json.RawMessage // an id, or with an error the turn itself
	Chat      *string
	Seq       int64
	Duplicate bool
	Count     *int
	Turns     []string
	Error     struct{ Code, Message string }
}

func (a answer) turn(t *testing.T) store.ID {
	t.Helper()
	var text string
	if err := json.Unmarshal(a.Turn, &text); err != nil {
		t.Fatalf("turn %s: %v", a.Turn, err)
	}
	id, err := store.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// say sends a message and returns its turn.
func (g *rig) say(t *testing.T, id, chat, text string) store.ID {
	t.Helper()
	b, _ := json.Marshal(map[string]any{"id": id, "cmd": "message.send", "args": map[string]string{"chat": chat, "text": text}})
	status, a := g.command(t, string(b))
	if status != 200 {
		t.Fatalf("message.send: %d %+v", status, a.Error)
	}
	return a.turn(t)
}

var errBroken = errors.New("broken")
