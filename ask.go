package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
	return c.askOnce(ctx, l, bot, text)
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
	closed, err := l.asTheHouseKnows(st, bot, c.now())
	if err != nil {
		return err
	} else if closed != "" {
		fmt.Fprintln(c.err, closed)
		return errSaid
	}
	services, err := openProviders(l, log)
	if err != nil {
		return err
	}
	defer services.close()
	shown := &terminal{out: c.out, live: isTerminal(c.out), ended: make(chan store.Post, 1)}
	eng, err := engine.New(engine.Parts{
		Config: l.Engine, Retry: l.Retry, Bots: []engine.Bot{bot}, Providers: services.byName,
		Surfaces: []engine.Surface{shown}, Store: st, Log: log, Location: l.location(),
	})
	if err != nil {
		return err
	}
	last, err := askWith(ctx, eng, shown, engine.Incoming{
		Bot: bot.Name, Surface: shown.Name(), Channel: "ask", Key: rand.Text(), Person: "owner", Text: text, Lane: "fail_fast", Trusted: true,
	})
	if err != nil {
		return err
	}
	return shown.finish(c.err, last)
}

// askWith runs the engine for as long as one turn takes, and returns the post that ends it.
func askWith(ctx context.Context, eng *engine.Engine, shown *terminal, in engine.Incoming) (last store.Post, err error) {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- eng.Run(ctx) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	if _, err := eng.Receive(ctx, in); err != nil {
		return last, err
	}
	select {
	case <-ctx.Done():
		return last, errors.New("stopped before an answer came")
	case err := <-ended:
		ended <- nil
		return last, errors.Join(errors.New("the engine ended before an answer came"), err)
	case last := <-shown.ended:
		return last, nil
	}
}

// asTheHouseKnows copies what stands before the models from the house's store, and says why none of
// the bot's can be asked now; "" if one can. A store that is not there, or cannot be read, says nothing.
func (l *loaded) asTheHouseKnows(st *store.Store, bot engine.Bot, now time.Time) (closed string, err error) {
	house, err := store.OpenReader(l.Store)
	if err != nil {
		return "", nil
	}
	defer house.Close()
	gates, err := house.Gates()
	if err != nil {
		return "", fmt.Errorf("read what holds the models back: %w", err)
	}
	ends := map[string]time.Time{}
	for _, g := range gates {
		if err := st.PutGate(g, store.At(now), nil); err != nil {
			return "", err
		}
		if g.Why != "" {
			ends[g.Key] = g.Until.Go()
		}
	}
	var paused []string
	if text, err := house.Meta(store.Paused); err == nil && text != "" {
		_ = json.Unmarshal([]byte(text), &paused) // of a store that is damaged: then nothing is
	}
	return l.closedTo(bot, ends, paused, now), nil
}

// closedTo says why a bot's models cannot be asked, with the ends of the gates by key; "" if one can.
func (l *loaded) closedTo(bot engine.Bot, ends map[string]time.Time, paused []string, now time.Time) string {
	var first time.Time
	for _, m := range bot.Models {
		provider, model, _ := strings.Cut(m, "/")
		if slices.ContainsFunc(paused, func(t string) bool { return t == "" || t == bot.Name || t == provider }) {
			continue
		}
		end := ends[provider+"|"+keyID(l.Providers[provider].APIKey)+"|"+model]
		if !end.After(now) {
			return ""
		}
		if first.IsZero() || end.Before(first) {
			first = end
		}
	}
	switch {
	case first.IsZero():
		return "Sending is paused by an operator; holdfast unpause ends that."
	case first.Sub(now) > l.Retry.FailFastWait:
		return fmt.Sprintf("The AI is out of capacity until %s; ask again then.", clock(&first, now))
	}
	return "The AI is busy right now — give it a minute and ask again."
}

// terminal is the terminal as a place where people talk: one question, one answer.
type terminal struct {
	out   io.Writer
	live  bool            // somebody watches: the answer is shown while it comes
	ended chan store.Post // gets the last post

	mu    sync.Mutex
	shown string
}

func (*terminal) Name() string { return "terminal" }

// Traits: what is posted is handed over, so that the engine delivers it.
func (*terminal) Traits() engine.Traits { return engine.Traits{} }

func (*terminal) Run(ctx context.Context, _ *engine.Engine) error {
	<-ctx.Done()
	return nil
}

// Post gets the answer, or the text that says why there is none.
func (t *terminal) Post(_ context.Context, _ engine.Place, p store.Post) (string, error) {
	if p.Kind == "answer" || p.Kind == "terminal" {
		select {
		case t.ended <- p:
		default: // it is posted once
		}
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
