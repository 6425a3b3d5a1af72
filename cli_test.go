package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// home is a user's machine: a working directory, a data directory and no keys.
type home struct {
	t   *testing.T
	dir string
	env []string
}

func newHome(t *testing.T) *home {
	if err := binaries().err; err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &home{t: t, dir: dir, env: []string{
		"HOME=" + dir, "XDG_DATA_HOME=" + filepath.Join(dir, "data"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"OLLAMA_HOST=127.0.0.1:1", "TZ=UTC", "PATH=" + os.Getenv("PATH"),
	}}
}

// write puts a config where it is found.
func (h *home) write(text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, "holdfast.toml"), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	h.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, binaries().program, args...)
	c.Dir, c.Env = h.dir, h.env
	return c
}

// run carries a command out to its end.
func (h *home) run(args ...string) (code int, out, errOut string) {
	h.t.Helper()
	c := h.command(args...)
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	if err := c.Run(); c.ProcessState == nil {
		h.t.Fatalf("holdfast %v: %v", args, err)
	}
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

// want runs a command that must succeed, and returns what it prints.
func (h *home) want(args ...string) string {
	h.t.Helper()
	code, out, errOut := h.run(args...)
	if code != 0 {
		h.t.Fatalf("holdfast %v: exit code %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// daemon is one that runs.
type daemon struct {
	*exec.Cmd
	address string
	out     *lockedBuffer
}

// lockedBuffer is written by the process while the test reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var listens = regexp.MustCompile(`listens at http://(\S+) \(pid \d+\)`)

// start runs a daemon until the test ends.
func (h *home) start(args ...string) *daemon {
	h.t.Helper()
	d := &daemon{Cmd: h.command(args...), out: &lockedBuffer{}}
	d.Stdout, d.Stderr = d.out, d.out
	if err := d.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = d.Process.Kill(); _ = d.Wait() })
	h.until(func() bool {
		m := listens.FindStringSubmatch(d.out.String())
		if m != nil {
			d.address = m[1]
		}
		return m != nil
	}, func() string { return "the daemon does not come up:\n" + d.out.String() })
	return d
}

// until waits for something outside this process.
func (h *home) until(is func() bool, else_ func() string) {
	h.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); {
		if time.Now().After(deadline) {
			h.t.Fatal(else_())
		}
		runtime.Gosched()
		select {
		case <-h.t.Context().Done():
			h.t.Fatal(else_())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// say sends a message and returns its turn.
func (h *home) say(d *daemon, dir, id, text string) string {
	h.t.Helper()
	token, err := os.ReadFile(filepath.Join(dir, "web.token"))
	if err != nil {
		h.t.Fatal(err)
	}
	return h.sayAs(d, strings.TrimSpace(string(token)), id, text)
}

// sayAs does so with a token that the config gives.
func (h *home) sayAs(d *daemon, token, id, text string) string {
	h.t.Helper()
	body, _ := json.Marshal(map[string]any{"id": id, "cmd": "message.send", "args": map[string]any{"text": text}})
	req, _ := http.NewRequest(http.MethodPost, "http://"+d.address+"/api/v1/commands", bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	var got struct{ Turn string }
	if err := json.Unmarshal(answer, &got); err != nil || got.Turn == "" {
		h.t.Fatalf("%s: %s", resp.Status, answer)
	}
	return got.Turn
}

func TestHelp(t *testing.T) {
	out := newHome(t).want("--help")
	for _, name := range []string{"run", "demo", "check", "login", "turns", "turn", "resume", "cancel", "version"} {
		if !regexp.MustCompile(`(?m)^  ` + name + ` +[A-Z]`).MatchString(out) {
			t.Errorf("no line for %s in\n%s", name, out)
		}
	}
	for line := range strings.Lines(out) {
		if len(line) > 81 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
}

func TestVersion(t *testing.T) {
	h := newHome(t)
	if out := h.want("version"); !regexp.MustCompile(`^holdfast \d+\.\d+\.\d+ \(commit .+, go1\.\S+, SQLite 3\.\S+, \w+/\w+\)\n$`).MatchString(out) {
		t.Error(out)
	}
	var v map[string]string
	if err := json.Unmarshal([]byte(h.want("version", "--json")), &v); err != nil || v["version"] != version || v["sqlite"] == "" || v["go"] != runtime.Version() {
		t.Error(v, err)
	}
}

func TestLinesNotUnderstood(t *testing.T) {
	h := newHome(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"trns"}, `unexpected argument trns, did you mean "turns"?`},
		{[]string{"turns", "--state", "asleep"}, `"asleep" is no state; use queued, running, retrying, parked, rearming, owed or done`},
		{[]string{"turns", "--older-than", "soon"}, `"soon" is not a length of time`},
		{[]string{"turn"}, `expected "<id>"`},
		{[]string{"resume"}, "name the turns, or filter them, for example with --waiting"},
		{[]string{"cancel", "0abc", "--waiting"}, "name turns, or filter them; not both"},
		{[]string{"cancel", "a b"}, `"a b" is no turn's id`},
	} {
		code, out, errOut := h.run(c.args...)
		if code != 2 || out != "" || !strings.HasPrefix(errOut, "holdfast: ") || !strings.Contains(errOut, c.want) || !strings.HasSuffix(errOut, "Try: holdfast --help\n") {
			t.Errorf("%v: %d\n%s%s", c.args, code, out, errOut)
		}
	}
}

// TestCheckAndStartAgreeS8: check tells every problem at once, and what check refuses does not start.
func TestCheckAndStartAgreeS8(t *testing.T) {
	h := newHome(t)
	h.write("[engine]\nworker = 3\n\n[[bot]]\nmodels = [\"opnai/gpt-5-mini\"]\n[provider.openai]\napi_key = \"sk-verysecret${NO_SUCH}\"\n[retry]\nrearm = []\n")
	const problems = `holdfast.toml:2: engine.worker: is no known key; did you mean workers?
holdfast.toml:5: bot.models: "opnai/gpt-5-mini" names no known provider; did you mean openai/gpt-5-mini?
holdfast.toml:7: provider.openai.api_key: the environment has no NO_SUCH; set it, or write $$ for a dollar
holdfast.toml:9: retry.rearm: is an empty list; write a list of durations like ["2m", "8m", "32m"], or false
holdfast.toml has 4 problems; nothing was started.
`
	code, out, errOut := h.run("check")
	if code != 1 || !strings.HasSuffix(out, problems) || errOut != "" {
		t.Errorf("check: %d\n%s%s", code, out, errOut)
	}
	for _, command := range []string{"run", "turns", "login"} {
		if code, out, errOut := h.run(command); code != 1 || out != "" || errOut != problems {
			t.Errorf("%s: %d\n%s%s", command, code, out, errOut)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, "data")); err == nil {
		t.Error("something was started")
	}
}

func TestCheckOfAGoodConfig(t *testing.T) {
	h := newHome(t)
	h.write("[store]\ndir = \"here\"\n[[bot]]\nname = \"ada\"\nmodels = [\"openai/gpt-5-mini\", \"demo/demo\"]\n[[schedule]]\nname = \"standup\"\ncron = \"@daily\"\nprompt = \"x\"\n")
	want := fmt.Sprintf(`note: openai has no key: set OPENAI_API_KEY, or write api_key in [provider.openai]
note: alerts reach nobody: write to or webhook in [alerts]
holdfast.toml is fine.
page     http://127.0.0.1:8420
store    %s
bot ada  openai/gpt-5-mini, then demo/demo
`, filepath.Join(h.dir, "here"))
	if out := h.want("check"); out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	if code, _, errOut := h.run("--config", "nowhere.toml", "check"); code != 1 || errOut != "holdfast: the config nowhere.toml cannot be read: no such file or directory\n" {
		t.Errorf("%d %q", code, errOut)
	}
}

func TestNoDaemonNoStore(t *testing.T) {
	h := newHome(t)
	for _, c := range []struct{ command, want string }{
		{"login", "holdfast: no daemon runs, so there is no page to log in to; start it with: holdfast run\n"},
		{"turns", "holdfast: there is no store in " + filepath.Join(h.dir, "data", "holdfast") + " yet; start the daemon first: holdfast run\n"},
	} {
		if code, _, errOut := h.run(c.command); code != 1 || errOut != c.want {
			t.Errorf("%s: %d %q", c.command, code, errOut)
		}
	}
}

// TestDaemonFromTheTerminal is a day of a daemon: a turn answered, one that waits, what the commands
// tell of it while the daemon runs, after it was killed, and once it has stopped cleanly.
func TestDaemonFromTheTerminal(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(h.dir, "store")
	h.write("[store]\ndir = \"store\"\n[web]\nlisten = \"127.0.0.1:0\"\n[[bot]]\nmodels = [\"demo/demo\"]\n")
	d := h.start("run")
	if out := d.out.String(); strings.Contains(out, "/login#") || !strings.Contains(out, "bot answers with demo/demo") || !strings.Contains(out, fmt.Sprintf("(pid %d)", d.Process.Pid)) {
		t.Errorf("greeting:\n%s", out)
	}
	if link := h.want("login"); !strings.HasPrefix(link, "http://"+d.address+"/login#") {
		t.Error(link)
	}
	if out := h.want("turns"); out != "No turns.\n" {
		t.Error(out)
	}

	first := h.say(d, dir, "c1", "hello")
	h.until(func() bool { return strings.Contains(h.want("turns"), "done: answered") }, func() string { return "no answer: " + h.want("turns") })
	held := h.say(d, dir, "c2", "!fail 429 90m and this one waits")
	h.until(func() bool { return strings.Contains(h.want("turns", "--waiting"), "parked until") }, func() string { return "does not park: " + h.want("turns") })

	table := h.want("turn", held)
	if !regexp.MustCompile(`(?s)^turn   ` + held + `\nstate  parked until .*: the demo model .*\n1  .*demo/demo  429 .* park  +\d+ (h|min).* retry-after`).MatchString(table) {
		t.Error(table)
	}
	code, _, errOut := h.run("resume", held)
	if code != 1 || !regexp.MustCompile(`^`+held+`: held until [\d: -]+: the provider has asked to wait`).MatchString(errOut) {
		t.Errorf("resume inside a hold: %d %q", code, errOut)
	}
	if out := h.want("cancel", "--waiting", "--dry-run"); !strings.Contains(out, held) || !strings.Contains(out, "would be cancelled\n") {
		t.Error(out)
	}
	live := h.want("turn", "--json", held)

	if err := d.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.Wait()
	if file := h.want("turn", "--json", held); file != live {
		t.Errorf("the file says\n%sthe daemon said\n%s", file, live)
	}
	if code, _, errOut := h.run("resume", held); code != 1 || errOut != "holdfast: no daemon runs, so nothing can be resumed; start it with: holdfast run\n" {
		t.Errorf("%d %q", code, errOut)
	}
	if out := h.want("cancel", held, "--say", "closed for today"); out != held+": cancelled\n" {
		t.Error(out)
	}

	d = h.start("run")
	if out := h.want("turns", "--state", "done", "--limit", "1000"); !strings.Contains(out, first) || !regexp.MustCompile(held+` .* done: cancelled`).MatchString(out) {
		t.Error(out)
	}
	if code, _, errOut := h.run("run"); code != 1 || !strings.Contains(errOut, "another holdfast") {
		t.Errorf("a second daemon: %d %q", code, errOut)
	}
	if err := d.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil {
		t.Errorf("a clean stop: %v\n%s", err, d.out)
	}
}

// TestAddressTaken: the error says what to do.
func TestAddressTaken(t *testing.T) {
	h := newHome(t)
	h.write("[[bot]]\nmodels = [\"demo/demo\"]\n[store]\ndir = \"a\"\n[web]\nlisten = \"127.0.0.1:0\"\n")
	d := h.start("run")
	h.write("[[bot]]\nmodels = [\"demo/demo\"]\n[store]\ndir = \"b\"\n[web]\nlisten = \"" + d.address + "\"\n")
	code, _, errOut := h.run("run")
	if code != 1 || !strings.HasPrefix(errOut, "holdfast: "+d.address+" is taken by another program, maybe another holdfast: stop that one, or write another address") {
		t.Errorf("%d %q", code, errOut)
	}
	if code, _, errOut := h.run("turns"); code != 1 || !strings.Contains(errOut, "does not take this config's token") {
		t.Errorf("%d %q", code, errOut)
	}
}

// body is what an address answers, whatever its status.
func body(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is told to whoever is not logged in names the way the daemon was started, but no path.
func TestLoginLine(t *testing.T) {
	for want, c := range map[string]call{
		"holdfast login":               {},
		"holdfast login --demo":        {demo: true},
		"holdfast --config FILE login": {config: "/home/ada/holdfast.toml"},
	} {
		if got := c.loginLine(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDemoOnItsOwnDirectory: keys and config do not matter, and --fresh begins anew.
func TestDemoOnItsOwnDirectory(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "OPENAI_API_KEY=sk-x")
	h.write("this is no config")
	dir := filepath.Join(h.dir, "data", "holdfast", "demo")
	d := h.start("demo", "--listen", "127.0.0.1:0")
	h.say(d, dir, "c1", "hello")
	h.until(func() bool { return strings.Contains(h.want("turns", "--demo"), "done: answered") }, func() string { return h.want("turns", "--demo") })
	if code, _, errOut := h.run("demo", "--fresh"); code != 1 || !strings.Contains(errOut, "another holdfast") {
		t.Errorf("%d %q", code, errOut)
	}
	h.until(func() bool {
		return strings.Contains(d.out.String(), "\nholdfast login --demo prints a link to the page\n")
	}, d.out.String)
	for path, want := range map[string]string{"/login": `data-login="holdfast login --demo"`, "/api/v1/state": "log in first: `holdfast login --demo` prints a link"} {
		if page := body(t, "http://"+d.address+path); !strings.Contains(page, want) {
			t.Errorf("%s says %s", path, page)
		}
	}
	if out := h.want("pause", "--demo"); !strings.HasSuffix(out, "go on with: holdfast unpause --demo\n") {
		t.Error(out)
	}
	if out := h.want("unpause", "bot", "--demo"); !strings.HasSuffix(out, "Still paused: everything (holdfast unpause --demo)\n") {
		t.Error(out)
	}
	h.write("[[bot]]\nmodels = [\"demo/demo\"]\n[store]\ndir = \"own\"\n[web]\nlisten = \"127.0.0.1:1\"\n")
	const noPage = "holdfast: no daemon runs, so there is no page to log in to; start it with: "
	if _, _, errOut := h.run("login"); errOut != noPage+"holdfast run; the demo runs, and its link is printed by: holdfast login --demo\n" {
		t.Error(errOut)
	}
	if err := d.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.Wait()
	for line, want := range map[string]string{"login --demo": noPage + "holdfast demo\n", "login": noPage + "holdfast run\n", "--config holdfast.toml login": noPage + "holdfast --config holdfast.toml run\n"} {
		if _, _, errOut := h.run(strings.Fields(line)...); errOut != want {
			t.Errorf("%s: %s", line, errOut)
		}
	}
	h.start("demo", "--fresh", "--listen", "127.0.0.1:0")
	if out := h.want("turns", "--demo"); out != "No turns.\n" {
		t.Error(out)
	}
	if code, _, errOut := h.run("demo", "--listen", "0.0.0.0:1"); code != 1 || !strings.Contains(errOut, `--listen: "0.0.0.0:1" is no address that only this machine can reach`) {
		t.Errorf("%d %q", code, errOut)
	}
}

// TestDemoWithoutAnything: the first start says that the demo answers, and how to get a real model.
func TestDemoWithoutAnything(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "SSH_CONNECTION=10.0.0.1 50000 10.0.0.2 22", "USER=ada")
	h.write("[web]\nlisten = \"127.0.0.1:0\"\n")
	d := h.start()
	_, port, _ := strings.Cut(d.address, ":")
	h.until(func() bool { return strings.Contains(d.out.String(), "holdfast login") }, func() string { return d.out.String() })
	for _, want := range []string{"bot answers with demo/demo", "That is the built-in demo", "OPENAI_API_KEY", "ssh -L " + port + ":127.0.0.1:" + port + " ada@10.0.0.2\n"} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("%q is not in\n%s", want, d.out)
		}
	}
}

// TestSecondSignalEndsAtOnce: the first one lets a running turn come to its end, the second does not.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(h.dir, "store")
	h.write("[store]\ndir = \"store\"\n[web]\nlisten = \"127.0.0.1:0\"\n[engine]\nstop_grace = \"10m\"\n[[bot]]\nmodels = [\"demo/demo\"]\n")
	d := h.start("run")
	h.say(d, dir, "c1", "!fail idle still there?")
	h.until(func() bool { return strings.Contains(h.want("turns"), " running\n") }, func() string { return h.want("turns") })
	if err := d.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	h.until(func() bool {
		c, err := net.Dial("tcp", d.address)
		if err == nil {
			c.Close()
		}
		return err != nil
	}, func() string { return "the page is still served" })
	ended := make(chan error, 1)
	go func() { ended <- d.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("ended at the first signal: %v\n%s", err, d.out)
	case <-time.After(200 * time.Millisecond):
	}
	if err := d.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("did not end at the second signal")
	}
}

// TestLinkOnATerminal: who watches gets a login link at once.
func TestLinkOnATerminal(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs script(1) of Linux to play a terminal")
	}
	h := newHome(t)
	c := h.command()
	c.Path, c.Args = script, []string{"script", "-qec", binaries().program + " demo --listen 127.0.0.1:0", "/dev/null"}
	out := &lockedBuffer{}
	c.Stdout = out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Signal(os.Interrupt); _ = c.Process.Kill(); _ = c.Wait() })
	h.until(func() bool { return strings.Contains(out.String(), "works once") }, out.String)
	if !regexp.MustCompile(`Open http://127\.0\.0\.1:\d+/login#[A-Z0-9]{20,} \(it works once, for 15 minutes\)`).MatchString(out.String()) {
		t.Error(out.String())
	}
}
