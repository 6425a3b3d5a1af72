package web

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// The log on a page: what is kept from the level asked for on, then what comes; nothing unasked.
func TestLogOnAPage(t *testing.T) {
	g := newRig(t, nil)
	g.slog.Info("before", "turn", "t1")
	g.slog.Warn("trouble", "err", errors.New("no luck"))
	c, other := g.dial(t, ""), g.dial(t, "")
	c.hello("", 0, "")
	other.hello("", 0, "")
	c.next("welcome", "snapshot")
	for range 3 {
		other.next()
	}
	c.WriteMessage(websocket.TextMessage, []byte(`{"t":"log","level":"warn"}`))
	if f := c.want("log"); f.Level != "warn" || f.Msg != "trouble" || f.N != 2 || !reflect.DeepEqual(f.Attrs, map[string]any{"err": "no luck"}) {
		t.Errorf("%+v", f)
	}
	g.slog.Info("not wanted")
	g.slog.With("surface", "slack").WithGroup("g").Error("broken", "n", 7, "wait", 2*time.Second, slog.Group("in", "yes", true))
	f := c.want("log")
	if want := map[string]any{"surface": "slack", "g": map[string]any{"n": 7.0, "wait": "2s", "in": map[string]any{"yes": true}}}; f.Level != "error" || !reflect.DeepEqual(f.Attrs, want) {
		t.Errorf("%+v, want %v", f, want)
	}
	c.WriteMessage(websocket.TextMessage, []byte(`{"t":"log","level":""}`))
	c.WriteMessage(websocket.TextMessage, []byte(`{"t":"hello","chat":""}`))
	c.want("welcome")
	g.slog.Error("nobody asks any more")
	g.say(t, "m1", "c1", "hello")
	for _, page := range []*client{c, other} {
		for f := page.next("snapshot", "live"); f.K != "turn"; f = page.next("snapshot", "live") {
			if f.T == "log" {
				t.Errorf("%+v", f)
			}
		}
	}
	if !strings.Contains(g.log.String(), `msg=broken surface=slack g.n=7 g.wait=2s g.in.yes=true`) {
		t.Errorf("the other handler got %s", g.log)
	}
	c.WriteMessage(websocket.TextMessage, []byte(`{"t":"log","level":"loud"}`))
	if code := c.closed(); code != closeRefused {
		t.Errorf("an unknown level: %d", code)
	}
}

// Only the latest are kept, in order.
func TestLogKeepsTheLatest(t *testing.T) {
	var out bytes.Buffer
	l := NewLog(slog.NewTextHandler(&out, nil))
	log := slog.New(l)
	for i := range logKept + 20 {
		log.Info(fmt.Sprint("line ", i))
		log.Debug("not logged, so not kept")
	}
	c := &conn{wake: make(chan struct{}, 1)}
	l.tail.follow(c, slog.LevelDebug)
	if len(c.lines) != logKept || c.lines[0].Message != "line 20" || c.lines[logKept-1].Message != fmt.Sprint("line ", logKept+19) {
		t.Errorf("%d lines, %q to %q", len(c.lines), c.lines[0].Message, c.lines[len(c.lines)-1].Message)
	}
	log.Info("one more")
	if len(c.lines) != logKept || c.lines[logKept-1].Message != "one more" {
		t.Errorf("a slow page keeps %d lines", len(c.lines))
	}
	l.tail.leave(c)
	log.Info("gone")
	if c.lines[logKept-1].Message != "one more" {
		t.Error("a page that has left is told")
	}
}
