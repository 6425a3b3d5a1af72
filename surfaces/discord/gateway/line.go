package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Operations of the gateway.
const (
	opEvent      = 0
	opBeat       = 1
	opIdentify   = 2
	opResume     = 6
	opReconnect  = 7
	opInvalid    = 9
	opHello      = 10
	opBeatHeard  = 11
	closeResumes = 4000 // a close of ours after which the session can be resumed; 1000 and 1001 end it
)

const (
	helloWithin = 30 * time.Second
	upWithin    = 90 * time.Second // from hello to READY or the end of a resume
	writeWithin = 10 * time.Second
	closeWithin = time.Second
	beatGap     = time.Second // between two beats, whoever asks: far below the 120 frames of a minute
	mostBytes   = 32 << 20    // of a frame; a big guild is some megabytes
	queued      = 1024        // events received and not handled
)

// frame is one message of the line.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
}

// line is one connection.
type line struct {
	*Client
	conn   *websocket.Conn
	events chan Event
	up     atomic.Bool // READY or RESUMED has come …
	good   atomic.Bool // … and has been handled
	heard  atomic.Bool // the last beat has been answered

	write sync.Mutex
	beat  time.Time // the last one
}

// errDead is the end of a connection that is open but does not answer.
var errDead = errors.New("no answer to a heartbeat")

// line dials, begins or resumes a session, and works until something ends it. good says whether
// the session was up by then, with everything before it handled.
func (c *Client) line(ctx context.Context, failures int, handle func(context.Context, Event) error) (good bool, err error) {
	conn, err := c.dial(ctx, failures)
	if err != nil {
		return false, err
	}
	l := &line{Client: c, conn: conn, events: make(chan Event, queued)}
	ctx, end := context.WithCancelCause(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { // whatever ends it: tell Discord so that the session stays, and do not wait for its answer
		<-ctx.Done()
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(closeResumes, ""), time.Now().Add(closeWithin))
		_ = conn.Close()
	})
	interval, err := l.hello(ctx)
	if err == nil {
		parts.Go(func() { end(l.keepBeating(ctx, interval)) })
		parts.Go(func() { end(l.handleAll(ctx, handle)) })
		late := time.AfterFunc(upWithin, func() {
			if !l.up.Load() {
				end(errors.New("the session did not come up in time"))
			}
		})
		err = l.read(ctx)
		late.Stop()
	}
	end(err)
	parts.Wait()
	return l.good.Load(), context.Cause(ctx)
}

// dial connects: to where the session is to be resumed, or, if there is none or its place does not
// answer, to where Discord says.
func (c *Client) dial(ctx context.Context, failures int) (*websocket.Conn, error) {
	s := c.current()
	at := s.URL
	if s.ID == "" || at == "" || failures >= downAfter {
		p, err := c.cfg.Locate(ctx)
		if err != nil {
			return nil, err
		}
		if s.ID == "" && p.Remaining <= 0 && p.ResetAfter > 0 {
			c.cfg.State("down", fmt.Sprintf("Discord lets no new session begin before %s: too many were begun today", time.Now().Add(p.ResetAfter).Format("15:04")))
			if !sleep(ctx, p.ResetAfter) {
				return nil, ctx.Err()
			}
		}
		at = p.URL
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("the gateway's address: %w", err)
	}
	u.RawQuery = url.Values{"v": {"10"}, "encoding": {"json"}}.Encode()
	d := websocket.Dialer{NetDialContext: c.cfg.Dial, HandshakeTimeout: helloWithin}
	if c.cfg.Dial == nil {
		d.Proxy = http.ProxyFromEnvironment
	}
	conn, resp, err := d.DialContext(ctx, u.String(), http.Header{})
	if err != nil {
		if resp != nil {
			return nil, fmt.Errorf("dial the gateway: HTTP %d: %w", resp.StatusCode, err)
		}
		return nil, fmt.Errorf("dial the gateway: %w", err)
	}
	conn.SetReadLimit(mostBytes)
	return conn, nil
}

