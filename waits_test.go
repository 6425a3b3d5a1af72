package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// waitCase is one kind of wait: how a turn gets into it, and what must be seen of it.
type waitCase struct {
	retry   string   // of [retry], after plainRetry
	more    string   // of [provider.fake], and further sections
	script  []string // what the provider does, request by request; the last word goes on for ever
	other   string   // said in another chat before; "" = nothing
	order   string   // a command carried out before anything is said; "" = none
	state   string   // while it waits
	from    string   // wait_from then
	why     string   // reason.why then
	atLeast time.Duration
	mend    func(*killed) // done after the restart; nil = it goes on by itself
	sent    int           // requests in the end, those of the other chat included
	said    string        // transcript in the end; "" = one question, one answer
}

// plainRetry leaves only what a case turns on.
const plainRetry = `resends = 0
waits = 1
wait_base = "20ms"
park_from = "100ms"
park_base = "50ms"
park_cap = "200ms"
gate_cap = "1s"
gate_after = 0
rearm = false
notice_after = "0s"
max_waiting = 0
`

// exhaustsAtOnce is a ladder without waits of its own.
const exhaustsAtOnce = "waits = 0\npark_horizon = \"1ms\"\n"

func waitCases() map[string]waitCase {
	return map[string]waitCase{
		"resend":        {retry: "resends = 2\nresend_base = \"2s\"\n", script: []string{"503", "ok"}, state: "retrying", from: "backoff", why: "failure", sent: 2},
		"wait":          {retry: "wait_base = \"2s\"\npark_from = \"10s\"\n", script: []string{"503", "ok"}, state: "retrying", from: "backoff", why: "failure", sent: 2},
		"stated wait":   {retry: "park_from = \"10s\"\n", script: []string{"429/3", "ok"}, state: "retrying", from: "retry-after", why: "failure", atLeast: 3 * time.Second, sent: 2},
		"stated park":   {script: []string{"429/3", "ok"}, state: "parked", from: "retry-after", why: "failure", atLeast: 3 * time.Second, sent: 2},
		"back-off park": {retry: "park_base = \"2s\"\npark_cap = \"2s\"\n", script: []string{"503", "503", "ok"}, state: "parked", from: "backoff", why: "failure", sent: 3},
		"held gate":     {script: []string{"429/3", "ok"}, other: "first", state: "parked", from: "gate", why: "gate", atLeast: 3 * time.Second, sent: 3},
		"gate of a model that is down": {retry: "gate_after = 1\nwaits = 0\npark_base = \"2s\"\npark_cap = \"2s\"\ngate_cap = \"2s\"\n", script: []string{"503", "ok"}, other: "first",
			state: "parked", from: "gate", why: "gate", atLeast: 2 * time.Second, sent: 3},
		"re-arming": {retry: exhaustsAtOnce + "rearm = [\"3s\"]\n", script: []string{"503", "ok"}, state: "rearming", from: "rearm", why: "failure", atLeast: 3 * time.Second, sent: 2},
		"owed":      {retry: exhaustsAtOnce + "gate_cap = \"3s\"\n", script: []string{"503", "ok"}, state: "owed", from: "gate", why: "failure", atLeast: 3 * time.Second, sent: 2},
		"owed for an account": {script: []string{"401", "ok"}, state: "owed", from: "gate", why: "account", sent: 2,
			mend: func(k *killed) { k.order("turn.resume", k.turn) }},
		"asked whether it is still wanted": {retry: exhaustsAtOnce + "gate_cap = \"1s\"\nstale_after = \"500ms\"\n", script: []string{"503", "ok"}, state: "owed", from: "approval", why: "stale", sent: 2,
			mend: func(k *killed) { k.mustSend("yes", "room", "yes") }, said: "[user: hello bot: re: yes user: yes]"},
		"allowance of the day": {more: "daily_requests = 1\n", script: []string{"ok"}, other: "first", state: "parked", from: "budget", why: "budget", sent: 2,
			mend: func(k *killed) { k.restartWithout("daily_requests = 1\n"); k.order("turn.resume", k.turn) }},
		"pause": {order: "pause", script: []string{"ok"}, state: "parked", from: "gate", why: "gate", sent: 1,
			mend: func(k *killed) { k.order("unpause", "") }},
	}
}

