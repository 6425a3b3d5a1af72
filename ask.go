package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// askCmd puts one question to a bot. It needs no daemon and leaves nothing behind: an engine of its
// own asks on a store of its own. What a daemon's store says of the models holds for it too, so that
// nothing is sent where a provider has asked for quiet, or an operator has.
type askCmd struct {
	Bot  string   `placeholder:"NAME" help:"Which bot, if there are several."`
	Text []string `arg:"" help:"The question; - reads it from the input."`
}

func (a *askCmd) Run(c *call) error {
	l, err := c.valid()
	if err != nil {
		return err
	}
	ctx, cancel := untilSignal()
	defer cancel()
	l.detectIfNeeded(ctx, c.place)
	bot, err := l.oneBot(a.Bot)
	if err != nil {
		return err
	}
	text := strings.Join(a.Text, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(c.in, 1<<20))
		if err != nil {
			return fmt.Errorf("read the question: %w", err)
		}
		text = string(b)
	}
	if text = strings.TrimSpace(text); text == "" {
		return errors.New("the question is empty")
	}
	err = c.askOnce(ctx, l, bot, text)
	if paused := c.paused(); errors.Is(err, errSaid) && len(paused) > 0 {
		c.sayPaused(c.err, "Paused", paused)
	}
	return err
}

// oneBot is the bot of a name, or the only one.
func (l *loaded) oneBot(name string) (engine.Bot, error) {
	var names []string
	for _, b := range l.Bots {
		if b.Name == name || name == "" && len(l.Bots) == 1 {
			return b, nil
		}
		names = append(names, b.Name)
	}
	if name == "" {
		return engine.Bot{}, fmt.Errorf("there are several bots; say which one: --bot %s", strings.Join(names, ", or --bot "))
	}
	return engine.Bot{}, fmt.Errorf("no bot is named %q; there are: %s", name, strings.Join(names, ", "))
}

// askOnce runs one turn in the fail-fast lane and shows its answer as it comes.
func (c *call) askOnce(ctx context.Context, l *loaded, bot engine.Bot, text string) error {
	dir, err := os.MkdirTemp("", "holdfast-ask-")
	if err != nil {
		return fmt.Errorf("make a place for the question: %w", err)
	}
	defer os.RemoveAll(dir)
	log := quiet()
	st, err := store.Open(store.Config{Dir: dir, Synchronous: "normal"}, log)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := l.asTheHouseKnows(st, c.now()); err != nil {
		return err
	}
	services, err := openProviders(l, log)
	if err != nil {
		return err
	}
	defer services.close()
	shown := &terminal{out: c.out, live: isTerminal(c.out), ended: make(chan outcome, 1)}
	shown.question = engine.Incoming{
		Bot: bot.Name, Surface: shown.Name(), Channel: "ask", Key: rand.Text(), Person: "owner", Text: text, Lane: "fail_fast", Trusted: true,
	}
	eng, err := engine.New(engine.Parts{
		Config: l.Engine, Retry: l.Retry, Bots: []engine.Bot{bot}, Providers: services.byName,
		Surfaces: []engine.Surface{shown}, Store: st, Log: log, Location: l.location(),
	})
	if err != nil {
		return err
	}
	last, err := shown.converse(ctx, eng)
	if err != nil {
		return err
	}
	return shown.finish(c.err, last)
}

// asTheHouseKnows copies what stands before the models, and what is paused, from the house's store.
// One that is not there, or cannot be read, says nothing.
func (l *loaded) asTheHouseKnows(st *store.Store, now time.Time) error {
	house, err := store.OpenReader(l.Store)
	if err != nil {
		return nil
	}
	defer house.Close()
	gates, err := house.Gates()
	if err != nil {
		return fmt.Errorf("read what holds the models back: %w", err)
	}
	for _, g := range gates {
		if err := st.PutGate(g, store.At(now), nil); err != nil {
			return err
		}
	}
	paused, err := house.Meta(store.Paused)
	if err != nil || paused == "" {
		return err
	}
	return st.SetMeta(store.Paused, paused, nil)
}

// terminal is the terminal as a place where people talk: one question, one answer.
type terminal struct {
	out      io.Writer
	live     bool // somebody watches: the answer is shown while it comes
	question engine.Incoming
	ended    chan outcome // gets one

	mu    sync.Mutex
	shown string
}

// outcome is the last post, or why there is none.
type outcome struct {
	post store.Post
	err  error
}

func (*terminal) Name() string { return "terminal" }

// Traits: what is posted is handed over, so that the engine delivers it.
func (*terminal) Traits() engine.Traits { return engine.Traits{} }

// Run puts the question, once the engine knows what holds the models back.
func (t *terminal) Run(ctx context.Context, e *engine.Engine) error {
	if _, err := e.Receive(ctx, t.question); err != nil {
		t.end(outcome{err: err})
	}
	<-ctx.Done()
	return nil
}

// converse runs the engine for as long as the turn takes, and returns the post that ends it.
func (t *terminal) converse(ctx context.Context, eng *engine.Engine) (last store.Post, err error) {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		err := eng.Run(ctx)
		t.end(outcome{err: cmp.Or(err, errors.New("stopped before an answer came"))})
	})
	o := <-t.ended
	stop()
	running.Wait()
	return o.post, o.err
}

// end tells how it ended; only the first one is heard.
func (t *terminal) end(o outcome) {
	select {
	case t.ended <- o:
	default:
	}
}

// Post gets the answer, or the text that says why there is none.
func (t *terminal) Post(_ context.Context, _ engine.Place, p store.Post) (string, error) {
	if p.Kind == "answer" || p.Kind == "terminal" {
		t.end(outcome{post: p})
	}
	return "shown", nil
}

func (t *terminal) Edit(ctx context.Context, to engine.Place, p store.Post) error {
	_, err := t.Post(ctx, to, p)
	return err
}

func (*terminal) Working(engine.Place, store.ID, bool) {}

// Draft shows what is new. An answer that is begun anew, by the next model, begins on a line of its own.
func (t *terminal) Draft(_ engine.Place, _ store.ID, text string) { t.draft(text) }

func (t *terminal) draft(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live {
		t.show(text)
	}
}

// show prints what is not printed yet. mu is held.
func (t *terminal) show(text string) {
	news, goesOn := strings.CutPrefix(text, t.shown)
	if !goesOn {
		news = "\n[begun anew]\n" + text
	}
	t.shown = text
	fmt.Fprint(t.out, news)
}

// finish shows how it ended.
func (t *terminal) finish(errOut io.Writer, last store.Post) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last.Kind == "answer" {
		t.show(last.Text)
		fmt.Fprintln(t.out)
		return nil
	}
	if t.shown != "" {
		fmt.Fprintln(t.out)
	}
	fmt.Fprintln(errOut, last.Text)
	return errSaid
}
