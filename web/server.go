// Package web is where people look and press: the HTTP API, the websocket that pages follow, and
// the page itself.
//
// Reads go over the socket, writes over POST. A write is a command with an id made by the client,
// carried out once however often it is sent, and answered after the commit (commands.go). What a
// page sees is made of two streams (live.go, hub.go, conn.go):
//
//	store ── changes, numbered ──▶ hub ── ev ─────┐
//	                                              ├──▶ conn: queue ──▶ socket
//	engine ── text that streams ──▶ Live ─ render ┘
//
// The first is durable: a page that was away says how far it had come and gets what it missed. The
// second is not: a frame says "blocks from k on are now these", and only the latest counts. Neither
// ever waits for a page; one that is too slow is cut off and comes back.
//
// Who may do so is decided in guard.go (names of this host, origins, headers) and access.go (token,
// login).
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// surface is the name of the web among the places where people talk.
const surface = "web"

// house is what of the engine this room uses; *engine.Engine has it.
type house interface {
	Ready() error
	Receive(ctx context.Context, in engine.Incoming) (store.Admitted, error)
	Stop(ctx context.Context, o engine.Order) (store.Turn, error)
	Cancel(ctx context.Context, o engine.Order) (store.Turn, error)
	Resume(ctx context.Context, o engine.Order) (store.Turn, error)
	Release(ctx context.Context, model string, c *store.Command) error
	Pause(ctx context.Context, target string, c *store.Command) error
	Unpause(ctx context.Context, target string, c *store.Command) error
	Regenerate(ctx context.Context, o engine.Order) (store.Turn, error)
	EditMessage(ctx context.Context, o engine.Order, text string) (store.Turn, error)
	Decide(ctx context.Context, d engine.Decision) (store.Turn, error)
	CallsOf(t store.Turn) ([]engine.CallShape, *engine.ApprovalShape, error)
	Ack(ctx context.Context, alert store.ID, c *store.Command) error
	Schedules() ([]store.Schedule, error)
	RunSchedule(ctx context.Context, name string, c *store.Command) (store.Turn, error)
	PauseSchedule(ctx context.Context, name string, paused bool, c *store.Command) error
	DeleteSchedule(ctx context.Context, name string, c *store.Command) error
	Shape() engine.Shape
	Providers() []engine.ProviderShape
	Figures() engine.Figures
}

// Bot is a bot as the page names it.
type Bot struct {
	Name   string   `json:"name"`
	Models []string `json:"models"` // PROVIDER/MODEL, in the order of the chain
}

// Parts is what a server is built from.
type Parts struct {
	Store   *store.Store
	Engine  house
	Live    *Live // the same that the surface in surfaces/webchat was given
	Log     *slog.Logger
	Version string
	Bots    []Bot
	Demo    bool         // the demo provider answers, since no model was found
	Dir     string       // where web.token lies; used if the config has no token
	Pages   fs.FS        // the built page; nil = Dist
	Listen  net.Listener // to serve on; nil = Run listens at Config.Listen

	Tail     *Log           // the handler through which all is logged, so that operators' pages can follow; nil = they cannot
	Location *time.Location // times for people; nil = local

	Currency string // of the prices
	Prices   []engine.Price

	Login string // the command that prints a login link, as it is told to whoever is not logged in; "" = "holdfast login"
}

// Server serves the page and the API.
type Server struct {
	config  Config
	store   *store.Store
	engine  house
	live    *Live
	hub     *hub
	log     *slog.Logger
	version string
	bots    []Bot
	demo    bool
	token   [32]byte // sha256
	login   string   // the command that prints a login link
	assets  *assets
	tries   *throttle
	limits  *limits
	metrics http.Handler
	tail    *tail
	started time.Time
	tick    time.Duration // between two ticks of a socket

	location *time.Location
	currency string
	prices   map[string]engine.Price // by model

	listener  net.Listener
	names     *names        // set before listening is closed
	listening chan struct{} // closed when the port is known, or Run has failed to get one
}

// New builds a server; nothing is listened on yet. It makes <dir>/web.token if there is no token.
func New(c Config, p Parts) (*Server, error) {
	if c.Token == "" {
		token, err := TokenFile(p.Dir)
		if err != nil {
			return nil, err
		}
		c.Token = token
	}
	if p.Pages == nil {
		p.Pages = Dist
	}
	p.Login = cmp.Or(p.Login, "holdfast login")
	files, err := loadAssets(p.Pages, p.Login)
	if err != nil {
		return nil, fmt.Errorf("load the page: %w", err)
	}
	s := &Server{
		config: c, store: p.Store, engine: p.Engine, live: p.Live, log: p.Log, version: p.Version, bots: p.Bots, demo: p.Demo,
		token: digest(c.Token), login: p.Login, assets: files, tries: newThrottle(5, time.Minute), started: time.Now(), tick: tickEvery,
		limits: newLimits(c.Visitor, c.Visitors), metrics: newMetrics(p.Engine, p.Store, p.Log), location: cmp.Or(p.Location, time.Local),
		currency: p.Currency, prices: pricesOf(p.Prices),
		listener: p.Listen, listening: make(chan struct{}),
	}
	if p.Tail == nil {
		p.Tail = NewLog(slog.DiscardHandler)
	}
	s.tail = p.Tail.tail
	s.hub = &hub{reader: reader{store: p.Store, engine: p.Engine, live: p.Live}, log: p.Log}
	return s, nil
}

// Run listens and serves until ctx ends. Then open pages are told and let go, requests under way
// get 5 s, and it returns when all has ended.
func (s *Server) Run(ctx context.Context) error {
	if err := s.listen(ctx); err != nil {
		return err
	}
	httpd := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	parts.Go(func() { s.live.run(inner) })
	parts.Go(func() { s.hub.run(inner) })
	served := make(chan error, 1)
	parts.Go(func() { served <- httpd.Serve(s.listener) })

	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
	}
	s.live.close() // Shutdown does not know of sockets
	grace, cancel := context.WithTimeout(inner, 5*time.Second)
	defer cancel()
	if httpd.Shutdown(grace) != nil {
		httpd.Close()
	}
	stop()
	parts.Wait()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

func (s *Server) listen(ctx context.Context) error {
	defer close(s.listening)
	if s.listener == nil {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.config.Listen)
		if err != nil {
			return fmt.Errorf("listen at %s: %w; is another holdfast running? [web] listen sets the address", s.config.Listen, err)
		}
		s.listener = l
	}
	s.names = newNames(s.config, s.listener.Addr())
	return nil
}

// Addr is the address that is listened on, HOST:PORT. It waits for Run; "" if Run could not listen.
func (s *Server) Addr() string {
	<-s.listening
	if s.names == nil {
		return ""
	}
	return net.JoinHostPort(s.names.host, strconv.Itoa(s.names.port))
}

// URL is where people open the page: public_url, or the local address. It waits like Addr.
func (s *Server) URL() string {
	<-s.listening
	if s.names == nil {
		return ""
	}
	return s.names.base
}
