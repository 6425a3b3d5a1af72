package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPauseAndRelease: what an operator stops is kept and goes on; every answer says what to do next.
func TestPauseAndRelease(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(h.dir, "store")
	m := newScripted(t, func(n int, _ string) string {
		if n == 2 {
			return "429/5400"
		}
		return "ok"
	})
	h.write("[store]\ndir = \"store\"\n[web]\nlisten = \"127.0.0.1:0\"\n" + m.config(""))
	for _, c := range []struct{ line, want string }{
		{"release fake/one", "holdfast: no daemon runs, so nothing can be released; start it with: holdfast run\n"},
		{"pause", "holdfast: no daemon runs, so nothing is sent anyway; start it with: holdfast run\n"},
		{"unpause", "holdfast: no daemon runs, so nothing would be sent; start it with: holdfast run\n"},
	} {
		if code, _, errOut := h.run(strings.Fields(c.line)...); code != 1 || errOut != c.want {
			t.Errorf("%s: %d %q", c.line, code, errOut)
		}
	}
	d := h.start("run")
	if out := h.want("pause", "fake"); out != "fake is paused: nothing is sent. What people write is kept; go on with: holdfast unpause fake\n" {
		t.Errorf("%q", out)
	}
	h.want("pause", "bot")
	first := h.say(d, dir, "c1", "first")
	h.until(func() bool { return strings.Contains(h.want("turn", first), "parked") }, func() string { return h.want("turns") })
	for _, c := range []struct{ line, want string }{
		{"unpause", "Everything is not paused.\nStill paused: fake (holdfast unpause fake)\nStill paused: bot (holdfast unpause bot)\n"},
		{"unpause fake", "fake is not paused any more; what waits goes on.\nStill paused: bot (holdfast unpause bot)\n"},
		{"unpause bot", "bot is not paused any more; what waits goes on.\n"},
	} {
		if out := h.want(strings.Fields(c.line)...); out != c.want {
			t.Errorf("%s: %q", c.line, out)
		}
	}
	h.until(func() bool { return strings.Contains(h.want("turn", first), "done: answered") }, func() string { return h.want("turns") })

	held := h.say(d, dir, "c2", "second")
	h.until(func() bool { return strings.Contains(h.want("turn", held), "parked until") }, func() string { return h.want("turns") })
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"release fake", 2, `"fake" is no model; write PROVIDER/MODEL`},
		{"release fake/two", 1, `holdfast: nothing holds fake/two back; held back are: fake/one until [\d: -]+\n`},
		{"pause nobody", 1, `holdfast: no provider or bot is named "nobody"; there are: fake, bot\n`},
		{"unpause nobody", 1, `holdfast: no provider or bot is named "nobody"; there are: fake, bot\n`},
	} {
		if code, _, errOut := h.run(strings.Fields(c.line)...); code != c.code || !regexp.MustCompile(c.want).MatchString(errOut) {
			t.Errorf("%s: %d %q", c.line, code, errOut)
		}
	}
	if out := h.want("release", "fake/one"); out != "fake/one is released: the turns that wait for it run now.\n" {
		t.Errorf("%q", out)
	}
	h.until(func() bool { return strings.Contains(h.want("turn", held), "done: answered") }, func() string { return h.want("turns") })
	if code, _, errOut := h.run("release", "fake/one"); code != 1 || errOut != "holdfast: nothing holds fake/one back, nor any other model\n" {
		t.Errorf("%d %q", code, errOut)
	}
}
