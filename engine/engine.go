// Package engine is the life of a turn: admit, run, wait, wake, settle, deliver.
//
//	Receive ──▶ queued ──▶ running ──▶ done
//	              ▲           │ a request failed: the ladder decides
//	              │           ▼
//	              └── retrying │ parked │ rearming │ owed
//
// A turn is a row. What is in memory is only who runs now (run), what falls due soon (timers), and
// what stands before each model (gate); all of it can be read back from the store, which is why a
// crash, a restart, a suspend and a park are one code path. A wait always ends the goroutine: an
// in-process wait keeps the run's record, any other keeps nothing.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/engine/wheel"
	"holdfast/store"
)

// Provider is a model service as main has built it.
type Provider struct {
	llm.Provider
	Config llm.Config
	KeyID  string // short hash of its key: a changed key is a new gate
	Label  string // what people call it; "" = its name
	NoKey  bool   // it needs a key and has none: never a usable fallback

	Window     func(ctx context.Context, model string) int64 // tokens of context that it has loaded a model with; 0 = not known, nil = it does not tell
	WindowHint string                                        // how to raise that, for the log
}

// Parts is what an engine is built from.
type Parts struct {
	Config    Config
	Retry     ladder.Config
	Alerts    Alerts
	Bots      []Bot
	Providers map[string]Provider
	Surfaces  []Surface
	Schedules []Schedule          // what the clock sends; those of an earlier config are taken out of the store
	Tools     map[string]tool.Set // what names in a bot's tools stand for, besides the built-in ones that need the engine

	PublicTools []string // the same for turns of visitors
	Store       *store.Store
	Log         *slog.Logger
	Keep        time.Duration      // settled turns are deleted after it; 0 = never
	PublicURL   string             // of the page, for links; "" = not known
	Location    *time.Location     // days and times for people; nil = local
	Wall        func() time.Time   // the wall clock; nil = time.Now
	Crash       func(point string) // crash points of tests; nil = none
}

// Errors that callers decide by; the store's pass through as well.
var (
	ErrNoBot    = errors.New("no such bot")
	ErrNotYours = errors.New("only who asked, or an operator, may do this")
	ErrHeld     = errors.New("held")                    // Try now inside a hold: the turn returned with it says until when
	ErrAsks     = errors.New("a person has to approve") // Try now of a turn that waits for a word, not for a time
	ErrVersion  = errors.New("the turn has changed")
	ErrStopped  = errors.New("the engine has stopped")
)

// What ends a run from outside; the cause of its context.
var (
	errStop     = errors.New("stopped by a person")
	errShutdown = errors.New("the daemon stops")
)

// Engine is a running house.
type Engine struct {
	Parts
	surfaces map[string]Surface
	wheel    *wheel.Wheel
	outbox   outbox
	ticks    ticks
	earlier  earlier
	webhook  http.Client
	runCtx   context.Context // of every run; ended by endRuns after the grace
	endRuns  context.CancelCauseFunc
	runs     sync.WaitGroup // goroutines of runs and of what they start

	mu        sync.Mutex
	bots      map[string]*Bot
	sched     schedule
	timers    map[store.ID]held
	windowEnd store.Time // rows due up to here are in timers
	swept     lastSweep
	counted   int64 // the store's head when who waits at gates was counted last
	gates     map[string]*gate
	gateList  []*gate // by the number their wheel entries carry
	services  map[string]*service
	tally     tally
	lines     []SurfaceShape
	windows   map[string]windowSeen  // by PROVIDER/MODEL
	cramped   map[string]bool        // bots whose instructions and tools leave little room: told once
	open      map[string]store.Alert // alerts not cleared, by "KIND|SUBJECT"
	streak    map[string]int         // bot → exhaustions in a row
	spending  spending
	paused    []string // targets; "" = everything
	restored  bool     // see isRestored
	ready     error    // nil once timers are loaded
	ledger    ledger
	setBack   bool // the clock stands before what the last process wrote; set by load
	loaded    bool // gates and timers are in: turns may be made ready
	stopping  bool
}

