//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/engine/tool"
)

const secret = "hunter2-hunter2"

// logged is a log that can be read while it is written.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// playing is a Server that runs with a child process of the kind.
type playing struct {
	*Server
	dir string // where the peer writes down its calls
	log *logged
}

// play runs a server; the test fails if a goroutine of it is left afterwards.
func play(t *testing.T, kind string) *playing {
	t.Helper()
	dir := t.TempDir()
	return run(t, dir, tool.Config{Name: "peer", Command: []string{os.Args[0]}, Approve: "writes",
		Env: map[string]string{peerVar: kind, dirVar: dir, "SECRET": secret}})
}

func run(t *testing.T, dir string, c tool.Config) *playing {
	t.Helper()
	log := &logged{}
	p := &playing{New(c, Options{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "test"}), dir, log}
	p.grace, p.pause = 200*time.Millisecond, 100*time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		nothingLeft(t)
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds a secret:\n%s", log)
		}
	})
	return p
}

// nothingLeft waits until no goroutine of the room or of its library is left, but for servers of the
// test's own.
func nothingLeft(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		var left []string
		for i, one := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			theirs := strings.Contains(one, "streamableServer") || strings.Contains(one, "ServerSession") || strings.Contains(one, "StreamableHTTPHandler")
			if i > 0 && !theirs && (strings.Contains(one, "go-sdk/") || strings.Contains(one, "tool/mcp.(*")) {
				left = append(left, one)
			}
		}
		if left == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("goroutines are left:\n%s", strings.Join(left, "\n\n"))
		}
	}
}

