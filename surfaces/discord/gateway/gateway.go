// Package gateway is the line over which Discord tells a bot what happens.
//
//	dial ──▶ hello ──┬──▶ identify ──▶ READY            a new session
//	                 └──▶ resume ──▶ what was missed ──▶ RESUMED   the old one goes on
//	                          │ (op 9: not any more)
//	                          └──▶ identify, next time
//
// A session outlives its connection for a minute or two, and the process: whoever keeps the Session
// and gives it back loses nothing over a restart. Its Seq is that of the last event that has been
// handled, not received, and nothing else is ever told to Discord. So an event whose handling failed,
// or that was under way when the process died, comes again; handling must bear that.
//
// The beat finds a connection that is open but dead: a heartbeat without an answer until the next one
// is due. Every end but the fatal ones (see Fatal) leads to the next try, for ever.
package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Intents say which events a bot wants.
const (
	Guilds         = 1 << 0
	GuildMessages  = 1 << 9
	DirectMessages = 1 << 12
	MessageContent = 1 << 15 // privileged: must be turned on by hand; without it only messages to the bot have content
)

// Session is what a resume needs.
type Session struct {
	ID    string `json:"id"`    // "" = there is none
	URL   string `json:"url"`   // where to resume
	Seq   int64  `json:"seq"`   // of the last event handled
	User  string `json:"user"`  // the bot's own id
	App   string `json:"app"`   // its application's
	Token string `json:"token"` // hash of the token it belongs to
}

// Of is the session if it belongs to that token, else none.
func (s Session) Of(token string) Session {
	if s.Token != short(token) {
		return Session{}
	}
	return s
}

// short is a hash to tell tokens apart that must not be written down.
func short(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:8])
}

// Event is something that happened.
type Event struct {
	Type string // "READY", "RESUMED", "MESSAGE_CREATE" …
	Seq  int64
	Data json.RawMessage
}

// Place is where a new session begins.
type Place struct {
	URL        string
	Remaining  int           // sessions that may be begun until …
	ResetAfter time.Duration // … then it is reset
}

// Config is what a client needs.
type Config struct {
	Token   string
	Intents int
	Session Session                                                           // to be resumed
	Locate  func(ctx context.Context) (Place, error)                          // asks where the gateway is; a *Fatal ends Run
	Save    func(Session)                                                     // stores it: when one begins or is lost, at the end, and else once a minute at most
	State   func(state, why string)                                           // "connecting" | "connected" | "down", and why
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
	Log     *slog.Logger
}

const (
	pauseFirst = time.Second     // after the first failure, doubled for each further one …
	pauseMost  = 2 * time.Minute // … up to this: well below the 1,000 sessions of a day
	downAfter  = 3               // failures in a row before people are told
	identifyIn = 5 * time.Second // Discord's least time between two new sessions
	saveEvery  = time.Minute     // how stale a stored Seq may be: a resume from there only repeats
)

// Client keeps the line.
type Client struct {
	cfg        Config
	identified time.Time
	saved      time.Time

	mu      sync.Mutex
	session Session
}

// New makes a client; nothing is dialled yet.
func New(c Config) *Client { return &Client{cfg: c, session: c.Session} }

// Run keeps the line until ctx ends, and then leaves the session so that it can be resumed. Events
// go to handle one at a time and in order; if it fails, the line is begun anew and the event comes
// again. The error is a *Fatal, or nil at the end of ctx.
func (c *Client) Run(ctx context.Context, handle func(context.Context, Event) error) error {
	defer func() { c.cfg.Save(c.current()) }()
	for failures := 0; ; {
		good, err := c.line(ctx, failures, handle)
		if ctx.Err() != nil {
			return nil
		}
		if fatal, ok := errors.AsType[*Fatal](err); ok {
			c.cfg.State("down", fatal.Error())
			return fatal
		}
		if good {
			failures = 0
		}
		a, asked := errors.AsType[*again](err)
		if asked && a.forget {
			c.set(Session{})
		}
		pause := time.Duration(0)
		if !asked || a.wait < 0 { // nobody said how long
			failures++
			pause = backoff(failures)
		} else {
			pause = a.wait
		}
		c.lost(failures, err)
		if !sleep(ctx, pause) {
			return nil
		}
	}
}

// lost tells people that the line is not up.
func (c *Client) lost(failures int, err error) {
	if failures >= downAfter {
		c.cfg.State("down", err.Error())
	} else {
		c.cfg.State("connecting", "")
	}
	c.cfg.Log.Debug("discord line ended", "failures", failures, "err", err)
}

// set changes the session and has it saved if that is due.
func (c *Client) set(s Session) {
	c.mu.Lock()
	other := c.session.ID != s.ID
	c.session = s
	c.mu.Unlock()
	if other || time.Since(c.saved) >= saveEvery {
		c.saved = time.Now()
		c.cfg.Save(s)
	}
}

func (c *Client) current() Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// handled moves the session on; READY begins one.
func (c *Client) handled(e Event) {
	s := c.current()
	if e.Type == "READY" {
		var ready struct {
			ID   string              `json:"session_id"`
			URL  string              `json:"resume_gateway_url"`
			User struct{ ID string } `json:"user"`
			App  struct{ ID string } `json:"application"`
		}
		_ = json.Unmarshal(e.Data, &ready) // handle has read it already
		s = Session{ID: ready.ID, URL: ready.URL, User: ready.User.ID, App: ready.App.ID, Token: short(c.cfg.Token)}
	}
	if s.ID != "" {
		s.Seq = e.Seq
		c.set(s)
	}
	if e.Type == "READY" || e.Type == "RESUMED" {
		c.cfg.State("connected", "")
	}
}

// backoff is the pause before a try, ±25 % so that many bots do not come at once.
func backoff(failures int) time.Duration {
	d := min(pauseFirst<<min(failures-1, 10), pauseMost)
	return d*3/4 + rand.N(d/2)
}

// sleep waits; false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
