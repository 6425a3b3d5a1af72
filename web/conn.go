package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"holdfast/store"
	"holdfast/web/command"
)

const (
	protocol      = "holdfast.v1"
	queueLength   = 256  // events that may wait for a slow page
	replayLongest = 1000 // changes; a page that is further behind gets a snapshot
	tickEvery     = 10 * time.Second
	pingEvery     = 20 * time.Second
	pongWithin    = 50 * time.Second
	writeWithin   = 10 * time.Second
)

// Close codes. The page comes back after all but login.
const (
	closeRestart = websocket.CloseServiceRestart  // 1012
	closeSlow    = websocket.CloseTryAgainLater   // 1013
	closeRefused = websocket.ClosePolicyViolation // 1008: it does not speak the protocol
	closeLogin   = 4401
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
	code    int                 // to be closed with; 0 = stays

	wake   chan struct{} // capacity 1: something was put in
	hellos chan hello
	gone   chan struct{} // closed when nothing can be read any more

	// Of the writing goroutine.
	said bool  // there was a hello
	sent int64 // what was sent holds all changes up to it
}

// render is what a page has yet to be told of a text: blocks from the index from on.
type render struct {
	from   int
	blocks []string
}

// hello is what a page says: at first, when it turns to another chat, and when it has missed something.
type hello struct {
	T     string `json:"t"`
	Epoch string `json:"epoch"`
	After int64  `json:"after"`
	Chat  string `json:"chat"`
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
		server: s, caller: who, socket: socket, renders: map[store.ID]render{},
		wake: make(chan struct{}, 1), hellos: make(chan hello), gone: make(chan struct{}),
	}
	if !s.live.enter(c) {
		c.closeWith(closeRestart)
		socket.Close()
		return
	}
	defer s.live.leave(c)
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
		if kind != websocket.TextMessage || json.Unmarshal(data, &h) != nil || h.T != "hello" || h.Chat != "" && !command.ValidID(h.Chat) {
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
			err = c.hello(h)
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

// hello answers with what the page has missed, or with all there is, and goes live from there.
// Registered with the hub first, it reads the store up to a number and gets later changes from its
// queue, so that between the two nothing is missed.
func (c *conn) hello(h hello) error {
	s := c.server
	before, first := c.chat, !c.said
	c.said = true
	upTo := s.hub.follow(c, h.Chat)
	epoch := s.store.Epoch()
	if err := c.send(s.welcome(epoch, upTo)); err != nil {
		return err
	}
	missed, ok, err := s.missed(h, epoch, upTo, first || before == h.Chat)
	if err != nil {
		return c.broken(err)
	}
	if ok {
		for _, e := range missed {
			if err := c.sendFrame(e.frame); err != nil {
				return err
			}
		}
	} else {
		all, err := s.hub.snapshot(upTo, h.Chat)
		if err != nil {
			return c.broken(err)
		}
		if err := c.send(all); err != nil {
			return err
		}
	}
	c.sent = upTo
	if err := c.send(map[string]string{"t": "live"}); err != nil {
		return err
	}
	s.live.attach(c)
	return c.flush()
}

// broken closes a page for which the store could not be read; it comes back later.
func (c *conn) broken(err error) error {
	c.server.log.Error("reading for an open page failed", "err", err)
	c.closeWith(closeSlow)
	return err
}

// missed reads what a page has not seen; ok is false if it needs a snapshot: it knows another store,
// follows another chat than before, or has been away for too long.
func (s *Server) missed(h hello, epoch string, upTo int64, sameChat bool) (events []event, ok bool, err error) {
	if h.Epoch != epoch || h.After <= 0 || h.After > upTo || !sameChat {
		return nil, false, nil
	}
	if h.After == upTo {
		return nil, true, nil
	}
	oldest, err := s.store.Oldest()
	if err != nil || oldest == 0 || h.After < oldest-1 {
		return nil, false, err
	}
	changes, err := s.hub.upTo(upTo, h.After, replayLongest+1)
	if err != nil || len(changes) > replayLongest {
		return nil, false, err
	}
	for _, change := range latest(changes) {
		e, ok, err := s.hub.event(change, func(chat string) bool { return chat == h.Chat })
		if err != nil {
			return nil, false, err
		}
		if ok {
			events = append(events, e)
		}
	}
	return events, true, nil
}

// welcomeFrame is the first answer to a hello.
type welcomeFrame struct {
	T     string     `json:"t"`
	Epoch string     `json:"epoch"`
	Head  int64      `json:"head"`
	Now   store.Time `json:"now"`
	Page  page       `json:"page"`
}

// page is what does not change while the daemon runs.
type page struct {
	Version   string `json:"version"`
	Bots      []Bot  `json:"bots"`
	Demo      bool   `json:"demo"`
	PublicURL string `json:"public_url"`
}

func (s *Server) welcome(epoch string, head int64) welcomeFrame {
	bots := slices.Clone(s.bots)
	if bots == nil {
		bots = []Bot{}
	}
	return welcomeFrame{"welcome", epoch, head, store.At(time.Now()), page{s.version, bots, s.demo, s.config.PublicURL}}
}

// tick tells the time, so that a page sees a dead line, and ends a page whose login has ended.
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
	return c.send(struct {
		T   string     `json:"t"`
		Now store.Time `json:"now"`
	}{"tick", now})
}

// flush sends all that was put in.
func (c *conn) flush() error {
	c.mu.Lock()
	code, queue, renders := c.code, c.queue, c.renders
	c.queue, c.renders = nil, map[store.ID]render{}
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
	frame, err := json.Marshal(v)
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
