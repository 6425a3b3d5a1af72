package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/engine"
	"holdfast/engine/ladder"
	"holdfast/store"
)

// TestAsk: one question, one answer, nothing left behind; the exit code tells how it went.
func TestAsk(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "TMPDIR="+h.dir)
	h.write("[[bot]]\nname = \"ada\"\nmodels = [\"demo/demo\"]\n[[bot]]\nname = \"bob\"\nmodels = [\"demo/demo\"]\n[retry]\nfail_fast_wait = \"1s\"\n")
	if out := h.want("ask", "--bot", "ada", "count", "to", "3"); out != "1, 2, 3.\n" {
		t.Errorf("%q", out)
	}
	c := h.command("ask", "--bot", "bob", "-")
	c.Stdin = strings.NewReader("ping\n")
	if out, err := c.Output(); err != nil || string(out) != "pong\n" {
		t.Errorf("%q, %v", out, err)
	}
	const busy = engine.Busy + "\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--bot", "ada", "!fail 429 5s hello"}, busy}, // longer than fail_fast_wait: not waited for
		{[]string{"--bot", "ada", "!fail 503 hello"}, busy},
		{[]string{"--bot", "ada", "!fail 401 hello"}, "Cannot answer this: the demo model does not accept its key, after 1 attempt.\n"},
		{[]string{"hello"}, "holdfast: there are several bots; say which one: --bot ada, or --bot bob\n"},
		{[]string{"--bot", "eve", "hello"}, "holdfast: no bot is named \"eve\"; there are: ada, bob\n"},
		{[]string{"--bot", "ada", " "}, "holdfast: the question is empty\n"},
	} {
		if code, out, errOut := h.run(append([]string{"ask"}, c.args...)...); code != 1 || out != "" || errOut != c.want {
			t.Errorf("%v: %d %q %q", c.args, code, out, errOut)
		}
	}
	left, _ := filepath.Glob(filepath.Join(h.dir, "*"))
	if len(left) != 1 || filepath.Base(left[0]) != "holdfast.toml" {
		t.Errorf("left behind: %v", left)
	}
}

// TestAskIsHeldAsTheHouse: where the house's store has a model held, or everything paused, ask sends
// nothing and says so at once (F10); another model of the chain is asked.
func TestAskIsHeldAsTheHouse(t *testing.T) {
	h := newHome(t)
	m := newScripted(t, func(int, string) string { return "ok" })
	h.write("[store]\ndir = \"store\"\n" + m.config(""))
	hold := func(until time.Duration, paused string) {
		t.Helper()
		st, err := store.Open(store.Config{Dir: filepath.Join(h.dir, "store")}, quiet())
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		now := time.Now()
		record, err := json.Marshal(map[string]any{"gate": ladder.Gate{HoldUntil: now.Add(until).UTC(), HoldFor: until.Abs()}})
		if err != nil {
			t.Fatal(err)
		}
		g := store.Gate{Key: "fake||one", Provider: "fake", Model: "one", Why: "hold", Until: store.At(now.Add(until)), Version: now.UnixMilli(), Record: record}
		if err := st.PutGate(g, store.At(now), nil); err != nil {
			t.Fatal(err)
		}
		if err := st.SetMeta(store.Paused, paused, nil); err != nil {
			t.Fatal(err)
		}
	}
	const busy = engine.Busy + "\n"
	for _, c := range []struct {
		until        time.Duration
		paused, want string
	}{
		{90 * time.Minute, "", "Out of capacity until "},
		{5 * time.Second, "", busy},
		{-time.Second, `["fake"]`, busy + "Paused: fake (holdfast unpause fake)\n"},
		{-time.Second, `[""]`, busy + "Paused: everything (holdfast unpause)\n"},
	} {
		hold(c.until, c.paused)
		if code, out, errOut := h.run("ask", "hello"); code != 1 || out != "" || !strings.HasPrefix(errOut, c.want) || m.requests() != 0 || strings.Contains(errOut, "box") {
			t.Errorf("%v: %d %q %q, %d requests", c, code, out, errOut, m.requests())
		}
	}
	hold(-time.Second, "")
	if out := h.want("ask", "hello"); out != "re: hello\n" || m.requests() != 1 {
		t.Errorf("%q, %d requests", out, m.requests())
	}
	hold(90*time.Minute, "")
	config, err := os.ReadFile(filepath.Join(h.dir, "holdfast.toml"))
	if err != nil {
		t.Fatal(err)
	}
	h.write(strings.Replace(string(config), `["fake/one"]`, `["fake/one", "fake/two"]`, 1))
	if out := h.want("ask", "hello"); out != "re: hello\n" || m.requests() != 2 {
		t.Errorf("%q, %d requests", out, m.requests())
	}
}

// TestAnswerOnATerminal: what has been shown is not shown again; an answer begun anew stands on a
// line of its own.
func TestAnswerOnATerminal(t *testing.T) {
	var out, errOut bytes.Buffer
	shown := &terminal{out: &out, live: true}
	for _, text := range []string{"One", "One, two", "Another"} {
		shown.draft(text)
	}
	if err := shown.finish(&errOut, store.Post{Kind: "answer", Text: "Another one."}); err != nil {
		t.Error(err)
	}
	if want := "One, two\n[begun anew]\nAnother one.\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	if err := shown.finish(&errOut, store.Post{Kind: "terminal", Text: "No."}); err != errSaid || errOut.String() != "No.\n" {
		t.Errorf("%v %q", err, errOut.String())
	}
}
