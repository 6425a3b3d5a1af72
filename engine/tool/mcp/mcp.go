// Package mcp is the tools of a server that speaks the Model Context Protocol: a program that is
// started here and spoken to over its standard input and output, or an address that is spoken to over
// streamable HTTP.
//
// A Server keeps one line to its server, for as long as Run runs:
//
//	connecting ──greeted, tools listed──▶ connected ──line broken──▶ down ──1 s, 2 s … 1 min──▶ connecting
//	     └───────────────────────── no answer ──────────────────────▶ down
//
// What the server has listed once is offered from then on, also while the line is being made again: a
// model sees the same tools from one request to the next, and a call waits for the line. What becomes of
// a call that was cut off is not decided here: it comes back as an error, which wraps tool.ErrNotMade if the
// server has surely not begun.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"holdfast/engine/tool"
)

const (
	patience     = 10 * time.Second // for a first connection, or for the line during a call
	firstPause   = time.Second      // before the first further try; it doubles
	longestPause = time.Minute
	stood        = time.Minute     // a line that has lived so long was no failure
	lookAgain    = 5 * time.Minute // over HTTP nothing tells of a server that was replaced by another
)

// States of a server.
const (
	Connecting = "connecting"
	Connected  = "connected"
	Down       = "down"
)

// Options are what a Server needs besides its section.
type Options struct {
	Log     *slog.Logger
	Version string // ours, as servers are told
}

// Server is one [[mcp]] section. It implements tool.Set.
type Server struct {
	c       tool.Config
	log     *slog.Logger
	version string
	hide    hider
	web     *http.Transport
	grace   time.Duration // farewell; tests are in a hurry
	pause   time.Duration // firstPause; the same
	old     bool          // the last greeting was by the older protocol; only Run and Probe look at it

	mu      sync.Mutex
	state   string
	since   time.Time     // of state
	problem string        // why it is down; "" = no reason yet
	failing time.Time     // since when there has been no line; zero while there is one
	line    *line         // nil = none
	tools   []tool.Tool   // the last list
	listed  bool          // there was one
	news    chan struct{} // closed at the next change of the fields above
	broken  chan struct{} // holds one when a call has found the line dead
}

// New makes a Server that is down until Run is called.
func New(c tool.Config, o Options) *Server {
	return &Server{
		c: c, log: o.Log.With("server", c.Name), version: o.Version, hide: secretsOf(c), web: newWeb(), grace: farewell, pause: firstPause,
		state: Down, since: time.Now(), failing: time.Now(), news: make(chan struct{}), broken: make(chan struct{}, 1),
	}
}

// Name is the section's name.
func (s *Server) Name() string { return s.c.Name }

// Status is the server as the page shows it: a state, since when, how many tools it has listed, and why
// it is down.
func (s *Server) Status() (state string, since time.Time, tools int, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.since, len(s.tools), s.problem
}

// Tools implements tool.Set.
func (s *Server) Tools(ctx context.Context) ([]tool.Tool, error) {
	var tools []tool.Tool
	err := s.await(ctx, func() bool { tools = slices.Clone(s.tools); return s.listed })
	return tools, err
}

// standing is the line, waited for.
func (s *Server) standing(ctx context.Context) (*line, error) {
	var l *line
	err := s.await(ctx, func() bool { l = s.line; return l != nil })
	return l, err
}

// await blocks until there is what is waited for; there is asked under the lock. It gives up after 10 s,
// and at once if the server has been down for longer than that: then it is not about to come.
func (s *Server) await(ctx context.Context, there func() bool) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		s.mu.Lock()
		ok, news := there(), s.news
		hopeless := s.state == Down && !s.failing.IsZero() && time.Since(s.failing) > patience && s.problem != ""
		problem := s.problem
		s.mu.Unlock()
		switch {
		case ok:
			return nil
		case hopeless:
			return s.absent(problem)
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("wait for the tool server %s: %w", s.c.Name, ctx.Err())
		case <-late.C:
			return s.absent(problem)
		}
	}
}

// absent says that the server cannot be used now.
func (s *Server) absent(problem string) error {
	if problem == "" {
		problem = "it has not answered within 10 s"
	}
	return fmt.Errorf("the tool server %s cannot be reached: %s", s.c.Name, problem)
}

// Probe reaches the server once, without Run, and gives its tools.
func (s *Server) Probe(ctx context.Context) ([]tool.Tool, error) {
	defer s.web.CloseIdleConnections()
	l, err := s.greet(ctx)
	if err != nil {
		return nil, errors.New(s.hide.from(err.Error()))
	}
	defer l.close()
	found, err := l.list(ctx)
	if err != nil {
		return nil, errors.New(s.hide.from(err.Error()))
	}
	return s.toolsOf(found), nil
}
