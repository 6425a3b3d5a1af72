package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	greeting = 2 * time.Minute  // for a program to start and answer: npx may load it first
	listing  = 30 * time.Second // for the list of tools
	farewell = 2 * time.Second  // for the protocol's own end, and for a program to end after it
	mostList = 512              // tools of one server; a list that does not end is a fault
)

// legacy is the newest version of the protocol that begins with initialize.
const legacy = "2025-11-25"

// line is one connection to a server, from its first message to its last.
type line struct {
	child   *child        // nil over HTTP
	grace   time.Duration // what a program gets to end
	session *sdk.ClientSession
	ctx     context.Context // of every call on it
	hangUp  context.CancelFunc
	ended   chan struct{}  // closed when the line is dead
	waits   sync.WaitGroup // whoever waits for its end
	calls   sync.WaitGroup // calls that are under way, also those that nobody waits for any more
	changed chan struct{}  // holds one if the tools have to be listed again

	mu     sync.Mutex
	listen map[any]func(*sdk.ProgressNotificationParams) // by token, of the calls under way
}

// greetError is that of a server that was reached and did not come to answer.
type greetError struct{ error }

// greet makes a line. Some programs end when the first message is one of the newer protocol; they are
// started again and spoken to by the older one.
func (s *Server) greet(ctx context.Context) (*line, error) {
	l, err := s.dial(ctx, s.old)
	if _, began := errors.AsType[*greetError](err); !began || len(s.c.Command) == 0 || ctx.Err() != nil {
		return l, err
	}
	other, otherErr := s.dial(ctx, !s.old)
	if otherErr != nil {
		return nil, err
	}
	s.old = !s.old
	return other, nil
}

// dial reaches the server and greets it; old says that it shall be spoken to by the older protocol.
// The line lives until close, not until ctx ends.
func (s *Server) dial(ctx context.Context, old bool) (l *line, err error) {
	l = &line{grace: s.grace, ended: make(chan struct{}), changed: make(chan struct{}, 1), listen: map[any]func(*sdk.ProgressNotificationParams){}}
	l.ctx, l.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	var way sdk.Transport = &sdk.StreamableClientTransport{Endpoint: s.c.URL, HTTPClient: &http.Client{Transport: watched{s.web}}}
	if len(s.c.Command) > 0 {
		if l.child, err = start(s.c.Command, s.c.Env, s.hide, s.log); err != nil {
			return nil, err
		}
		in := &messages{in: bufio.NewReader(l.child.out), stray: l.child.words}
		way = &sdk.IOTransport{Reader: io.NopCloser(in), Writer: l.child.in}
	}
	var options *sdk.ClientSessionOptions
	if old {
		options = &sdk.ClientSessionOptions{ProtocolVersion: legacy}
	}
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	greeted := make(chan struct{})
	go func() {
		defer close(greeted)
		l.session, err = s.client(l).Connect(ctx, way, options)
	}()
	select {
	case <-greeted:
	case <-ctx.Done():
		l.stopChild() // which ends a greeting that hangs in a pipe
		<-greeted
	}
	if err != nil {
		err = &greetError{l.why(ctx, err)}
		l.stopChild()
		return nil, err
	}
	l.waits.Go(func() { l.session.Wait(); close(l.ended) })
	return l, nil
}

// client is our side of the protocol on a line. It offers servers nothing: they cannot use the model,
// ask people, or look at files through us.
func (s *Server) client(l *line) *sdk.Client {
	c := sdk.NewClient(&sdk.Implementation{Name: "holdfast", Version: s.version}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { l.look() },
		ProgressNotificationHandler: func(_ context.Context, n *sdk.ProgressNotificationClientRequest) { l.progressed(n.Params) },
	})
	c.AddReceivingMiddleware(decline)
	return c
}

// decline refuses what servers may ask of clients.
func decline(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		switch method {
		case "sampling/createMessage", "elicitation/create", "roots/list":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client does not offer " + method}
		}
		return next(ctx, method, r)
	}
}

// progressed hands a notification to the call it is about, if that still waits.
func (l *line) progressed(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	if _, text := p.ProgressToken.(string); !text { // ours are; another may not even be a key of a map
		return
	}
	l.mu.Lock()
	heard := l.listen[p.ProgressToken]
	l.mu.Unlock()
	if heard != nil {
		heard(p)
	}
}

// errGone is what list wraps if nothing can be sent any more: the line is dead.
var errGone = errors.New("the line is dead")

// list asks for all tools, page by page.
func (l *line) list(ctx context.Context) (tools []*sdk.Tool, err error) {
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	if r := l.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil {
		return nil, nil // the protocol forbids to ask
	}
	way := &passage{}
	for t, err := range l.session.Tools(way.trace(ctx), nil) {
		switch {
		case err != nil && ctx.Err() == nil && l.dead(l.fate(way, err)):
			return nil, fmt.Errorf("%w: %w", errGone, l.why(ctx, err))
		case err != nil:
			return nil, fmt.Errorf("list its tools: %w", l.why(ctx, err))
		}
		if tools = append(tools, t); len(tools) > mostList {
			return nil, fmt.Errorf("it lists more than %d tools", mostList)
		}
	}
	return tools, nil
}

// dead reports whether a list that came to such an end says that the line is gone. Over HTTP no answer at
// all is enough: nothing else would tell, and making the line anew does no harm.
func (l *line) dead(state fate) bool { return state == lost || l.child == nil && state == unknown }

// look has the list asked for again, which also finds out whether the line is alive.
func (l *line) look() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// why makes plain words of an error on the line.
func (l *line) why(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		if l.child != nil && l.child.words.last() != "" {
			return fmt.Errorf("it does not answer; it last wrote %q", l.child.words.last())
		}
		return errors.New("it does not answer")
	case ctx.Err() != nil:
		return ctx.Err()
	case l.child != nil && closed(err):
		return fmt.Errorf("the program %s", l.child.ended())
	case l.child != nil && strings.Contains(err.Error(), "invalid character"):
		return fmt.Errorf("the program writes something to its standard output that is not the protocol: %w", err)
	}
	return err
}

// closed reports whether an error says that the line was gone.
func closed(err error) bool {
	return errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe)
}

// stopChild ends the program, if there is one.
func (l *line) stopChild() {
	if l.child != nil {
		l.child.stop(l.grace)
	}
}

// close ends the line: calls under way are cancelled, the server is told, the program is ended. It
// returns when nothing of it is left.
func (l *line) close() {
	l.hangUp()
	said := make(chan struct{})
	go func() { defer close(said); l.session.Close() }()
	select {
	case <-said:
	case <-time.After(l.grace):
	}
	l.stopChild()
	<-said
	l.calls.Wait()
	l.waits.Wait()
}