// killed is a daemon that is killed while one of its turns waits.
type killed struct {
	*process
	turn string
	n    int
}

// order carries out a command.
func (k *killed) order(cmd, target string) {
	k.t.Helper()
	k.n++
	body := map[string]any{"id": fmt.Sprint("order", k.n), "cmd": cmd, "target": target}
	if status := k.do("POST", "/api/v1/commands", body, nil); status != 200 {
		k.t.Fatalf("%s of %q: %d", cmd, target, status)
	}
}

// restartWithout takes a line out of the config, kills once more and starts.
func (k *killed) restartWithout(line string) {
	k.t.Helper()
	path := filepath.Join(k.dir, "holdfast.toml")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), line, "", 1)), 0o600)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	k.kill()
	k.up()
}

// waits is a turn's wait as the API shows it.
type waits struct {
	State    string
	WaitFrom string `json:"wait_from"`
	RetryAt  string `json:"retry_at"`
	Reason   struct{ Why string }
}

func (k *killed) wait() (w waits) {
	k.do("GET", "/api/v1/turns/"+k.turn, nil, &w)
	return w
}

// P7, R1, F10, F13, R13, R14: kill -9 inside every kind of wait. The wait outlives it, nothing is
// sent before its time, and the turn is answered once.
func TestKillInsideEveryWaitP7(t *testing.T) {
	for name, c := range waitCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.play(t)
		})
	}
}

func (c waitCase) play(t *testing.T) {
	var mu sync.Mutex
	var came []time.Time
	m := newScripted(t, func(n int, _ string) string {
		mu.Lock()
		defer mu.Unlock()
		came = append(came, time.Now())
		return c.script[min(n, len(c.script))-1]
	})
	config := fmt.Sprintf("[retry]\n%s[log]\nlevel = \"warn\"\n[provider.fake]\nwire = \"openai\"\nbase_url = %q\n%s[[bot]]\nmodels = [\"fake/one\"]\n",
		merged(plainRetry, c.retry), m.URL, c.more)
	k := &killed{process: newProcess(t, config)}
	k.up()
	if c.order != "" {
		k.order(c.order, "")
	}
	other := ""
	if c.other != "" {
		other = k.mustSend("other", "elsewhere", c.other)
		k.until("the other request is made", 10*time.Second, func() bool { return m.requests() > 0 && k.process.turn(other).State != "running" })
	}
	k.turn = k.mustSend("m1", "room", "hello")
	as := func(w waits) bool { return w.State == c.state && w.WaitFrom == c.from && w.Reason.Why == c.why }
	k.until(fmt.Sprintf("%s, wait_from %s", c.state, c.from), 15*time.Second, func() bool { return as(k.wait()) })
	before := k.wait()

	k.kill()
	k.up()
	if now := k.wait(); c.state != "retrying" && (!as(now) || now.RetryAt != before.RetryAt && c.from != "gate") {
		t.Errorf("after the restart %+v, before %+v", now, before)
	}
	if c.mend != nil {
		c.mend(k)
	}
	for _, turn := range []string{k.turn, other} {
		if turn == "" {
			continue
		}
		k.until("answered", 20*time.Second, func() bool { return k.process.turn(turn).State == "done" })
		if got := k.process.turn(turn); got.Outcome != "answered" {
			t.Errorf("%+v", got)
		}
	}
	want := c.said
	if want == "" {
		want = "[user: hello bot: re: hello]"
	}
	if got := fmt.Sprint(k.transcript("room")); got != want {
		t.Errorf("transcript %s, want %s", got, want)
	}
	if m.requests() != c.sent {
		t.Errorf("%d requests, want %d", m.requests(), c.sent)
	}
	mu.Lock()
	if len(came) > 1 && came[1].Sub(came[0]) < c.atLeast {
		t.Errorf("the second request came %v after the first, want at least %v", came[1].Sub(came[0]), c.atLeast)
	}
	mu.Unlock()
	k.kill()
	k.sound()
}

// merged lets the lines of over take the place of lines of base with the same key.
func merged(base, over string) string {
	var lines []string
	for line := range strings.Lines(base) {
		key, _, _ := strings.Cut(line, " ")
		if !strings.Contains("\n"+over, "\n"+key+" =") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "") + over
}