// calls are what the peer has written down.
func (p *playing) calls(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// tool finds one by the model's name.
func (p *playing) tool(t *testing.T, name string) tool.Tool {
	t.Helper()
	tools, err := p.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

// call calls a tool and wants it to answer.
func (p *playing) call(t *testing.T, name, arguments string) tool.Result {
	t.Helper()
	r, err := p.tool(t, name).Call(t.Context(), tool.Call{Key: "turn7/2", Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// until waits for a state.
func (p *playing) until(t *testing.T, what string, there func() bool) {
	t.Helper()
	for late := time.After(20 * time.Second); ; {
		p.mu.Lock()
		ok, news := there(), p.news
		p.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("never: %s\n%s", what, p.log)
		}
	}
}

func TestToolsAndWhatTheyMayDo(t *testing.T) {
	p := play(t, "server")
	tools, err := p.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range tools {
		s := tool.Spec()
		got[s.Name] = fmt.Sprint(s.ReadOnly, s.Idempotent, s.Destructive, s.NeedsApproval(), s.Repeatable())
	}
	want := map[string]string{"peer_look": "true false false false true", "peer_set": "false true false true true"}
	for _, name := range []string{"write", "slow", "was_cancelled", "crash", "grow", "fail", "orphan"} {
		want["peer_"+name] = "false false true true false" // no annotations: a write
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read-only, idempotent, destructive, approval, repeatable:\ngot  %v\nwant %v", got, want)
	}
	if s := p.tool(t, "peer_look").Spec(); s.Title != "Look at it" || s.Description != "Does look." || string(s.Schema) != `{"properties":{},"type":"object"}` {
		t.Errorf("%+v %s", s, s.Schema)
	}
	if state, since, n, problem := p.Status(); state != Connected || since.IsZero() || n != 9 || problem != "" {
		t.Error(state, since, n, problem)
	}
}

func TestCall(t *testing.T) {
	p := play(t, "server")
	if r := p.call(t, "peer_look", `{"a":1}`); r != (tool.Result{Text: "seen"}) {
		t.Error(r)
	}
	if r := p.call(t, "peer_write", ""); r.Text != "turn7/2" {
		t.Error("the idempotency key came as", r.Text)
	}
	if r := p.call(t, "peer_fail", `{}`); r != (tool.Result{Text: "no such note", Failed: true}) {
		t.Error(r)
	}
	if r := p.call(t, "peer_look", "null"); r != (tool.Result{Text: "seen"}) {
		t.Error(r)
	}
	if r := p.call(t, "peer_look", `[1]`); !r.Failed {
		t.Error("arguments that are no object were sent")
	}
	if got, want := p.calls(t), []string{`look {"a":1}`, "write {}", "fail {}", "look {}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	gone := &remote{server: p.Server, name: "gone", spec: tool.Spec{Name: "peer_gone"}}
	if r, err := gone.Call(t.Context(), tool.Call{}); err != nil || !r.Failed || !strings.Contains(r.Text, "refuses the call") {
		t.Error(r, err)
	}
	if !strings.Contains(p.log.String(), "serving with [hidden]") {
		t.Errorf("its standard error is not in the log:\n%s", p.log)
	}
}

// TestProgressAndCancel: what a server says of a call is heard, and it is told that nobody waits any more.
func TestProgressAndCancel(t *testing.T) {
	p := play(t, "server")
	ctx, cancel := context.WithCancel(t.Context())
	var heard []string
	_, err := p.tool(t, "peer_slow").Call(ctx, tool.Call{Progress: func(text string) { heard = append(heard, text); cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if want := []string{"reading[2J (3 of 10)"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if r := p.call(t, "peer_was_cancelled", ""); r.Text != "yes" {
		t.Error("the server was not told:", r)
	}
}

// TestCrashInACallP11: the call is made once, its outcome is unknown, and the server is there again for
// the next one. The list stands meanwhile. (P11)
func TestCrashInACallP11(t *testing.T) {
	p := play(t, "server")
	_, err := p.tool(t, "peer_crash").Call(t.Context(), tool.Call{})
	if err == nil || errors.Is(err, tool.ErrNotMade) || !strings.Contains(err.Error(), "broke off in the middle of the call: the program has ended with exit status 3") {
		t.Error(err)
	}
	p.until(t, "down", func() bool { return p.state == Down })
	if tools, err := p.Tools(t.Context()); err != nil || len(tools) != 9 {
		t.Error("while it is down:", len(tools), err)
	}
	if r := p.call(t, "peer_look", ""); r.Text != "seen" {
		t.Error(r)
	}
	if got, want := p.calls(t), []string{"crash {}", "look {}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if state, _, _, problem := p.Status(); state != Connected || problem != "" {
		t.Error(state, problem)
	}
}

func TestListChanges(t *testing.T) {
	p := play(t, "server")
	p.call(t, "peer_grow", "")
	p.until(t, "ten tools", func() bool { return len(p.tools) == 10 })
	if r := p.call(t, "peer_more", ""); r.Text != "more" {
		t.Error(r)
	}
}

// TestNothingIsLeftBehind: a program that its server has started, and that ends by nothing but a kill,
// ends with it.
func TestNothingIsLeftBehind(t *testing.T) {
	var pids [2]int
	t.Run("", func(t *testing.T) {
		p := play(t, "server")
		if _, err := fmt.Sscan(p.call(t, "peer_orphan", "").Text, &pids[0], &pids[1]); err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, 0); err != nil {
				t.Error(pid, err)
			}
		}
	})
	for _, pid := range pids {
		for deadline := time.Now().Add(5 * time.Second); alive(pid); runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is left", pid)
			}
		}
	}
}

// alive reports whether a process runs; a zombie that its new parent has not fetched yet does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestServersAskInVain: a server that greets on its standard output is understood, and what it asks of
// its client is declined as not offered, without its call coming to harm.
func TestServersAskInVain(t *testing.T) {
	p := play(t, "raw")
	want := "roots/list=-32601 sampling/createMessage=-32601 elicitation/create=-32601 ping=<nil>"
	got := strings.Fields(p.call(t, "peer_ask", "").Text)
	slices.Sort(got)
	wanted := strings.Fields(want)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		t.Errorf("got %q, want %q", got, wanted)
	}
	if !strings.Contains(p.log.String(), "Welcome to the raw peer!") {
		t.Errorf("the greeting is not in the log:\n%s", p.log)
	}
}

// TestOlderProtocol: a program that ends at the newer protocol's first message is started once more.
func TestOlderProtocol(t *testing.T) {
	p := play(t, "strict")
	if !strings.HasPrefix(p.tool(t, "peer_ask").Spec().Name, "peer_") || strings.Contains(p.log.String(), "is down") {
		t.Error(p.log)
	}
	if tools, err := New(p.c, Options{Log: p.Server.log}).Probe(t.Context()); err != nil || len(tools) != 1 {
		t.Error(tools, err)
	}
}

func TestProgramsThatDoNotServe(t *testing.T) {
	for _, c := range []struct {
		name    string
		command []string
		kind    string
		want    string
	}{
		{"dies", []string{os.Args[0]}, "dies", `the program has ended with exit status 7 after it wrote "no licence for [hidden]"`},
		{"not found", []string{"no-such-program-here"}, "", "the program no-such-program-here is not found; install it, or write its whole path in command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := run(t, "", tool.Config{Name: "peer", Command: c.command, Env: map[string]string{peerVar: c.kind, "SECRET": secret}})
			p.until(t, "down", func() bool { return p.state == Down && p.problem != "" })
			if _, _, _, problem := p.Status(); problem != c.want {
				t.Errorf("got  %s\nwant %s", problem, c.want)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := p.Tools(ctx); !errors.Is(err, context.Canceled) {
				t.Error("a wait longer than its context:", err)
			}
			if _, err := New(p.c, Options{Log: p.Server.log}).Probe(t.Context()); err == nil || err.Error() != c.want {
				t.Error(err)
			}
		})
	}
}

// TestMuteProgramIsKilled: one that neither answers nor ends when it is asked to does not hold up the stop.
func TestMuteProgramIsKilled(t *testing.T) {
	p := play(t, "mute")
	p.until(t, "connecting", func() bool { return p.state == Connecting })
}

// web serves a peer over streamable HTTP; crash cuts the connection of the call.
func web(t *testing.T, options *sdk.StreamableHTTPOptions) (url, dir string, server *httptest.Server) {
	t.Helper()
	dir = t.TempDir()
	peer := newPeer(dir, func() { server.CloseClientConnections() })
	server = httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return peer }, options))
	t.Cleanup(server.Close)
	return server.URL + "/mcp?token=" + secret, dir, server
}

func TestHTTP(t *testing.T) {
	url, dir, server := web(t, nil)
	p := run(t, dir, tool.Config{Name: "far", URL: url, Approve: "always"})
	if r := p.call(t, "far_write", `{"n":1}`); r.Text != "turn7/2" {
		t.Error(r)
	}
	if s := p.tool(t, "far_look").Spec(); !s.ReadOnly || !s.NeedsApproval() {
		t.Error(s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var heard []string
	_, err := p.tool(t, "far_slow").Call(ctx, tool.Call{Progress: func(text string) { heard = append(heard, text); cancel() }})
	if !errors.Is(err, context.Canceled) || !slices.Equal(heard, []string{"reading[2J (3 of 10)"}) {
		t.Error(err, heard)
	}
	if r := p.call(t, "far_was_cancelled", ""); r.Text != "yes" {
		t.Error("the server was not told:", r)
	}
	p.call(t, "far_grow", "")
	p.until(t, "ten tools", func() bool { return len(p.tools) == 10 })
	server.CloseClientConnections() // the streams of the test's own server would wait
}

// TestHTTPCut: a connection cut in the middle of a call leaves its outcome unknown; an address where
// nobody listens is certain to have done nothing.
func TestHTTPCut(t *testing.T) {
	url, dir, server := web(t, nil)
	p := run(t, dir, tool.Config{Name: "far", URL: url})
	_, err := p.tool(t, "far_crash").Call(t.Context(), tool.Call{})
	if err == nil || errors.Is(err, tool.ErrNotMade) {
		t.Error(err)
	}
	if got := p.calls(t); !slices.Equal(got, []string{"crash {}"}) {
		t.Error(got)
	}
	look := p.tool(t, "far_look")
	server.CloseClientConnections()
	server.Close()
	p.web.CloseIdleConnections() // one that is dying may have taken a call
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = look.Call(ctx, tool.Call{})
	if !errors.Is(err, tool.ErrNotMade) || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
	p.until(t, "down", func() bool { return p.state == Down && strings.Contains(p.problem, "refused") })
}

// TestHTTPGoneAfterACut: a call that was cut off has the line looked after at once, not at the next
// look in some minutes.
func TestHTTPGoneAfterACut(t *testing.T) {
	var server *httptest.Server
	peer := newPeer(t.TempDir(), func() { server.Listener.Close(); server.CloseClientConnections() })
	server = httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return peer }, &sdk.StreamableHTTPOptions{Stateless: true}))
	defer server.Close()
	p := run(t, "", tool.Config{Name: "far", URL: server.URL})
	if _, err := p.tool(t, "far_crash").Call(t.Context(), tool.Call{}); err == nil || errors.Is(err, tool.ErrNotMade) {
		t.Error(err)
	}
	p.until(t, "down", func() bool { return p.state == Down && strings.Contains(p.problem, "refused") })
}