// hello awaits the greeting and answers it.
func (l *line) hello(ctx context.Context) (interval time.Duration, err error) {
	_ = l.conn.SetReadDeadline(time.Now().Add(helloWithin))
	var f frame
	if err := l.conn.ReadJSON(&f); err != nil {
		return 0, ended(err)
	}
	var said struct {
		Interval int64 `json:"heartbeat_interval"` // ms
	}
	if err := json.Unmarshal(f.Data, &said); f.Op != opHello || err != nil || said.Interval <= 0 {
		return 0, fmt.Errorf("the gateway greets with op %d instead of hello", f.Op)
	}
	_ = l.conn.SetReadDeadline(time.Time{})
	s := l.current()
	if s.ID != "" {
		return time.Duration(said.Interval) * time.Millisecond, l.send(opResume, map[string]any{"token": l.cfg.Token, "session_id": s.ID, "seq": s.Seq})
	}
	if !l.identified.IsZero() && !sleep(ctx, identifyIn-time.Since(l.identified)) {
		return 0, ctx.Err()
	}
	l.identified = time.Now()
	return time.Duration(said.Interval) * time.Millisecond, l.send(opIdentify, map[string]any{
		"token": l.cfg.Token, "intents": l.cfg.Intents,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "holdfast", "device": "holdfast"},
	})
}

// read takes in frames until the connection ends.
func (l *line) read(ctx context.Context) error {
	for {
		var f frame
		if err := l.conn.ReadJSON(&f); err != nil {
			return ended(err)
		}
		switch f.Op {
		case opEvent:
			if f.Seq == nil {
				continue
			}
			if f.Type == "READY" || f.Type == "RESUMED" {
				l.up.Store(true)
			}
			select {
			case l.events <- Event{f.Type, *f.Seq, f.Data}:
			case <-ctx.Done():
				return ctx.Err()
			}
		case opBeat:
			if err := l.sendBeat(); err != nil {
				return err
			}
		case opBeatHeard:
			l.heard.Store(true)
		case opReconnect:
			return asked()
		case opInvalid:
			var resumable bool
			_ = json.Unmarshal(f.Data, &resumable)
			return invalid(resumable)
		}
	}
}

// handleAll hands events on; what is still queued when the line ends comes again after the resume.
func (l *line) handleAll(ctx context.Context, handle func(context.Context, Event) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-l.events:
			if err := handle(ctx, e); err != nil {
				return fmt.Errorf("handle %s: %w", e.Type, err)
			}
			l.handled(e)
			if e.Type == "READY" || e.Type == "RESUMED" {
				l.good.Store(true)
			}
		}
	}
}

// keepBeating beats until the line ends or is found dead.
func (l *line) keepBeating(ctx context.Context, interval time.Duration) error {
	l.heard.Store(true)
	for next := time.Duration(rand.Float64() * float64(interval)); sleep(ctx, next); next = interval {
		if !l.heard.Swap(false) {
			return errDead
		}
		if err := l.sendBeat(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// sendBeat tells Discord the last event handled.
func (l *line) sendBeat() error {
	l.write.Lock()
	soon := time.Since(l.beat) < beatGap && !l.beat.IsZero()
	if !soon {
		l.beat = time.Now()
	}
	l.write.Unlock()
	if soon { // one has just been sent
		l.heard.Store(true)
		return nil
	}
	if seq := l.current().Seq; seq > 0 {
		return l.send(opBeat, seq)
	}
	return l.send(opBeat, nil)
}

func (l *line) send(op int, data any) error {
	l.write.Lock()
	defer l.write.Unlock()
	_ = l.conn.SetWriteDeadline(time.Now().Add(writeWithin))
	if err := l.conn.WriteJSON(map[string]any{"op": op, "d": data}); err != nil {
		return fmt.Errorf("write to the gateway: %w", err)
	}
	return nil
}
