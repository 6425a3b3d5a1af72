package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"holdfast/store"
)

const (
	protocol    = "holdfast.v1"
	queueLength = 256 // events that may wait for a slow page
	tickEvery   = 10 * time.Second
	pingEvery   = 20 * time.Second
	pongWithin  = 50 * time.Second
	writeWithin = 10 * time.Second
)

// Close codes. The page comes back after all but login.
const (
	closeRestart = websocket.CloseServiceRestart  // 1012
	closeSlow    = websocket.CloseTryAgainLater   // 1013
	closeRefused = websocket.ClosePolicyViolation // 1008: it does not speak the protocol
	closeLogin   = 4401
	closeBuild   = 4409 // the page is of another build: it reloads
)

// conn is one open page. Its events and renders are put in by others, who never wait; one goroutine
// takes them out and is the only one that writes.
type conn struct {
	server *Server
	caller caller
	socket *websocket.Conn

	chat string // what it looks at; written under live.mu and mu, so reading needs one of them

	mu      sync.Mutex
	queue   []event
	renders map[store.ID]render // the latest of each turn
	lines   []logLine           // of the daemon's log, not sent yet
	own     map[string]bool     // a visitor's own chats
	code    int                 // to be closed with; 0 = stays

	wake   chan struct{} // capacity 1: something was put in
	hellos chan hello
	gone   chan struct{} // closed when nothing can be read any more

	// Of the writing goroutine.
	said      bool   // there was a hello
	sent      int64  // what was sent holds all changes up to it
	providers []byte // as last told
}

// render is what a page has yet to be told of a text: blocks from the index from on.
type render struct {
	from   int
	blocks []string
}

// handleSocket checks who is there and serves the socket until either side ends it.
func (s *Server) handleSocket(w http.ResponseWriter, r *http.Request) {
	_, token := bearer(r)
	if p := s.sameOrigin(r, token); p != nil {
		refuse(w, p)
		return
	}
	who, err := s.who(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !websocket.IsWebSocketUpgrade(r) || !slices.Contains(websocket.Subprotocols(r), protocol) {
		refuse(w, badRequest("this path is a websocket with the subprotocol %s", protocol))
		return
	}
	up := websocket.Upgrader{Subprotocols: []string{protocol}, CheckOrigin: func(*http.Request) bool { return true }} // checked above
	socket, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // answered by Upgrade
	}
	c := &conn{
		server: s, caller: who, socket: socket, renders: map[store.ID]render{}, own: map[string]bool{},
		wake: make(chan struct{}, 1), hellos: make(chan hello), gone: make(chan struct{}),
	}
	if !s.live.enter(c) {
		c.closeWith(closeRestart)
		socket.Close()
		return
	}
	defer s.live.leave(c)
	defer s.tail.leave(c)
	c.serve()
}

// serve reads in one goroutine and writes in this one; it returns when both have ended.
func (c *conn) serve() {
	ctx, stop := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() { c.read(ctx) })
	if err := c.write(); err != nil {
		c.server.log.Debug("socket ended", "err", err)
	}
	stop()
	c.socket.Close()
	reading.Wait()
}

// read takes what the page says until it is gone.
func (c *conn) read(ctx context.Context) {
	defer close(c.gone)
	c.socket.SetReadLimit(4096)
	alive := func(string) error { return c.socket.SetReadDeadline(time.Now().Add(pongWithin)) }
	c.socket.SetPongHandler(alive)
	for alive("") == nil {
		kind, data, err := c.socket.ReadMessage()
		if err != nil {
			return
		}
		var h hello
		if kind != websocket.TextMessage || json.Unmarshal(data, &h) != nil || !c.mayAsk(h) {
			c.end(closeRefused)
			return
		}
		select {
		case c.hellos <- h:
		case <-ctx.Done():
			return
		}
	}
}

// write sends what there is to send until the page is gone or is to be closed.
func (c *conn) write() error {
	ping, tick := time.NewTicker(pingEvery), time.NewTicker(c.server.tick)
	defer ping.Stop()
	defer tick.Stop()
	for {
		var err error
		select {
		case h := <-c.hellos:
			if h.T == "log" {
				c.followLog(h.Level)
				err = c.flush()
			} else {
				err = c.hello(h)
			}
		case <-c.wake:
			err = c.flush()
		case <-tick.C:
			err = c.tick()
		case <-ping.C:
			err = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWithin))
		case <-c.gone:
			if code := c.closing(); code != 0 {
				c.closeWith(code)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// errClosed ends the writing after a close frame.
var errClosed = errors.New("closed by us")

// tick tells the time, so that a page sees a dead line, and how the models do if that has changed;
// and it ends a page whose login has ended.
func (c *conn) tick() error {
	now := store.At(time.Now())
	if c.caller.session != nil {
		good, err := c.server.store.Session(c.caller.session, now)
		if err != nil {
			return c.broken(err)
		}
		if !good {
			c.end(closeLogin)
			return c.flush()
		}
	}
	if !c.said {
		return nil
	}
	tick := struct {
		T         string          `json:"t"`
		Now       store.Time      `json:"now"`
		Providers json.RawMessage `json:"providers,omitempty"`
	}{T: "tick", Now: now}
	if !c.caller.visits() {
		providers, err := encode(show(c.server.engine.Providers(), showProvider))
		if err != nil {
			return err
		}
		if !bytes.Equal(providers, c.providers) {
			c.providers, tick.Providers = providers, providers
		}
	}
	return c.send(tick)
}

// flush sends all that was put in.
func (c *conn) flush() error {
	c.mu.Lock()
	code, queue, renders, lines := c.code, c.queue, c.renders, c.lines
	c.queue, c.renders, c.lines = nil, map[store.ID]render{}, nil
	c.mu.Unlock()
	if code != 0 {
		c.closeWith(code)
		return errClosed
	}
	for _, e := range queue {
		if e.seq <= c.sent {
			continue
		}
		if err := c.sendFrame(e.frame); err != nil {
			return err
		}
		c.sent = e.seq
	}
	for turn, r := range renders {
		if err := c.send(renderFrame{"render", turn.String(), c.chat, r.from, r.blocks[r.from:], ""}); err != nil {
			return err
		}
	}
	for _, line := range lines {
		if err := c.send(line); err != nil {
			return err
		}
	}
	return nil
}

// renderFrame says: the turn's blocks from the index from on are now these. Applying it twice is
// harmless.
type renderFrame struct {
	T      string   `json:"t"`
	Turn   string   `json:"turn"`
	Chat   string   `json:"chat"`
	From   int      `json:"from"`
	Blocks []string `json:"blocks"`
	Text   string   `json:"text"`
}

// send writes one frame.
func (c *conn) send(v any) error {
	frame, err := encode(v)
	if err != nil {
		return err
	}
	return c.sendFrame(frame)
}

func (c *conn) sendFrame(frame []byte) error {
	if err := c.socket.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return c.socket.WriteMessage(websocket.TextMessage, frame)
}

// closeWith says why and closes; a restart is announced before, since the page need not wait then.
func (c *conn) closeWith(code int) {
	if code == closeRestart {
		c.send(map[string]any{"t": "bye", "code": code}) // if it fails the close frame fails as well
	}
	c.socket.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
}
