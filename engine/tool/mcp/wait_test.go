//go:build unix

package mcp

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/tool"
)

// TestPauses: a server that cannot be started is tried again after 1, 2, 4 s and so on, at most every
// minute, and says why.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		s := New(tool.Config{Name: "notes", Command: []string{"no-such-program-here"}}, Options{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		began := time.Now()
		for i, at := range []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183} {
			time.Sleep(time.Until(began.Add(at * time.Second)))
			synctest.Wait()
			state, _, _, _ := s.Status()
			if tries := strings.Count(log.String(), "tool server is down"); state != Down || tries != i+1 {
				t.Errorf("after %d s: %s, tried %d times, want %d", at, state, strings.Count(log.String(), "tool server is down"), i+1)
			}
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Errorf("the same reason was told %d times", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if state, since, n, problem := s.Status(); state != Down || since.Sub(began) != 183*time.Second || n != 0 || problem != "it was stopped" {
			t.Error(state, since.Sub(began), n, problem)
		}
	})
}

// TestPatience: a first connection is waited for 10 s, no longer than the context, and not at all once
// the server has been down for longer than that.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(tool.Config{Name: "notes", Command: []string{"x"}}, Options{Log: slog.New(slog.DiscardHandler)})
		wait := func(ctx context.Context) (time.Duration, error) {
			began := time.Now()
			_, err := s.Tools(ctx)
			return time.Since(began), err
		}
		short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if took, err := wait(short); took != 3*time.Second || err == nil {
			t.Error(took, err)
		}
		if took, err := wait(t.Context()); took != 10*time.Second || err == nil || !strings.HasSuffix(err.Error(), "cannot be reached: it has not answered within 10 s") {
			t.Error(took, err)
		}
		s.turn(Down, nil, "the program is not found")
		if took, err := wait(t.Context()); took != 0 || err == nil || !strings.HasSuffix(err.Error(), "cannot be reached: the program is not found") {
			t.Error(took, err)
		}
		s.turn(Connecting, nil, "") // it is being tried again: that is worth a wait
		go func() { time.Sleep(4 * time.Second); s.keep(nil) }()
		if took, err := wait(t.Context()); took != 4*time.Second || err != nil {
			t.Error(took, err)
		}
	})
}
