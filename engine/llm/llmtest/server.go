// Package llmtest has what tests of models need: a scripted provider over an in-memory connection,
// which works inside a testing/synctest bubble too, and the suite that every wire must pass.
package llmtest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdfast/engine/llm"
)

// Server is a provider that does what its script says, one reply per request.
type Server struct {
	pipes *pipeListener
	http  *http.Server
	trans *http.Transport
	done  sync.WaitGroup

	mu       sync.Mutex
	script   []Reply
	always   Reply
	requests []Request
}

// Request is one request as the server saw it.
type Request struct {
	At     time.Time
	Method string
	Path   string
	Header http.Header
	Body   []byte
	Conn   string // the connection it came on: same text, same connection
}

// Reply answers one request, whose body it may read once more.
type Reply func(w http.ResponseWriter, r *http.Request)

// NewServer starts a server that ends with the test.
func NewServer(t testing.TB) *Server {
	s := &Server{pipes: newPipeListener()}
	s.always = Status(http.StatusNotImplemented, nil, "the test's script is over")
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve)}
	s.trans = &http.Transport{DialContext: s.pipes.dial, DisableCompression: true, MaxIdleConnsPerHost: 16}
	s.done.Go(func() { _ = s.http.Serve(s.pipes) })
	t.Cleanup(func() {
		s.trans.CloseIdleConnections()
		_ = s.http.Close()
		s.done.Wait()
	})
	return s
}

// Transport reaches the server and nothing else, whatever the address.
func (s *Server) Transport() *http.Transport { return s.trans }

// Config is a [provider] section for the server, with a key and the defaults' limits.
func (s *Server) Config() llm.Config {
	c := llm.Default()
	c.BaseURL, c.APIKey = "http://provider.test", "sk-secret-of-the-test"
	return c
}

// Script adds replies for the next requests, in order.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Always sets the reply for requests the script has nothing for.
func (s *Server) Always(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = r
}

// Requests are all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP lets the same script be served by another listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a client that broke off has no use for an answer
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.requests = append(s.requests, Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Conn: r.RemoteAddr})
	reply := s.always
	if len(s.script) > 0 {
		reply, s.script = s.script[0], s.script[1:]
	}
	s.mu.Unlock()
	reply(w, r)
}

// pipeListener hands out in-memory connections; its Accept waits on a channel, which does not hold
// up a bubble's clock as a real Accept does.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	mu     sync.Mutex
	count  int
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr("provider.test") }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	l.mu.Lock()
	l.count++
	name := pipeAddr("pipe-" + strconv.Itoa(l.count))
	l.mu.Unlock()
	select {
	case l.conns <- namedConn{server, name}:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pipeAddr is the address of an in-memory connection.
type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

type namedConn struct {
	net.Conn
	name pipeAddr
}

func (c namedConn) RemoteAddr() net.Addr { return c.name }
