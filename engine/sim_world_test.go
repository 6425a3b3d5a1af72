package engine

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"holdfast/engine/tool"
	"holdfast/store"
)

// sim plays a script on a whole engine with a real store, inside a bubble of fake time, and checks
// after every event what must be true at all times (DESIGN.md §6). A kill closes the store first, so
// that what the process still does is written nowhere, as after a kill -9.
type sim struct {
	script simScript
	kept   *store.Kept
	parts  Parts
	models map[string]*simModels
	chat   *simChat
	log    *simLog
	began  time.Time
	offset atomic.Int64 // of the wall clock against the bubble's
	moved  time.Time    // when it last jumped, by the bubble's clock

	engine *Engine // nil while it is down
	store  *store.Store
	cancel context.CancelFunc
	ended  chan struct{}
	dead   chan struct{} // closed when this process is killed
	killed chan struct{} // closed before it is
	world  *simWorld
	again  time.Time // when it is started again

	mu       sync.Mutex
	point    string        // the crash point that kills
	downtime time.Duration // and how long it is down then
	hit      chan struct{} // one token: the point has been reached
	faults   []simFault
	answers  map[string]time.Duration // when the model last answered a message

	said    map[string]*simSaid
	unheard []*simSaid // not acknowledged: the platform delivers them again
	heard   int
	checked checked

	bots       []Bot           // of the config, those that are gone from it as well
	gone       map[string]bool // bots and providers that it has not now
	nextConfig []func()        // changes of the config, made at the next start

	messages map[string]int          // by bot, person and day, as a limit counts them
	tokens   map[string][]store.Time // by bot: when answers came, of simTokens each
}

// simFault is something that must never be.
type simFault struct {
	kind string
	text string
	at   time.Duration
	line string
}

// simSaid is a message or a command that people have sent.
type simSaid struct {
	in      Incoming
	label   string
	turn    store.ID // once it is acknowledged
	order   int      // in which they were acknowledged
	command bool
	tried   string // the day when it was last delivered
	deleted bool   // its text is gone
	anew    bool   // it has been asked again
}

func (s *sim) now() store.Time { return store.At(s.wall()) }

// wall is the engine's clock. Who reads it lets others go first now and then, so that on a single core
// too what happens at the same moment happens in any order.
func (s *sim) wall() time.Time {
	if rand.IntN(8) == 0 {
		runtime.Gosched()
	}
	return time.Now().Add(time.Duration(s.offset.Load()))
}

func (s simScript) early() bool { return slices.Contains(s, "set stated_wait_early true") }

// fault notes one; only the first is told.
func (s *sim) fault(kind, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		s.faults = append(s.faults, simFault{kind: kind, text: fmt.Sprintf(format, args...), at: time.Since(s.began)})
	}
}

func (s *sim) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults) > 0
}

// playScript plays it in a place that it has for itself; it must be called in a bubble.
func playScript(script simScript, kept *store.Kept) *sim {
	s := &sim{
		script: script, kept: kept, models: map[string]*simModels{}, log: &simLog{}, began: time.Now(), hit: make(chan struct{}, 1),
		said: map[string]*simSaid{}, answers: map[string]time.Duration{}, chat: &simChat{shown: map[string]store.Post{}, byPost: map[string]string{}}, checked: newChecked(),
		gone: map[string]bool{}, messages: map[string]int{}, tokens: map[string][]store.Time{},
	}
	s.world = newWorld(s)
	s.log.began = s.began
	parts, providers, err := script.parts()
	if err == nil {
		err = kept.Empty()
	}
	if err != nil {
		s.fault("script", "%v", err)
		return s
	}
	parts.Surfaces = []Surface{&fakeSurface{name: "web", local: true}, s.chat}
	parts.Log, parts.Wall, parts.Crash = slog.New(s.log), s.wall, s.crash
	s.bots = parts.Bots
	for name, n := range providers {
		s.models[name] = &simModels{sim: s, name: name, key: "k1", slots: max(1, n[0]), daily: n[1], plays: map[string][]string{}, at: map[string]int{}, live: map[*simRequest]bool{}, days: map[string]int{}}
	}
	s.parts = parts
	s.start()
	events := script.events()
	if n := len(events); n == 0 || events[n-1].words[0] != "heal" {
		events = append(events, simEvent{at: time.Since(s.began), words: []string{"heal"}, line: "heal"})
	}
	for _, ev := range events {
		s.passUntil(s.began.Add(ev.at))
		if s.failed() {
			break
		}
		s.do(ev)
		s.look()
		s.mu.Lock()
		for i := range s.faults {
			s.faults[i].line = ev.line
		}
		s.mu.Unlock()
	}
	s.end()
	return s
}