// TestHTTPServerReplaced: a server that knows nothing of the session any more has not done the call; it
// is made once, on a new line. Some say 400 instead of the protocol's 404.
func TestHTTPServerReplaced(t *testing.T) {
	for name, stranger := range map[string]http.HandlerFunc{
		"404": nil,
		"400": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Bad Request", http.StatusBadRequest) },
		"400 with a reason": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var now atomic.Pointer[http.Handler]
			var first atomic.Pointer[string] // the session of the server before
			replace := func() {
				peer := newPeer(dir, nil)
				var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return peer }, nil)
				now.Store(&h)
			}
			replace()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if old := first.Load(); old != nil && *old == r.Header.Get("Mcp-Session-Id") && stranger != nil {
					stranger(w, r)
					return
				}
				(*now.Load()).ServeHTTP(w, r)
			}))
			defer server.Close()
			defer server.CloseClientConnections()
			p := run(t, dir, tool.Config{Name: "far", URL: server.URL})
			p.call(t, "far_look", "")
			p.mu.Lock()
			id := p.line.session.ID()
			p.mu.Unlock()
			first.Store(&id)
			replace()
			p.call(t, "far_write", `{"n":2}`)
			if got, want := p.calls(t), []string{"look {}", `write {"n":2}`}; !slices.Equal(got, want) || id == "" {
				t.Errorf("got %q, want %q; session %q", got, want, id)
			}
		})
	}
}

// TestHTTPTurnedAway: a status that says that nothing was done is no unknown outcome.
func TestHTTPTurnedAway(t *testing.T) {
	for status, unknown := range map[int]bool{http.StatusTooManyRequests: false, http.StatusForbidden: false, http.StatusServiceUnavailable: false, http.StatusBadGateway: true} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			peer := newPeer(t.TempDir(), nil)
			inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return peer }, &sdk.StreamableHTTPOptions{Stateless: true})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body bytes.Buffer
				body.ReadFrom(r.Body)
				if strings.Contains(body.String(), `"tools/call"`) {
					http.Error(w, "not now", status)
					return
				}
				r.Body = http.NoBody
				if body.Len() > 0 {
					r.Body = nopCloser{&body}
				}
				inner.ServeHTTP(w, r)
			}))
			defer server.Close()
			defer server.CloseClientConnections()
			p := run(t, "", tool.Config{Name: "far", URL: server.URL})
			_, err := p.tool(t, "far_look").Call(t.Context(), tool.Call{})
			if err == nil || errors.Is(err, tool.ErrNotMade) == unknown {
				t.Error(err)
			}
		})
	}
}

type nopCloser struct{ *bytes.Buffer }

func (nopCloser) Close() error { return nil }
