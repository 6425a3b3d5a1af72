package mcp

import (
	"context"
	"errors"
	"log/slog"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/engine/tool"
)

// Run keeps the line alive until ctx ends, and returns nil once the line and the program are gone.
func (s *Server) Run(ctx context.Context) error {
	defer s.web.CloseIdleConnections()
	pause, before := s.pause, ""
	for {
		s.turn(Connecting, nil, "")
		lived, err := s.hold(ctx)
		if ctx.Err() != nil {
			s.turn(Down, nil, "it was stopped")
			return nil
		}
		if lived >= stood {
			pause = s.pause
		}
		why := s.hide.from(err.Error())
		s.turn(Down, nil, why)
		level := slog.LevelWarn
		if why == before && lived == 0 { // it was said
			level = slog.LevelDebug
		}
		s.log.Log(ctx, level, "tool server is down", "why", why, "retry_in", pause)
		before = why
		select {
		case <-ctx.Done():
			s.turn(Down, nil, "it was stopped")
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// hold makes a line and keeps it until it breaks or ctx ends. It tells how long the line has lived, 0 if
// there was none, and why there is none any more.
func (s *Server) hold(ctx context.Context) (lived time.Duration, err error) {
	l, err := s.greet(ctx)
	if err != nil {
		return 0, err
	}
	defer l.close()
	defer s.turn(Connecting, nil, "") // no call takes a line that is being closed
	found, err := l.list(ctx)
	if err != nil {
		return 0, err
	}
	s.connected(l, s.toolsOf(found))
	s.log.Info("tool server connected", "tools", len(found), "protocol", l.session.InitializeResult().ProtocolVersion)
	began := time.Now()
	err = s.follow(ctx, l)
	return time.Since(began), err
}

// follow lists the tools again when they have changed, until the line is dead.
func (s *Server) follow(ctx context.Context, l *line) error {
	var look <-chan time.Time
	if l.child == nil {
		t := time.NewTicker(lookAgain)
		defer t.Stop()
		look = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.ended:
			return l.over()
		case <-s.broken:
			return errors.New("it does not answer any more")
		case <-l.changed:
		case <-look:
		}
		switch found, err := l.list(ctx); {
		case err == nil:
			s.keep(s.toolsOf(found))
		case errors.Is(err, errGone):
			return err
		case ctx.Err() == nil:
			s.log.Warn("tool server does not list its tools", "why", s.hide.from(err.Error()))
		}
	}
}

// over says why a line has ended by itself.
func (l *line) over() error {
	if err := l.session.Wait(); err != nil && l.child == nil {
		return err
	}
	return l.givenUp()
}

// drop has a line made again that a call has found dead.
func (s *Server) drop(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != l {
		return // it is gone already
	}
	s.line = nil
	select {
	case s.broken <- struct{}{}:
	default:
	}
}

// turn sets the state.
func (s *Server) turn(state string, l *line, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turnLocked(state, l, problem)
}

// connected takes up a line together with what was listed on it: whoever sees the one sees the other.
func (s *Server) connected(l *line, tools []tool.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.listed = tools, true
	s.turnLocked(Connected, l, "")
}

// turnLocked is turn with s.mu held.
func (s *Server) turnLocked(state string, l *line, problem string) {
	if s.state != state {
		s.since = time.Now()
	}
	switch {
	case l != nil:
		s.failing = time.Time{}
	case s.failing.IsZero():
		s.failing = time.Now()
	}
	if l != nil || problem != "" { // while it is being tried again the reason still stands
		s.problem = problem
	}
	s.state, s.line = state, l
	select {
	case <-s.broken: // it was about the line before
	default:
	}
	s.tell()
}

// tell wakes who waits for a change. s.mu is held.
func (s *Server) tell() {
	close(s.news)
	s.news = make(chan struct{})
}

// keep offers what the server has listed from now on.
func (s *Server) keep(tools []tool.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.listed = tools, true
	s.tell()
}

// toolsOf makes tools of what the server has listed.
func (s *Server) toolsOf(found []*sdk.Tool) []tool.Tool {
	names := make([]string, len(found))
	for i, t := range found {
		names[i] = t.Name
	}
	tools, seen := []tool.Tool{}, map[string]bool{}
	for i, name := range offered(s.c.Name, names) {
		if seen[name] {
			s.log.Warn("tool server lists a tool twice", "tool", name)
			continue
		}
		seen[name] = true
		tools = append(tools, &remote{server: s, name: names[i], spec: spec(s.c, name, found[i])})
	}
	return tools
}
