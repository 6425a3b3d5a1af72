package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"holdfast/engine/tool"
	"holdfast/engine/tool/mcp"
	"holdfast/store"
)

// doctorCmd looks at everything that a config names, and at what lies in the store. Nothing is
// changed and no model is asked.
type doctorCmd struct{}

// finding is what has been looked at: the mark says how it is, what how it is in words and, where
// something is wrong, what to do.
type finding struct{ mark, part, what string }

const (
	isWell  = "ok"
	isNoted = "note"
	isWrong = "problem"
)

func (doctorCmd) Run(c *call) error {
	l, err := c.valid()
	if err != nil {
		return err
	}
	ctx, cancel := untilSignal()
	defer cancel()
	l.detectIfNeeded(ctx, c.place)
	found := []finding{{isWell, "config", cmp.Or(l.File, "none; built-in defaults hold")}}
	found = append(found, c.lookAtStore(l), c.lookAtDaemon(l))
	found = append(found, l.lookOutside(ctx)...)
	if l.Alerts.To == "" && l.Alerts.Webhook == "" {
		found = append(found, finding{isNoted, "alerts", "reach nobody: write to or webhook in [alerts]"})
	}
	found = append(found, c.lookAtTurns(l)...)

	var rows [][]string
	wrong := 0
	for _, f := range found {
		rows = append(rows, []string{f.mark, f.part, f.what})
		if f.mark == isWrong {
			wrong++
		}
	}
	table(c.out, rows)
	if wrong == 0 {
		fmt.Fprintln(c.out, "Everything is well.")
		return nil
	}
	fmt.Fprintln(c.out, counted(wrong, "problem")+".")
	return errSaid
}

// lookAtStore runs the full integrity check, beside a daemon or without one.
func (c *call) lookAtStore(l *loaded) finding {
	path := filepath.Join(l.Store.Dir, "holdfast.db")
	st, err := store.OpenReader(l.Store)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{isNoted, "store", "there is none in " + l.Store.Dir + " yet; the first start makes it"}
	case err != nil:
		return finding{isWrong, "store", err.Error()}
	}
	defer st.Close()
	if err := st.Check(); err != nil {
		return finding{isWrong, "store", fmt.Sprintf("%s: %v", path, err)}
	}
	what := path + " is sound"
	if info, err := os.Stat(path); err == nil {
		what += fmt.Sprintf(" (%.1f MB)", float64(info.Size())/1e6)
	}
	if restored, err := st.Meta(store.Restored); err == nil && restored != "" {
		return finding{isNoted, "store", what + "; it came from a backup and sends nothing until: " + c.line("unpause")}
	}
	if paused, err := st.Meta(store.Paused); err == nil && paused != "" && paused != "[]" {
		return finding{isNoted, "store", what + "; paused is " + paused}
	}
	return finding{isWell, "store", what}
}

// lookAtDaemon asks whether one runs and does its work.
func (c *call) lookAtDaemon(l *loaded) finding {
	house, err := l.running()
	switch {
	case errors.Is(err, errDown):
		return finding{isNoted, "daemon", "does not run; start it with: " + c.line("run")}
	case err != nil:
		return finding{isWrong, "daemon", err.Error()}
	}
	var ready struct{}
	if err := house.get("/readyz", nil, &ready); err != nil {
		return finding{isWrong, "daemon", fmt.Sprintf("runs at %s, but is not ready: %v", house.base, err)}
	}
	return finding{isWell, "daemon", "runs at " + house.base}
}

// lookOutside asks every provider, every chat platform and every tool server in use, all at once.
func (l *loaded) lookOutside(ctx context.Context) []finding {
	var looks []func() []finding
	for _, name := range l.usedProviders() {
		looks = append(looks, func() []finding { return []finding{l.lookAtProvider(ctx, name)} })
	}
	for _, s := range l.checkable() {
		looks = append(looks, func() []finding { return lookAtSurface(ctx, s) })
	}
	for _, s := range l.toolServers(quiet()) {
		looks = append(looks, func() []finding { return []finding{lookAtTools(ctx, s)} })
	}
	found := make([][]finding, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(func() { found[i] = look() })
	}
	all.Wait()
	var list []finding
	for _, f := range found {
		list = append(list, f...)
	}
	return list
}

// checkable is a chat surface that can tell what is wrong with it.
type checkable interface {
	Name() string
	Check(ctx context.Context) []string
}

func lookAtSurface(ctx context.Context, s checkable) (found []finding) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, what := range s.Check(ctx) {
		found = append(found, finding{isWrong, s.Name(), what})
	}
	if found == nil {
		return []finding{{isWell, s.Name(), "is reached and lets the bot in"}}
	}
	return found
}

// toolTime is what a tool server gets to start and to list its tools, and toolsShown how many of them
// are named.
const (
	toolTime   = 10 * time.Second
	toolsShown = 12
)

// lookAtTools starts or calls a tool server as the daemon would, beside one that runs, and ends it again.
func lookAtTools(ctx context.Context, s *mcp.Server) finding {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	began := time.Now()
	tools, err := s.Probe(ctx)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return finding{isWrong, s.Name(), "has not answered as a tool server within " + length(toolTime.Milliseconds())}
	case err != nil:
		return finding{isWrong, s.Name(), "cannot be used as a tool server: " + err.Error()}
	case len(tools) == 0:
		return finding{isNoted, s.Name(), "is a tool server without tools"}
	}
	names := column(tools, func(t tool.Tool) string { return t.Spec().Name })
	if more := len(names) - toolsShown; more > 0 {
		names = append(names[:toolsShown], fmt.Sprintf("and %d more", more))
	}
	return finding{isWell, s.Name(), fmt.Sprintf("has %s, after %s: %s", counted(len(tools), "tool"), length(time.Since(began).Milliseconds()), strings.Join(names, ", "))}
}

// oldTurn is how long a turn may be without an answer before the doctor tells of it, as the API
// takes it.
const oldTurn = "1h"

// shownOld is how many such turns are shown.
const shownOld = 5

// lookAtTurns finds turns that have been without an answer for long.
func (c *call) lookAtTurns(l *loaded) (found []finding) {
	if _, err := os.Stat(filepath.Join(l.Store.Dir, "holdfast.db")); err != nil {
		return nil
	}
	var page struct {
		Turns []turn `json:"turns"`
		Next  string `json:"next"`
	}
	query := url.Values{"older_than": {oldTurn}, "state": {"queued,running,retrying,parked,rearming,owed"}, "limit": {"1000"}}
	if err := c.ask("/api/v1/turns", query, &page); err != nil {
		return []finding{{isWrong, "turns", err.Error()}}
	}
	n := len(page.Turns)
	if n == 0 {
		return []finding{{isWell, "turns", "none is without an answer for more than an hour"}}
	}
	many := counted(n, "turn")
	if page.Next != "" {
		many = fmt.Sprintf("more than %d turns", n)
	}
	found = []finding{{isWrong, "turns", many + " without an answer for more than an hour; " + c.line("turns --waiting --older-than 1h") + " lists them"}}
	for i := n - 1; i >= max(0, n-shownOld); i-- { // the oldest first
		t := page.Turns[i]
		found = append(found, finding{"", "", fmt.Sprintf("%s of %s: %s", t.ID, clock(&t.Created, c.now()), t.words(c.now()))})
	}
	return found
}
