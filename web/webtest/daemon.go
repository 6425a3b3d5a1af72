package webtest

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// csp is what the server sends with every answer.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types md"

// Object is one thing as the protocol has it.
type Object = map[string]any

// Command is what the page posted.
type Command struct {
	ID     string `json:"id"`
	Cmd    string `json:"cmd"`
	Target string `json:"target"`
	Args   Object `json:"args"`
}

// Daemon is the server's side of the protocol without a daemon behind it: it serves a built page,
// holds whatever objects a test puts in, and tells open pages of them.
type Daemon struct {
	URL string
	// OnCommand answers a command; nil or status 0 accepts it, -1 cuts the line instead of answering.
	OnCommand func(Command) (status int, reply any)
	// Health is what /api/v1/state answers.
	Health Object
	// Demo, Bots and Visitor are told in the welcome.
	Demo    bool
	Bots    []Object
	Visitor bool
	// Messages is how many of them a snapshot or a page of older ones has at most; 0 = all.
	Messages int
	// Has is what of the operator's page there is: "schedules", "memory", "usage".
	Has []string

	t     testing.TB
	pages fs.FS

	mu       sync.Mutex
	seq      int64
	epoch    string
	out      bool // nobody is logged in
	away     bool // handshakes and requests fail
	objects  map[string][]Object
	renders  map[string][]string
	chatOf   map[string]string // turn → chat of its render
	conns    map[*line]bool
	commands []Command
}

// line is one open socket.
type line struct {
	mu   sync.Mutex
	ws   *websocket.Conn
	chat string
	log  string // level from which it wants log lines; "" = none
}

func (l *line) send(v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ws.WriteJSON(v) // a page that is gone cannot be told
}

// NewDaemon serves a built page until the test ends.
func NewDaemon(t testing.TB, pages fs.FS) *Daemon {
	d := &Daemon{
		t: t, pages: pages, epoch: "e1", seq: 1, objects: map[string][]Object{}, renders: map[string][]string{},
		chatOf: map[string]string{}, conns: map[*line]bool{}, Bots: []Object{{"name": "bot", "models": []string{"demo/demo"}}},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{name}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, pages, r.PathValue("name")) })
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { d.index(w) })
	mux.HandleFunc("POST /login", d.login)
	mux.HandleFunc("POST /api/v1/commands", d.command)
	mux.HandleFunc("GET /api/v1/state", func(w http.ResponseWriter, r *http.Request) { d.reply(w, d.health()) })
	mux.HandleFunc("GET /api/v1/turns", d.turns)
	mux.HandleFunc("GET /api/v1/turns/{id}", d.turn)
	mux.HandleFunc("GET /api/v1/chats", d.chats)
	mux.HandleFunc("GET /api/v1/chats/{id}/messages", d.messages)
	mux.HandleFunc("GET /api/v1/schedules", func(w http.ResponseWriter, r *http.Request) { d.list(w, "schedules", "schedule", r) })
	mux.HandleFunc("GET /api/v1/memory", func(w http.ResponseWriter, r *http.Request) { d.list(w, "memories", "memory", r) })
	mux.HandleFunc("GET /api/v1/usage", func(w http.ResponseWriter, r *http.Request) { d.list(w, "days", "usage", r) })
	mux.HandleFunc("GET /ws", d.socket)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", csp)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if d.is(&d.away) {
			if h, ok := w.(http.Hijacker); ok {
				c, _, _ := h.Hijack()
				c.Close()
			}
			return
		}
		if d.is(&d.out) && (strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/ws") {
			d.refuse(w, 401, "login", "log in first")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		d.Drop(0)
		s.Close()
	})
	d.URL = s.URL
	return d
}

func (d *Daemon) health() Object {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Health
}

func (d *Daemon) is(flag *bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return *flag
}

// SetHealth changes one field of what /api/v1/state answers.
func (d *Daemon) SetHealth(field string, v any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Health = maps.Clone(d.Health)
	d.Health[field] = v
}

// LogOut makes everything answer 401 until the secret "open" is posted to /login.
func (d *Daemon) LogOut() {
	d.mu.Lock()
	d.out = true
	d.mu.Unlock()
	d.Drop(4401)
}

// Away breaks all lines and answers nothing until it is called with false.
func (d *Daemon) Away(away bool) {
	d.mu.Lock()
	d.away = away
	d.mu.Unlock()
	d.Drop(0)
}

// Drop closes every socket with a code; 0 just cuts the line.
func (d *Daemon) Drop(code int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.conns {
		if code != 0 {
			l.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
		}
		l.ws.Close()
	}
}

// Put stores an object of a kind (chat, message, turn, attempt, gate, alert, provider, and for lists
// schedule, memory, usage) and tells open pages.
func (d *Daemon) Put(kind string, o Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	same := func(x Object) bool {
		return x["id"] == o["id"] && x["turn"] == o["turn"] && x["n"] == o["n"] && x["name"] == o["name"]
	}
	if i := slices.IndexFunc(d.objects[kind], same); i >= 0 {
		d.objects[kind][i] = o
	} else {
		d.objects[kind] = append(d.objects[kind], o)
	}
	if kind == "turn" && o["state"] != "running" {
		delete(d.renders, fmt.Sprint(o["id"]))
	}
	for l := range d.conns {
		if kind != "message" && kind != "attempt" || l.chat == o["chat"] || kind == "attempt" {
			l.send(Object{"t": "ev", "seq": d.seq, "k": kind, "d": o})
		}
	}
}

// Remove takes an object away.
func (d *Daemon) Remove(kind, field string, value any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	d.objects[kind] = slices.DeleteFunc(d.objects[kind], func(o Object) bool { return o[field] == value })
	for l := range d.conns {
		l.send(Object{"t": "ev", "seq": d.seq, "k": "removed", "d": Object{"kind": kind, "id": value}})
	}
}

// Render says that a turn's blocks from index from on are now these.
func (d *Daemon) Render(turn, chat string, from int, blocks ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.renders[turn] = append(d.renders[turn][:from:from], blocks...)
	d.chatOf[turn] = chat
	for l := range d.conns {
		if l.chat == chat {
			l.send(Object{"t": "render", "turn": turn, "chat": chat, "from": from, "blocks": blocks})
		}
	}
}

// Tick tells open pages the time, and how models do.
func (d *Daemon) Tick(providers []Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.conns {
		l.send(Object{"t": "tick", "now": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "providers": providers})
	}
}

// Log writes a line for the pages that want log lines, of whatever level. n is its number.
func (d *Daemon) Log(n int, level, msg string, attrs Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.conns {
		if l.log != "" {
			l.send(Object{"t": "log", "n": n, "at": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "level": level, "msg": msg, "attrs": attrs})
		}
	}
}

// LogLevels are the levels from which open pages want log lines.
func (d *Daemon) LogLevels() (levels []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.conns {
		if l.log != "" {
			levels = append(levels, l.log)
		}
	}
	return levels
}

// Commands are those that the page posted so far.
func (d *Daemon) Commands() []Command {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.commands)
}