// start opens the store and runs the engine; what was not acknowledged is delivered again.
func (s *sim) start() {
	s.configured()
	opened, err := s.kept.Open("normal", slog.New(slog.DiscardHandler))
	if err != nil {
		s.fault("start", "%v", err)
		return
	}
	s.parts.Store, s.killed = opened, make(chan struct{})
	s.parts.Tools = map[string]tool.Set{"box": s.world.tools(s.killed)}
	e, err := New(s.parts)
	if err != nil {
		s.fault("start", "%v", err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.store, s.engine, s.cancel, s.ended, s.dead = opened, e, cancel, make(chan struct{}), make(chan struct{})
	s.moved = time.Now()
	ended := s.ended
	go func() {
		defer close(ended)
		if err := e.Run(ctx); err != nil {
			s.fault("run", "%v", err)
		}
	}()
	synctest.Wait()
	if err := e.Ready(); err != nil {
		s.fault("not ready", "%v", err)
	}
	unheard := s.unheard
	s.unheard = nil
	for _, said := range unheard {
		s.deliver(said)
	}
}

// crash is the engine's hook: whoever reaches the point stops there for good.
func (s *sim) crash(point string) {
	if rand.IntN(2) == 0 {
		runtime.Gosched()
	}
	s.mu.Lock()
	if s.point != point {
		s.mu.Unlock()
		return
	}
	s.point = ""
	dead := s.dead
	s.hit <- struct{}{}
	s.mu.Unlock()
	<-dead
}

// kill ends the process as kill -9 does, and says when it is started again.
func (s *sim) kill(down time.Duration) {
	if s.engine == nil {
		return
	}
	s.mu.Lock()
	s.point = ""
	s.mu.Unlock()
	s.log.mute(true)
	close(s.killed)
	if err := s.store.Close(); err != nil {
		s.fault("close", "%v", err)
	}
	s.engine.Config.StopGrace = 0
	s.stop(time.Minute)
	synctest.Wait()
	s.log.mute(false)
	for _, m := range s.models {
		m.killed(s.now())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for bot := range s.tokens { // what came in the moment of the kill may not have been written
		s.tokens[bot] = slices.DeleteFunc(s.tokens[bot], func(at store.Time) bool { return at >= s.now() })
	}
	s.again = time.Now().Add(down)
}

// restart stops it cleanly.
func (s *sim) restart(down time.Duration) {
	if s.engine == nil {
		return
	}
	s.mu.Lock()
	s.point = ""
	s.mu.Unlock()
	grace := s.engine.Config.StopGrace
	s.stop(grace + 30*time.Second)
	if err := s.store.Close(); err != nil {
		s.fault("close", "%v", err)
	}
	s.again = time.Now().Add(down)
}

// stop ends the engine, which must not take longer than given.
func (s *sim) stop(atMost time.Duration) {
	s.cancel()
	close(s.dead)
	select {
	case <-s.ended:
	case <-time.After(atMost):
		s.fault("hangs", "the engine does not end within %v", atMost)
		<-s.ended
	}
	select { // a point that was reached on the way
	case <-s.hit:
	default:
	}
	s.engine = nil
	s.checked.restarted()
}

// passUntil lets time pass, with starts and kills on the way, and looks now and then.
func (s *sim) passUntil(end time.Time) {
	looks := 2
	for !s.failed() {
		next := end
		if left := time.Until(end); looks > 0 && left > 20*time.Millisecond {
			next = time.Now().Add(left / 3)
			looks--
		}
		if s.engine == nil && s.again.Before(next) {
			next = s.again
		}
		s.passPieces(next)
		if s.engine == nil && !s.again.After(time.Now()) {
			s.start()
		}
		if !time.Now().Before(end) {
			return
		}
		s.look()
	}
}

// passPieces sleeps until then, or until a crash point is reached.
func (s *sim) passPieces(end time.Time) {
	synctest.Wait()
	if s.atPoint() {
		return
	}
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.hit:
		s.hit <- struct{}{}
	}
	synctest.Wait()
	s.atPoint()
}

// atPoint kills if a crash point has been reached.
func (s *sim) atPoint() bool {
	select {
	case <-s.hit:
		s.kill(s.downtime)
		return true
	default:
		return false
	}
}

// look checks everything at a quiet moment.
func (s *sim) look() {
	synctest.Wait()
	s.atPoint()
	if s.engine != nil && !s.failed() {
		s.check()
	}
}

// end stops everything, so that the bubble can end.
func (s *sim) end() {
	if s.engine == nil {
		return
	}
	s.log.mute(true)
	s.engine.Config.StopGrace = 0
	s.stop(time.Minute)
	if err := s.store.Close(); err != nil {
		s.fault("close", "%v", err)
	}
}

// simLog keeps what is logged, unformatted.
type simLog struct {
	began time.Time
	mu    sync.Mutex
	lines []simLine
	muted bool
	bad   []string // errors that nothing explains
}

type simLine struct {
	at time.Duration
	r  slog.Record
}

func (l *simLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *simLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *simLog) WithGroup(string) slog.Handler            { return l }
func (l *simLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := simLine{time.Since(l.began), r.Clone()}
	l.lines = append(l.lines, line)
	if r.Level >= slog.LevelError && !l.muted {
		l.bad = append(l.bad, line.String())
	}
	return nil
}

// mute expects errors, as while a killed process falls apart.
func (l *simLog) mute(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = on
}

func (l *simLog) errors() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bad
}

func (l simLine) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12v %s %s", l.at, l.r.Level, l.r.Message)
	l.r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&b, " %s=%v", a.Key, a.Value); return true })
	return b.String()
}

// String is the last lines.
func (l *simLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, line := range l.lines[max(0, len(l.lines)-60):] {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// hasAnswered notes that a model has answered messages.
func (s *sim) hasAnswered(labels []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, label := range labels {
		s.answers[label] = time.Since(s.began)
	}
	if len(labels) > 0 {
		bot := s.said[labels[0]].in.Bot
		s.tokens[bot] = append(s.tokens[bot], s.now())
	}
}
