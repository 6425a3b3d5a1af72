package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// session is what a resume finds.
type session struct {
	id      string
	intents int
	events  []event
	socket  *socket // nil = nobody is connected
	left    time.Time
	dead    bool
}

type event struct {
	seq  int
	kind string
	data json.RawMessage
}

// socket is one connection.
type socket struct {
	server *Server
	conn   *websocket.Conn
	frozen bool
	beats  []json.RawMessage
	closed int // the code of the client's close frame
	frames int

	mu    sync.Mutex
	queue []frame // to be written; a pipe has no buffer, and a call must not wait for the client to read
	wake  chan struct{}
}

type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int            `json:"s"`
	Type string          `json:"t,omitempty"`
}

// privileged is the intent that must be turned on.
const privileged = 1 << 15

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &socket{server: s, conn: conn, wake: make(chan struct{}, 1)}
	var writer sync.WaitGroup
	defer writer.Wait()
	defer close(c.wake)
	writer.Go(c.write)
	s.mu.Lock()
	s.sockets = append(s.sockets, c)
	s.opened++
	c.send(10, Object{"heartbeat_interval": s.Heartbeat.Milliseconds()}, nil, "")
	s.mu.Unlock()
	for {
		var f frame
		if err := conn.ReadJSON(&f); err != nil {
			s.mu.Lock()
			s.gone(c, err)
			s.sockets = slices.DeleteFunc(s.sockets, func(x *socket) bool { return x == c && len(s.sockets) > 1 })
			s.mu.Unlock()
			_ = conn.Close()
			return
		}
		s.mu.Lock()
		if c.frames++; !c.frozen {
			s.receive(c, f)
		}
		s.mu.Unlock()
	}
}

// gone forgets a connection.
func (s *Server) gone(c *socket, err error) {
	if e, ok := err.(*websocket.CloseError); ok {
		c.closed = e.Code
	}
	for _, x := range s.sessions {
		if x.socket == c {
			x.socket, x.left = nil, time.Now()
			x.dead = x.dead || c.closed == 1000 || c.closed == 1001
		}
	}
}

func (s *Server) receive(c *socket, f frame) {
	switch f.Op {
	case 1:
		c.beats = append(c.beats, f.Data)
		c.send(11, nil, nil, "")
	case 2:
		var in struct {
			Token   string
			Intents int
		}
		_ = json.Unmarshal(f.Data, &in)
		switch {
		case s.Token != "" && in.Token != s.Token:
			c.close(4004)
			return
		case in.Intents&privileged&^s.Intents != 0:
			c.close(4014)
			return
		}
		x := &session{id: s.newID(), intents: in.Intents, socket: c}
		s.sessions = append(s.sessions, x)
		x.push("READY", Object{"user": s.user(Bot), "session_id": x.id, "resume_gateway_url": "ws://resume.test/gateway",
			"guilds": []Object{{"id": Guild, "unavailable": true}}, "application": Object{"id": Bot}})
		x.push("GUILD_CREATE", Object{"id": Guild, "channels": s.guildChannels(false), "threads": s.guildChannels(true)})
	case 6:
		var in struct {
			ID  string `json:"session_id"`
			Seq int
		}
		_ = json.Unmarshal(f.Data, &in)
		for _, x := range s.sessions {
			if x.id != in.ID || x.dead || x.socket == nil && time.Since(x.left) > s.ResumeFor {
				continue
			}
			x.socket = c
			for _, e := range x.events {
				if e.seq > in.Seq {
					c.event(e)
				}
			}
			x.push("RESUMED", Object{})
			return
		}
		c.send(9, false, nil, "")
	}
}

func (x *session) push(kind string, data any) {
	e := event{len(x.events) + 1, kind, asJSON(data)}
	x.events = append(x.events, e)
	if x.socket != nil && !x.socket.frozen {
		x.socket.event(e)
	}
}

// dispatch tells all sessions; without the privileged intent the content of what is not for the bot
// is blank.
func (s *Server) dispatch(kind, channel string, data Object) {
	for _, x := range s.sessions {
		if x.dead {
			continue
		}
		told := Object{}
		for k, v := range data {
			told[k] = v
		}
		if c := s.channels[channel]; c != nil && c.Guild != "" && x.intents&privileged == 0 && !s.concernsBot(data) {
			told["content"] = ""
		}
		x.push(kind, told)
	}
}

func (s *Server) concernsBot(m Object) bool {
	if a, ok := m["author"].(Object); ok && a["id"] == Bot {
		return true
	}
	mentions, _ := m["mentions"].([]Object)
	for _, u := range mentions {
		if u["id"] == Bot {
			return true
		}
	}
	return false
}

// event and send queue one frame.
func (c *socket) event(e event) { c.send(0, e.data, &e.seq, e.kind) }

func (c *socket) send(op int, data any, seq *int, kind string) {
	c.put(frame{op, asJSON(data), seq, kind})
}

// close queues a close frame.
func (c *socket) close(code int) { c.put(frame{Op: -code}) }

func (c *socket) put(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, f)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write writes what is queued until wake is closed.
func (c *socket) write() {
	for range c.wake {
		c.mu.Lock()
		list := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, f := range list {
			if f.Op < 0 {
				_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(-f.Op, ""), time.Now().Add(time.Second))
				continue
			}
			_ = c.conn.SetWriteDeadline(time.Now().Add(time.Minute))
			_ = c.conn.WriteJSON(f)
		}
	}
}

func (c *socket) drop() { _ = c.conn.UnderlyingConn().Close() }

// Each does something to every connection that is open.
func (s *Server) each(do func(*socket)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		if x.socket != nil {
			do(x.socket)
		}
	}
}

// Reconnect asks for a new connection (op 7).
func (s *Server) Reconnect() { s.each(func(c *socket) { c.send(7, nil, nil, "") }) }

// Invalidate ends the sessions (op 9).
func (s *Server) Invalidate() {
	s.each(func(c *socket) { c.send(9, false, nil, "") })
	s.Forget()
}

// Forget ends the sessions without a word.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		x.dead = true
	}
}

// Beat asks for a heartbeat (op 1).
func (s *Server) Beat() { s.each(func(c *socket) { c.send(1, nil, nil, "") }) }

// CloseWith closes with a code.
func (s *Server) CloseWith(code int) { s.each(func(c *socket) { c.close(code) }) }

// Drop cuts the connections.
func (s *Server) Drop() { s.each(func(c *socket) { c.drop() }) }

// Freeze makes zombies of them: open, but nothing is answered or told.
func (s *Server) Freeze() { s.each(func(c *socket) { c.frozen = true }) }

// Line is what the gateway has seen.
type Line struct {
	Opened   int   // connections
	Sessions int   // identifies
	Beats    []int // sequence numbers of the last connection's heartbeats; -1 = null
	Closed   int   // the code with which the client left the last connection
	Frames   int   // from the client, on the last connection
	Resumed  int   // resumes that worked
}

// Line reads it.
func (s *Server) Line() (l Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Opened, l.Sessions = s.opened, len(s.sessions)
	for _, x := range s.sessions {
		for _, e := range x.events {
			if e.kind == "RESUMED" {
				l.Resumed++
			}
		}
	}
	if len(s.sockets) > 0 {
		last := s.sockets[len(s.sockets)-1]
		l.Closed, l.Frames = last.closed, last.frames
		for _, b := range last.beats {
			n := -1
			_ = json.Unmarshal(b, &n)
			l.Beats = append(l.Beats, n)
		}
	}
	return l
}
