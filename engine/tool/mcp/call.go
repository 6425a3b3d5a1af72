package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/engine/tool"
)

// keyOfCall is where a call's idempotency key stands in its _meta, for servers that take one.
const keyOfCall = "holdfast/idempotency-key"

// remote is one tool of a server.
type remote struct {
	server *Server
	name   string // as the server calls it
	spec   tool.Spec
}

// Spec implements tool.Tool.
func (r *remote) Spec() tool.Spec { return r.spec }

// Call implements tool.Tool. While the server is being started again it waits for that, at most 10 s. An
// error wraps tool.ErrNotMade if it is certain that the server has not begun.
func (r *remote) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	arguments := bytes.TrimSpace(c.Arguments)
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	if arguments[0] != '{' || !json.Valid(arguments) {
		return tool.Result{Text: "The arguments are no JSON object; nothing was done.", Failed: true}, nil
	}
	params := sdk.CallToolParams{Name: r.name, Arguments: json.RawMessage(arguments)}
	for again := false; ; again = true {
		l, err := r.server.standing(ctx)
		if err != nil {
			return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrNotMade, err)
		}
		answer, state, err := l.call(ctx, params, c)
		if err == nil {
			return result(answer), nil
		}
		if ctx.Err() != nil {
			return tool.Result{}, fmt.Errorf("call %s: %w", r.spec.Name, ctx.Err())
		}
		if state == lost {
			r.server.drop(l)
		}
		if state == lost && !again {
			continue // nothing has reached a server: the next line takes it
		}
		return r.server.failed(ctx, l, state, err)
	}
}

// failed is what a call has come to that has no result.
func (s *Server) failed(ctx context.Context, l *line, state fate, err error) (tool.Result, error) {
	if said, ok := errors.AsType[*jsonrpc.Error](err); ok && state == answered {
		return tool.Result{Text: "The tool server refuses the call: " + s.hide.from(tool.OneLine(said.Message, tool.MaxResult/2)), Failed: true}, nil
	}
	why := s.hide.from(l.why(ctx, err).Error())
	if state == unknown {
		l.look()
		return tool.Result{}, fmt.Errorf("the tool server %s broke off in the middle of the call: %s", s.c.Name, why)
	}
	return tool.Result{}, fmt.Errorf("%w: the tool server %s did not take it: %s", tool.ErrNotMade, s.c.Name, why)
}

// fate is what is known of a call that came back with an error.
type fate int

const (
	unknown  fate = iota // it may have been done
	answered             // the server says that it was not
	refused              // it was turned away before it reached the tool
	lost                 // nothing was sent, or nobody knew the session
)

// call makes one try. It returns as soon as ctx ends; the server is then told so.
func (l *line) call(ctx context.Context, params sdk.CallToolParams, c tool.Call) (*sdk.CallToolResult, fate, error) {
	token := rand.Text()
	params.Meta = sdk.Meta{keyOfCall: c.Key}
	params.SetProgressToken(token)
	defer l.hear(token, c.Progress)()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	way := &passage{}
	type answer struct {
		result *sdk.CallToolResult
		err    error
	}
	came := make(chan answer, 1)
	l.calls.Go(func() { // apart, since a full pipe to a program that hangs does not look at ctx
		r, err := l.session.CallTool(way.trace(ctx), &params)
		came <- answer{r, err}
	})
	var a answer
	select {
	case a = <-came:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if errors.Is(a.err, context.Canceled) && l.ctx.Err() != nil { // the caller knows if it was its own context
		a.err = l.givenUp()
	}
	return a.result, l.fate(way, a.err), a.err
}

// givenUp says why a line that was closed did not bring an answer.
func (l *line) givenUp() error {
	if l.child != nil {
		return fmt.Errorf("the program %s", l.child.ended())
	}
	return errors.New("the line has broken")
}

// rejectedByTransport is the code of the library's own error for a request that an HTTP status has turned
// away; it is no answer of the server's.
const rejectedByTransport = -32005

// fate tells how far a call with an error has come.
func (l *line) fate(way *passage, err error) fate {
	status := int(way.status.Load())
	said, answer := errors.AsType[*jsonrpc.Error](err)
	answer = answer && said.Code != rejectedByTransport
	// A server that was replaced says 404 to the old session by the protocol, and many say 400.
	strange := status == http.StatusNotFound || status == http.StatusBadRequest && (!answer || strings.Contains(strings.ToLower(said.Message), "session"))
	unsent := l.child == nil && !way.sent.Load()
	switch {
	case unsent, strange, errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, sdk.ErrSessionMissing):
		return lost
	case answer:
		return answered
	case status >= 400 && status < 500, status == http.StatusServiceUnavailable:
		return refused
	}
	return unknown
}

// hear hands what the server says of a call to progress, until the function that it returns is
// called: nothing is handed on after that.
func (l *line) hear(token string, tell func(string)) (deaf func()) {
	if tell == nil {
		return func() {}
	}
	var mu sync.Mutex
	over := false
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listen[token] = func(p *sdk.ProgressNotificationParams) {
		mu.Lock()
		defer mu.Unlock()
		if text := progress(p); !over && text != "" {
			tell(text)
		}
	}
	return func() {
		l.mu.Lock()
		delete(l.listen, token)
		l.mu.Unlock()
		mu.Lock()
		over = true
		mu.Unlock()
	}
}

// passage is what is seen of one call's HTTP request.
type passage struct {
	sent   atomic.Bool // its first byte has left
	status atomic.Int32
}

type passageKey struct{}

// trace has the passage told of the request that is made under the context.
func (p *passage) trace(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, passageKey{}, p)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { p.sent.Store(true) }})
}

// watched is a RoundTripper that notes the answer's status in the passage of the call.
type watched struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := w.Transport.RoundTrip(r)
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok && err == nil {
		p.status.Store(int32(response.StatusCode))
	}
	return response, err
}

// newWeb is how servers over HTTP are reached. There is no limit for a whole answer, since streams stay
// open, nor for its beginning, since tools take their time: the call's own limit holds.
func newWeb() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSHandshakeTimeout = 10 * time.Second
	return t
}
