package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// built is what tests run as processes: the program itself, and this package's tests as a child
// that can die at a crash point. Both without -race, since they are killed and started all the time.
type built struct {
	program, child string
	err            error
}

var binaries = sync.OnceValue(func() built {
	dir, err := os.MkdirTemp("", "holdfast-test-")
	if err != nil {
		return built{err: err}
	}
	b := built{program: filepath.Join(dir, "holdfast"), child: filepath.Join(dir, "child.test")}
	for _, args := range [][]string{{"build", "-o", b.program, "."}, {"test", "-c", "-o", b.child, "."}} {
		build := exec.Command("go", args...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as for a release
		if out, err := build.CombinedOutput(); err != nil {
			return built{err: fmt.Errorf("go %s: %w\n%s", args[0], err, out)}
		}
	}
	return b
})

// process is a daemon in a process of its own, on a directory that outlives it.
type process struct {
	t     *testing.T
	dir   string
	url   string
	cmd   *exec.Cmd
	ended chan struct{}
	log   bytes.Buffer
	logMu sync.Mutex
}

// newProcess writes the config; the daemon is not started yet. extra is TOML after [store] and [web].
func newProcess(t *testing.T, extra string) *process {
	t.Helper()
	if err := binaries().err; err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	p := &process{t: t, dir: t.TempDir(), url: "http://" + at}
	config := fmt.Sprintf("[store]\ndir = \"data\"\n[web]\nlisten = %q\ntoken = \"test-token-0123456789\"\n%s", at, extra)
	if err := os.WriteFile(filepath.Join(p.dir, "holdfast.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// start runs the program, or with crash ("POINT:N") the child that kills itself at that point's nth time.
func (p *process) start(crash string) {
	p.t.Helper()
	name := binaries().program
	if crash != "" {
		name = binaries().child
	}
	p.cmd = exec.Command(name)
	p.cmd.Dir = p.dir
	p.cmd.Env = append(os.Environ(), "HOLDFAST_CONFIG="+filepath.Join(p.dir, "holdfast.toml"), "HOLDFAST_TEST_CRASH="+crash)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.ended = make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
}

// Write gathers what the process prints.
func (p *process) Write(b []byte) (int, error) {
	p.logMu.Lock()
	defer p.logMu.Unlock()
	return p.log.Write(b)
}

func (p *process) output() string {
	p.logMu.Lock()
	defer p.logMu.Unlock()
	return p.log.String()
}

// up starts it and waits until it is ready.
func (p *process) up() {
	p.t.Helper()
	p.start("")
	p.until("ready", 20*time.Second, p.ready)
}

func (p *process) ready() bool {
	resp, err := http.Get(p.url + "/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == 200
}

// kill is kill -9.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// dead reports whether the process has ended.
func (p *process) dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// until asks every 5 ms of real time whether it is so, since another process cannot be awaited in fake time.
func (p *process) until(what string, atMost time.Duration, so func() bool) {
	p.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(atMost); time.Now().Before(end); <-tick.C {
		if so() {
			return
		}
	}
	p.t.Fatalf("not %s after %v; the daemon said:\n%s", what, atMost, p.output())
}

// do asks the API; a status of 0 is no answer.
func (p *process) do(method, path string, body, into any) int {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			p.t.Fatal(err)
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, p.url+path, r)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer test-token-0123456789")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0
	}
	if into != nil && resp.StatusCode == 200 {
		if err := json.Unmarshal(b, into); err != nil {
			p.t.Errorf("%s %s: %v in %s", method, path, err, b)
		}
	}
	return resp.StatusCode
}

// turnRow is a turn as the API shows it, as far as tests look.
type turnRow struct {
	ID, State, Outcome, Text string
	MergedInto               string `json:"merged_into"`
	RetryAt                  string `json:"retry_at"`
	Requests                 int    `json:"requests_n"`
}

// send posts a message until it is acknowledged, as the page does, and returns its turn.
func (p *process) send(id, chat, text string) (string, bool) {
	var reply struct{ Turn string }
	status := p.do("POST", "/api/v1/commands", map[string]any{"id": id, "cmd": "message.send", "args": map[string]any{"chat": chat, "text": text}}, &reply)
	return reply.Turn, status == 200
}

func (p *process) mustSend(id, chat, text string) (turn string) {
	p.t.Helper()
	p.until("acknowledged", 10*time.Second, func() (ok bool) { turn, ok = p.send(id, chat, text); return ok })
	return turn
}

func (p *process) turn(id string) (t turnRow) {
	p.do("GET", "/api/v1/turns/"+id, nil, &t)
	return t
}

// transcript is a chat's messages as "role: text" lines.
func (p *process) transcript(chat string) (lines []string) {
	p.t.Helper()
	var page struct {
		Messages []struct{ Role, Text string }
	}
	if status := p.do("GET", "/api/v1/chats/"+chat+"/messages", nil, &page); status != 200 {
		p.t.Fatalf("messages of %s: %d", chat, status)
	}
	for _, m := range page.Messages {
		lines = append(lines, m.Role+": "+m.Text)
	}
	return lines
}

// scripted is a provider that speaks the openai wire and does what a script says of each request.
type scripted struct {
	*httptest.Server
	mu     sync.Mutex
	script func(n int, asked string) string // "ok", "ok/IN+OUT" (tokens), a status, "STATUS/SECONDS", "cut", "call/A+B" (of tools, each with " JSON" if it is given something)
	count  int

	byResults func(results int) string // instead, by how many results of tools the request holds
}

func newScripted(t *testing.T, script func(n int, asked string) string) *scripted {
	m := &scripted{script: script}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *scripted) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}

// config is the TOML that points a bot at it.
func (m *scripted) config(more string) string {
	return fmt.Sprintf("[provider.fake]\nwire = \"openai\"\nbase_url = %q\n[[bot]]\nmodels = [\"fake/one\"]\n%s", m.URL, more)
}

// word is what becomes of a request.
func (m *scripted) word(n int, asked string, results int) string {
	if m.byResults == nil {
		return m.script(n, asked)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byResults(results)
}

// callTools answers with calls of tools.
func callTools(w http.ResponseWriter, names []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, call := range names {
		name, args, given := strings.Cut(call, " ")
		if !given {
			args = "{}"
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"type\":\"function\",\"function\":{\"name\":%q,\"arguments\":%q}}]},\"finish_reason\":null}]}\n\n", i, i, name, args)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
}

func (m *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
		http.Error(w, "bad request", 400)
		return
	}
	results := 0
	for _, msg := range body.Messages {
		if msg.Role == "tool" {
			results++
		}
	}
	asked := body.Messages[len(body.Messages)-1].Content
	lines := append([]string{"what I was told before"}, slices.DeleteFunc(strings.Split(asked, "\n\n"), func(line string) bool { return strings.HasPrefix(line, "[Holdfast") })...)
	asked = strings.Join(lines[1:], "\n\n")
	m.mu.Lock()
	m.count++
	n := m.count
	m.mu.Unlock()
	word, arg, _ := strings.Cut(m.word(n, asked, results), "/")
	if word == "call" {
		callTools(w, strings.Split(arg, "+"))
		return
	}
	if word != "ok" && word != "cut" {
		if arg != "" {
			w.Header().Set("Retry-After", arg)
		}
		var status int
		fmt.Sscan(word, &status)
		http.Error(w, `{"error":{"message":"no"}}`, status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	piece := func(text, finish string) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", text, finish)
		w.(http.Flusher).Flush()
	}
	piece("re: ", "null")
	if word == "cut" {
		panic(http.ErrAbortHandler)
	}
	last := "nothing"
	if len(lines) > 0 {
		last = lines[len(lines)-1]
	}
	piece(last, `"stop"`)
	if in, out, used := strings.Cut(arg, "+"); used {
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%s,\"completion_tokens\":%s}}\n\n", in, out)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
