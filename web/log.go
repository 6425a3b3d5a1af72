package web

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/store"
)

// logKept is how many records a page that asks gets at once.
const logKept = 500

// Log hands what is logged on to another handler and keeps the latest records for operators' pages.
// They get what is logged, as it is logged: nothing that is, holds a secret.
type Log struct {
	next  slog.Handler
	tail  *tail
	attrs map[string]any // of With; not changed any more
	group []string       // those open
}

// NewLog puts one before next. What next does not want is not kept either.
func NewLog(next slog.Handler) *Log {
	return &Log{next: next, tail: &tail{pages: map[*conn]slog.Level{}}}
}

// Enabled is next's word.
func (l *Log) Enabled(ctx context.Context, level slog.Level) bool { return l.next.Enabled(ctx, level) }

// Handle keeps a record and hands it on.
func (l *Log) Handle(ctx context.Context, r slog.Record) error {
	attrs := copied(l.attrs)
	at := inside(attrs, l.group)
	r.Attrs(func(a slog.Attr) bool {
		put(at, a)
		return true
	})
	l.tail.add(logLine{T: "log", At: store.At(r.Time), Level: levelName(r.Level), Message: r.Message, Attrs: attrs, level: r.Level})
	return l.next.Handle(ctx, r)
}

// WithAttrs is slog's.
func (l *Log) WithAttrs(list []slog.Attr) slog.Handler {
	attrs := copied(l.attrs)
	at := inside(attrs, l.group)
	for _, a := range list {
		put(at, a)
	}
	return &Log{next: l.next.WithAttrs(list), tail: l.tail, attrs: attrs, group: l.group}
}

// WithGroup is slog's.
func (l *Log) WithGroup(name string) slog.Handler {
	if name == "" {
		return l
	}
	return &Log{next: l.next.WithGroup(name), tail: l.tail, attrs: l.attrs, group: append(slices.Clip(l.group), name)}
}

// copied is a map that may be changed.
func copied(m map[string]any) map[string]any {
	c := maps.Clone(m)
	for k, v := range c {
		if group, ok := v.(map[string]any); ok {
			c[k] = copied(group)
		}
	}
	if c == nil {
		c = map[string]any{}
	}
	return c
}

// inside finds or makes the map of the open groups.
func inside(m map[string]any, groups []string) map[string]any {
	for _, name := range groups {
		next, ok := m[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	return m
}

// put adds an attribute in a form that JSON can say.
func put(m map[string]any, a slog.Attr) {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		if a.Key != "" {
			m = inside(m, []string{a.Key})
		}
		for _, b := range v.Group() {
			put(m, b)
		}
	case slog.KindBool, slog.KindInt64, slog.KindUint64:
		m[a.Key] = v.Any()
	case slog.KindTime:
		m[a.Key] = v.Time().UTC().Format(time.RFC3339Nano)
	default:
		if a.Key != "" {
			m[a.Key] = fmt.Sprint(v.Any())
		}
	}
}

// levelName is the name of the highest level that is not above.
func levelName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "error"
	case l >= slog.LevelWarn:
		return "warn"
	case l >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}

// readLevel reads what a page asks for.
func readLevel(name string) (level slog.Level, ok bool) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, ok = levels[strings.ToLower(name)]
	return level, ok
}

// logLine is one record, as a frame.
type logLine struct {
	T       string         `json:"t"`
	N       int64          `json:"n"` // counts the records of this process
	At      store.Time     `json:"at"`
	Level   string         `json:"level"`
	Message string         `json:"msg"`
	Attrs   map[string]any `json:"attrs"`
	level   slog.Level
}

// tail is the end of the log, and the pages that follow it.
type tail struct {
	mu    sync.Mutex
	n     int64
	kept  []logLine // a ring once it is full
	pages map[*conn]slog.Level
}

func (t *tail) add(line logLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	line.N = t.n
	if len(t.kept) < logKept {
		t.kept = append(t.kept, line)
	} else {
		t.kept[(t.n-1)%logKept] = line
	}
	for c, level := range t.pages {
		if line.level >= level {
			c.putLog(line)
		}
	}
}

// follow gives a page what is kept from a level on, and what comes.
func (t *tail) follow(c *conn, level slog.Level) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages[c] = level
	var lines []logLine
	for i := range t.kept {
		at := i
		if len(t.kept) == logKept {
			at = int((t.n + int64(i)) % logKept) // the oldest first
		}
		if line := t.kept[at]; line.level >= level {
			lines = append(lines, line)
		}
	}
	c.putLog(lines...)
}

// leave lets a page go.
func (t *tail) leave(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pages, c)
}
