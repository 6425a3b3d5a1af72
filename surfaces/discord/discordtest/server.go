// Package discordtest is a small Discord for tests: the gateway with sessions that resume, and the few
// calls that a bot makes, with their limits, nonces and permissions. It listens on pipes, so that it
// runs inside a bubble of fake time.
package discordtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Who and what there is at the start.
const (
	Bot     = "1100000000000000001" // the bot's user and application
	Guild   = "1100000000000000002"
	General = "1100000000000000003" // channels of Guild
	Other   = "1100000000000000004"
	DM      = "1100000000000000005" // direct messages with Alice
	DMBob   = "1100000000000000006"
	Alice   = "1100000000000000011"
	Bob     = "1100000000000000012"
	Robot   = "1100000000000000013" // another bot
	URL     = "http://discord.test/api/v10/"
)

// Object is JSON.
type Object = map[string]any

// Message is one with its history.
type Message struct {
	ID, Channel, Author, Content, ReplyTo, Nonce string
	Buttons                                      []string // custom ids
	Labels                                       []string // of the buttons
	Pings                                        []string // users who were notified, when it was made
	Edits                                        []string // contents, oldest first
	Deleted                                      bool
	Made                                         time.Time
	Files                                        []string
	mentions                                     []string
}

// Channel is a place.
type Channel struct {
	Guild, Parent, Name                          string
	Type                                         int
	Archived, Locked, NoAccess, NoSend, OldEdits bool
	with                                         string
}

// Fault changes the outcome of calls.
type Fault struct {
	Op         string // "create", "edit", "messages", "gateway" … as Calls names them
	Skip       int    // calls that go well before
	Times      int    // calls; 0 = 1
	Status     int    // answered instead; 0 = none
	Code       int    // Discord's own
	RetryAfter float64
	Global     bool
	Lost       bool          // done, but the answer is lost
	Delay      time.Duration // before the answer
}

// Call is one that was made.
type Call struct {
	Op, Channel string
	At          time.Time
	Status      int // 0: the answer was lost
	Body        Object
}

// Server is a Discord.
type Server struct {
	Token       string        // any other is refused; "" = all are good
	Intents     int           // privileged ones that are turned on
	Heartbeat   time.Duration // of hello
	ResumeFor   time.Duration // how long a session outlives its connection
	NonceFor    time.Duration // how long a nonce is known
	Limits      bool          // 5 calls in 5 s for making, and for editing, in a channel
	Unavailable bool          // every call answers 503

	mu       sync.Mutex
	conns    chan net.Conn
	http     http.Server
	ended    chan struct{}
	served   sync.WaitGroup
	channels map[string]*Channel
	messages []*Message
	faults   []*Fault
	calls    []Call
	answers  []string // to interactions
	buckets  map[string]*bucket
	lastID   int64
	sessions []*session
	sockets  []*socket
	opened   int
}

type bucket struct {
	used int
	till time.Time
}

// New starts one.
func New() *Server {
	s := &Server{
		Heartbeat: 41250 * time.Millisecond, ResumeFor: 2 * time.Minute, NonceFor: 2 * time.Minute, Limits: true,
		conns: make(chan net.Conn), ended: make(chan struct{}), buckets: map[string]*bucket{},
		channels: map[string]*Channel{
			General: {Guild: Guild, Name: "general"}, Other: {Guild: Guild, Name: "other"}, DM: {Type: 1, with: Alice}, DMBob: {Type: 1, with: Bob},
		},
	}
	s.http.Handler = s.routes()
	s.served.Go(func() { _ = s.http.Serve(s) })
	return s
}

// Close ends it with all connections.
func (s *Server) Close() error {
	select {
	case <-s.ended:
		return nil
	default:
	}
	close(s.ended)
	s.mu.Lock()
	for _, c := range s.sockets {
		c.drop()
	}
	s.mu.Unlock()
	err := s.http.Close()
	s.served.Wait()
	return err
}

// Dial connects to it.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case s.conns <- far:
		return near, nil
	case <-s.ended:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Addr and Close make it its own listener.
func (s *Server) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}

// Addr is not asked for.
func (s *Server) Addr() net.Addr { return &net.IPAddr{} }
