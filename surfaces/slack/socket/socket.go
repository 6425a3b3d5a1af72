// Package socket keeps a Slack app's Socket Mode line.
//
//	open a URL ─▶ dial ─▶ hello ─▶ envelopes … ─▶ "disconnect" or silence
//	     ▲                                              │
//	     └───── the next one stands before this one is closed
//
// Slack gives an envelope to any one of the open connections and wants an acknowledgement within 3 s;
// what is not acknowledged comes again (at once, after 1 and after 5 minutes). So an envelope is
// acknowledged only when it has been handled without an error. Slack pings; a connection without a
// ping is dead, however open it looks, and is dropped without a closing handshake.
package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Config is what a line needs.
type Config struct {
	Open  func(ctx context.Context) (url string, err error) // a new one-time address; *Fatal: never again
	State func(state, why string)                           // "connected" | "connecting" | "down"
	Up    func()                                            // a connection stands after none did
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	Log   *slog.Logger

	Silence time.Duration // without a ping for so long a connection is dead; 0 = 30 s
	Again   time.Duration // the first wait before a new try, doubling up to 30 s; 0 = 1 s
}

// Fatal says that no new try can help.
type Fatal struct{ Err error }

func (f *Fatal) Error() string { return f.Err.Error() }
func (f *Fatal) Unwrap() error { return f.Err }

// Envelope is what Slack sends.
type Envelope struct {
	ID      string          `json:"envelope_id"`
	Type    string          `json:"type"` // "hello" | "disconnect" | "events_api" | "interactive" | …
	Payload json.RawMessage `json:"payload"`
	Retry   int             `json:"retry_attempt"`
	Reason  string          `json:"reason"` // of a disconnect
}

const (
	longestWait = 30 * time.Second
	shortLife   = 10 * time.Second // a connection that ends sooner is a failed try
	writeWithin = 5 * time.Second
	openWithin  = 30 * time.Second
)

// line is a running Socket Mode line.
type line struct {
	Config
	handle func(ctx context.Context, e Envelope) error
	hands  sync.WaitGroup
}

// Run keeps it until ctx ends, which is no error, or a *Fatal. handle may be called by two
// connections at the same time; without an error from it an envelope is acknowledged.
func Run(ctx context.Context, c Config, handle func(ctx context.Context, e Envelope) error) error {
	if c.Silence == 0 {
		c.Silence = 30 * time.Second
	}
	if c.Again == 0 {
		c.Again = time.Second
	}
	l := line{Config: c, handle: handle}
	ctx, cancel := context.WithCancel(ctx)
	defer l.hands.Wait()
	defer cancel()
	return l.run(ctx)
}

func (l *line) run(ctx context.Context) error {
	var old *conn
	defer func() { old.close() }()
	for failed := 0; ; {
		c, err := l.connect(ctx)
		if fatal, ok := errors.AsType[*Fatal](err); ok {
			l.State("down", fatal.Error())
			return fatal
		}
		if err == nil {
			if !old.alive() {
				l.Up()
			}
			old.close()
			old = c
			l.State("connected", "")
			err = c.ends(ctx)
			if time.Since(c.since) >= shortLife {
				failed = 0
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		l.Log.Info("slack line ended", "why", err, "failed", failed)
		if !old.alive() {
			l.State("connecting", err.Error())
		}
		if failed++; failed > 1 || !old.alive() {
			pause(ctx, l.wait(failed))
		}
	}
}

// wait is the pause before a new try: doubling, with some chance in it, since many apps lose their
// lines at the same time.
func (l *line) wait(failed int) time.Duration {
	d := min(l.Again<<min(failed-1, 10), longestWait)
	return d/2 + rand.N(d/2+1)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// connect opens a connection and returns when Slack has said hello.
func (l *line) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	opening := time.AfterFunc(openWithin, cancel)
	defer opening.Stop()
	url, err := l.Open(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	d := websocket.Dialer{NetDialContext: l.Dial, HandshakeTimeout: openWithin, Proxy: http.ProxyFromEnvironment}
	ws, _, err := d.DialContext(ctx, url, nil)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	c := &conn{ws: ws, cancel: cancel, hello: make(chan struct{}), leaving: make(chan error, 1), gone: make(chan struct{})}
	l.hands.Go(func() { l.read(ctx, c) })
	select {
	case <-c.hello:
		c.since = time.Now()
		return c, nil
	case err := <-c.leaving:
		c.close()
		return nil, err
	case <-ctx.Done():
		c.close()
		return nil, errors.New("the socket opens, but Slack says nothing")
	}
}

// conn is one connection.
type conn struct {
	ws      *websocket.Conn
	cancel  context.CancelFunc
	since   time.Time
	hello   chan struct{} // closed when Slack has greeted
	leaving chan error    // why it must be replaced
	gone    chan struct{} // closed when it has ended
}

// ends waits until a connection must be replaced.
func (c *conn) ends(ctx context.Context) error {
	select {
	case err := <-c.leaving:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *conn) alive() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

func (c *conn) close() {
	if c != nil {
		c.cancel()
		c.ws.Close()
	}
}

// read handles what comes until the connection ends.
func (l *line) read(ctx context.Context, c *conn) {
	stop := context.AfterFunc(ctx, func() { c.ws.Close() })
	defer stop()
	err := l.listen(ctx, c)
	c.close()
	close(c.gone)
	c.leave(fmt.Errorf("the line is broken: %w", err))
}

// leave says that a connection must be replaced; the first reason counts.
func (c *conn) leave(why error) {
	select {
	case c.leaving <- why:
	default:
	}
}

func (l *line) listen(ctx context.Context, c *conn) error {
	heard := func() { _ = c.ws.SetReadDeadline(time.Now().Add(l.Silence)) } // an error shows when reading
	c.ws.SetPingHandler(func(data string) error {
		heard()
		_ = c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeWithin))
		return nil
	})
	for greeted := false; ; {
		heard()
		_, data, err := c.ws.ReadMessage()
		if err != nil {
			return err
		}
		var e Envelope
		if err := json.Unmarshal(data, &e); err != nil {
			l.Log.Warn("an envelope that cannot be read", "err", err)
			continue
		}
		switch {
		case e.Type == "hello" && !greeted:
			close(c.hello)
			greeted = true
		case e.Type == "hello":
		case e.Type == "disconnect":
			c.leave(fmt.Errorf("asked to open another connection: %s", e.Reason))
		default:
			l.envelope(ctx, c, e)
		}
	}
}

// envelope handles one and acknowledges it.
func (l *line) envelope(ctx context.Context, c *conn, e Envelope) {
	if err := l.handle(ctx, e); err != nil {
		l.Log.Error("an envelope was not taken in and must come again", "type", e.Type, "retry", e.Retry, "err", err)
		return
	}
	if e.ID == "" {
		return
	}
	_ = c.ws.SetWriteDeadline(time.Now().Add(writeWithin))
	if err := c.ws.WriteJSON(map[string]string{"envelope_id": e.ID}); err != nil {
		l.Log.Warn("an envelope could not be acknowledged and comes again", "err", err)
	}
}
