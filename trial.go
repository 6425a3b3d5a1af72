package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// trial is what a selftest works on: a directory, a provider that this process serves, so that it
// outlives the daemon, and the daemon as a child that can be killed.
type trial struct {
	dir     string
	program string
	model   *overheard
	house   client
	child   *exec.Cmd
	ended   chan struct{} // closed when the child has ended
	log     tail
	chats   int
	turns   []string // of every question asked
}

// trialConfig makes every kind of wait short.
const trialConfig = `[store]
dir = "store"
[web]
listen = "127.0.0.1:0"
token = %q
[retry]
resend_base = "50ms"
resend_longest = "500ms"
wait_base = "100ms"
park_from = "500ms"
park_base = "200ms"
park_cap = "1s"
gate_cap = "1s"
notice_after = "0s"
max_waiting = 0
[provider.demo]
wire = "openai"
base_url = %q
idle_timeout = "700ms"
[[bot]]
models = ["demo/demo"]
`

// newTrial makes the directory, serves the provider and starts the daemon, which is program. The caller must end it.
func newTrial(ctx context.Context, program string) (t *trial, err error) {
	t = &trial{program: program}
	if t.dir, err = os.MkdirTemp("", "holdfast-selftest-"); err != nil {
		return nil, err
	}
	if t.model, err = listenIn(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(t.dir))
	}
	t.house = client{token: rand.Text(), http: http.Client{Timeout: 5 * time.Second}}
	text := fmt.Sprintf(trialConfig, t.house.token, t.model.url)
	err = os.WriteFile(t.config(), []byte(text), 0o600)
	if err == nil {
		err = t.start(ctx)
	}
	if err != nil {
		t.end(false)
		return nil, err
	}
	return t, nil
}

func (t *trial) config() string { return filepath.Join(t.dir, "holdfast.toml") }
func (t *trial) store() string  { return filepath.Join(t.dir, "store") }

// end kills the daemon and takes everything away.
func (t *trial) end(keep bool) {
	t.kill()
	if t.model != nil {
		t.model.close()
	}
	if keep {
		_ = os.WriteFile(filepath.Join(t.dir, "log"), t.log.all(), 0o600)
		return
	}
	_ = os.RemoveAll(t.dir)
}

// start runs the daemon and waits until it is ready.
func (t *trial) start(ctx context.Context) error {
	_ = os.Remove(addressFile(t.store())) // of the one that was killed
	child := exec.Command(t.program, "--config", t.config(), "run")
	child.Dir = t.dir
	child.Stdout, child.Stderr = &t.log, &t.log
	if err := child.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	ended := make(chan struct{})
	go func() { _ = child.Wait(); close(ended) }()
	t.child, t.ended = child, ended
	return t.until(ctx, 15*time.Second, "the daemon does not come up", func() bool {
		address := readAddress(t.store())
		if address == "" {
			return false
		}
		t.house.base = "http://" + address
		var ready struct{}
		return t.house.get("/readyz", nil, &ready) == nil
	})
}

// kill is kill -9.
func (t *trial) kill() {
	if t.child == nil {
		return
	}
	_ = t.child.Process.Kill()
	<-t.ended
	t.child = nil
}

// until looks again and again whether it is so, for at most so long; a daemon that has died ends it.
func (t *trial) until(ctx context.Context, most time.Duration, otherwise string, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			return errors.New(otherwise)
		case <-t.ended:
			return errors.New("the daemon has ended by itself")
		case <-look.C:
		}
	}
	return nil
}

// rest lets time pass.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return errors.New("the time of the selftest is over")
	case <-time.After(d):
		return nil
	}
}

// heal makes the provider well.
func (t *trial) heal(ctx context.Context) error {
	const body = `{"messages":[{"role":"user","content":"!heal"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.model.url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set(unheard, "yes")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("heal the provider: %w", err)
	}
	return resp.Body.Close()
}

// lastWords are the last lines of the daemon's log.
func (t *trial) lastWords() string {
	lines := strings.Split(strings.TrimSpace(string(t.log.all())), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// tail keeps what a process prints.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *tail) all() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.b.Bytes())
}

// say posts a message under a command id of its own, and returns its turn and whether it was known.
func (t *trial) say(id, chat, text string) (turn string, known bool, err error) {
	var got struct {
		Turn      string
		Duplicate bool
	}
	sent := order{ID: id, Cmd: "message.send", Args: map[string]string{"chat": chat, "text": text}}
	if err := t.house.do(http.MethodPost, "/api/v1/commands", sent, &got); err != nil {
		return "", false, err
	}
	if !got.Duplicate {
		t.turns = append(t.turns, got.Turn)
	}
	return got.Turn, got.Duplicate, nil
}

// ask says something in a chat of its own.
func (t *trial) ask(text string) (question, error) {
	t.chats++
	q := question{chat: fmt.Sprintf("check%d", t.chats), text: text, before: t.model.count(), at: time.Now()}
	turn, _, err := t.say(rand.Text(), q.chat, text)
	q.turn = turn
	return q, err
}

// question is one that was asked.
type question struct {
	turn, chat, text string
	before           int // requests that the provider had got before it
	at               time.Time
}

// turn reads one.
func (t *trial) turn(id string) (got turn) {
	_ = t.house.get("/api/v1/turns/"+id, nil, &got) // while the daemon is down there is none
	return got
}

// transcript is what a chat shows.
func (t *trial) transcript(chat string) ([]spoken, error) {
	var page struct {
		Messages []spoken `json:"messages"`
	}
	err := t.house.get("/api/v1/chats/"+chat+"/messages", nil, &page)
	return page.Messages, err
}

// spoken is a message in a chat.
type spoken struct{ Role, Text string }
