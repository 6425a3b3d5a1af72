package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBackupAndBack: a copy of a store that is in use holds no key and no token; put in place it sends
// nothing until an operator has looked, and then everything in it is answered once.
func TestBackupAndBack(t *testing.T) {
	h := newHome(t)
	m := newScripted(t, func(n int, asked string) string {
		if n == 1 {
			return "429/5400"
		}
		return "ok"
	})
	dir := filepath.Join(h.dir, "store")
	config := "[store]\ndir = \"store\"\n[web]\nlisten = \"127.0.0.1:0\"\ntoken = \"web-token-0123456789\"\n[provider.fake]\nbase_url = \"" + m.URL +
		"\"\napi_key = \"sk-verysecret\"\n[[bot]]\nmodels = [\"fake/one\"]\n"
	h.write(config)
	if code, _, errOut := h.run("backup", "copy.db"); code != 1 || !strings.Contains(errOut, "so there is nothing to back up") {
		t.Errorf("%d %q", code, errOut)
	}
	d := h.start("run")
	h.want("login")
	waits := h.sayAs(d, "web-token-0123456789", "c1", "first")
	h.until(func() bool { return strings.Contains(h.want("turns", "--waiting"), waits) }, func() string { return h.want("turns") })
	out := h.want("backup", "copy.db")
	if !strings.HasPrefix(out, "copy.db holds the whole store (") || !strings.Contains(out, "holdfast unpause, or holdfast cancel --waiting") {
		t.Error(out)
	}
	for _, c := range []struct{ file, want string }{
		{"copy.db", "holdfast: copy.db is there already, and a backup overwrites nothing; name another file\n"},
		{"nowhere/copy.db", "holdfast: there is no directory nowhere; make it first\n"},
	} {
		if code, _, errOut := h.run("backup", c.file); code != 1 || errOut != c.want {
			t.Errorf("%s: %d %q", c.file, code, errOut)
		}
	}
	copied, err := os.ReadFile(filepath.Join(h.dir, "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-verysecret", "web-token-0123456789"} {
		if bytes.Contains(copied, []byte(secret)) {
			t.Errorf("%s is in the copy", secret)
		}
	}
	_ = d.Process.Kill()
	_ = d.Wait()
	restore := func() {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "holdfast.db"), copied, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	restore()
	d = h.start("run")
	second := h.sayAs(d, "web-token-0123456789", "c2", "second")
	h.want("release", "fake/one") // the hold is not what keeps it from being sent
	h.until(func() bool { return strings.Contains(h.want("turn", second), "paused by an operator") }, func() string { return h.want("turns") })
	if _, out, _ := h.run("doctor"); !strings.Contains(out, "it came from a backup and sends nothing until: holdfast unpause") {
		t.Error(out)
	}
	if n := m.requests(); n != 1 {
		t.Errorf("%d requests while paused", n)
	}
	if out := h.want("unpause"); out != "Everything is not paused any more; what waits goes on.\n" {
		t.Errorf("%q", out)
	}
	h.until(func() bool { return strings.Count(h.want("turns"), "done: answered") == 2 }, func() string { return h.want("turns") })
	if n := m.requests(); n != 3 {
		t.Errorf("%d requests", n)
	}
	if _, out, _ := h.run("doctor"); strings.Contains(out, "backup") {
		t.Error(out)
	}
	_ = d.Process.Kill()
	_ = d.Wait()

	restore() // and cancelled while no daemon runs
	if out := h.want("cancel", "--waiting"); !regexp.MustCompile(`(?s)^` + waits + `\n1 turn cancelled\n.*nothing of it waits any more, so sending goes on\.\n$`).MatchString(out) {
		t.Errorf("%q", out)
	}
	d = h.start("run")
	h.want("release", "fake/one")
	h.sayAs(d, "web-token-0123456789", "c3", "third")
	h.until(func() bool { return strings.Contains(h.want("turns"), "done: answered") }, func() string { return h.want("turns") })
	if out := h.want("turn", waits); !strings.Contains(out, "done: cancelled") {
		t.Error(out)
	}
}

// TestCancelLeavesAPauseAlone: only what came from a backup goes on by itself when nothing waits.
func TestCancelLeavesAPauseAlone(t *testing.T) {
	h := newHome(t)
	h.write("[store]\ndir = \"store\"\n[web]\nlisten = \"127.0.0.1:0\"\n[[bot]]\nmodels = [\"demo/demo\"]\n")
	d := h.start("run")
	h.want("pause")
	h.say(d, filepath.Join(h.dir, "store"), "c1", "hello")
	h.until(func() bool { return strings.Contains(h.want("turns", "--waiting"), "parked") }, func() string { return h.want("turns") })
	if out := h.want("cancel", "--waiting"); !strings.HasSuffix(out, "\n1 turn cancelled\n") {
		t.Errorf("%q", out)
	}
	if out := h.want("unpause"); !strings.HasPrefix(out, "Everything is not paused any more") {
		t.Errorf("%q", out)
	}
}