// New builds it; nothing runs and nothing is read yet.
func New(p Parts) (*Engine, error) {
	if p.Wall == nil {
		p.Wall = time.Now
	}
	if p.Location == nil {
		p.Location = time.Local
	}
	if p.Crash == nil {
		p.Crash = func(string) {}
	}
	e := &Engine{
		Parts: p, surfaces: map[string]Surface{}, wheel: wheel.New(wheel.Config{Wall: p.Wall}), sched: newSchedule(p.Config.Workers),
		timers: map[store.ID]held{}, windows: map[string]windowSeen{}, cramped: map[string]bool{}, open: map[string]store.Alert{}, streak: map[string]int{}, gates: map[string]*gate{}, services: map[string]*service{}, tally: newTally(),
		swept: lastSweep{head: -1}, ready: errors.New("timers are not loaded yet"),
	}
	for _, s := range p.Surfaces {
		if e.surfaces[s.Name()] != nil {
			return nil, fmt.Errorf("two surfaces are named %s; give one of them a name", s.Name())
		}
		e.surfaces[s.Name()] = s
		line := SurfaceShape{Name: s.Name(), State: "connecting", Since: e.now(), lost: e.now()}
		if s.Traits().Local {
			line.State, line.lost = "connected", 0
		}
		e.lines = append(e.lines, line)
	}
	e.Tools = e.withBuiltins(p.Tools)
	e.SetBots(p.Bots)
	for name, prov := range p.Providers {
		e.services[name] = newService(name, prov)
	}
	e.outbox, e.ticks = newOutbox(), newTicks()
	e.earlier.known = map[store.ID]*lookedBack{}
	e.runCtx, e.endRuns = context.WithCancelCause(context.Background())
	return e, nil
}

// SetBots replaces the bots; turns that wait take the new chains when they run.
func (e *Engine) SetBots(bots []Bot) {
	m := make(map[string]*Bot, len(bots))
	for _, b := range bots {
		m[b.Name] = &b
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bots = m
	e.letInServed()
}

// SetProvider adds or replaces a provider while the engine runs.
func (e *Engine) SetProvider(name string, p Provider) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.services[name] = newService(name, p)
	e.letInServed()
}

// bot reads one; nil if the config no longer has it.
func (e *Engine) bot(name string) *Bot {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bots[name]
}

// now is the wall clock as the store keeps it.
func (e *Engine) now() store.Time { return store.At(e.Wall()) }

// Run loads what was left, then works until ctx ends, then gives running turns the grace and
// returns when all has truly ended.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.load(); err != nil {
		return fmt.Errorf("load turns: %w", err)
	}
	var parts sync.WaitGroup
	parts.Go(func() { _ = e.wheel.Run(ctx, e.fire) })
	parts.Go(func() { e.watchClock(ctx) })
	parts.Go(func() { e.sweepEveryMinute(ctx) })
	parts.Go(func() { e.deliver(ctx) })
	parts.Go(func() { e.keepTime(ctx) })
	for _, s := range e.Surfaces {
		parts.Go(func() {
			if err := s.Run(ctx, e); err != nil && ctx.Err() == nil {
				e.Log.Error("surface ended", "surface", s.Name(), "err", err)
			}
		})
	}
	parts.Go(func() { e.countBaseline(); e.verify(ctx) })
	parts.Go(e.clampAtStart)
	<-ctx.Done()
	e.stop()
	parts.Wait()
	return nil
}

// stop ends the runs: none begins any more, those under way get the grace, then are cut. A cut run
// writes nothing; the next start finds its turn running and takes it up again (P7).
func (e *Engine) stop() {
	e.mu.Lock()
	e.stopping = true
	e.ready = ErrStopped
	e.mu.Unlock()
	ended := make(chan struct{})
	go func() { e.runs.Wait(); close(ended) }()
	grace := time.NewTimer(e.Config.StopGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
	}
	e.endRuns(errShutdown)
	<-ended
	e.dropRearms()
}

// dropRearms ends waiting re-arms where the settings say that a clean stop does so (R12).
func (e *Engine) dropRearms() {
	if e.Retry.OnStop != "drop" {
		return
	}
	for before := store.ID(0); ; {
		turns, next, err := e.Store.Turns(store.Filter{States: []store.State{store.Rearming}, Before: before, Limit: batch})
		if err != nil {
			e.Log.Error("read waiting re-arms", "err", err)
			return
		}
		for _, t := range turns {
			text := terminalText(e.service(t.Reason.Provider), "did not answer before the daemon was stopped", "spent", t.Attempts, 0)
			e.settle(context.Background(), &run{turn: t.ID}, &t, store.Settled{Outcome: store.Failed, Text: text, Error: text, ClearRearms: true})
			e.Log.Info("turn not re-armed", "turn", t.ID.String(), "why", "stopped")
		}
		if before = next; next == 0 {
			return
		}
	}
}
