package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/store"
)

// quick is a ladder whose waits are short, so that every kind of wait happens within a second.
const quick = `[retry]
resend_base = "10ms"
wait_base = "20ms"
park_from = "100ms"
park_base = "50ms"
park_cap = "200ms"
notice_after = "0s"
max_waiting = 0
[engine]
poison_after = 0
[log]
level = "warn"
`

// TestMain is where the child of the kill tests leaves for its own life.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HOLDFAST_TEST_WORLD"); dir != "" {
		os.Exit(world(dir))
	}
	if crash := os.Getenv("HOLDFAST_TEST_CRASH"); crash != "" {
		os.Exit(mortal(crash))
	}
	os.Exit(m.Run())
}

// mortal is the daemon of the kill tests: it runs until it dies by SIGKILL at a crash point's nth
// time ("POINT:N"), telling every point it comes to.
func mortal(crash string) int {
	point, nth, _ := strings.Cut(crash, ":")
	n, err := strconv.Atoi(nth)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	var mu sync.Mutex
	seen := 0
	c := &call{place: here(), out: os.Stdout, err: os.Stderr, now: time.Now}
	c.crash = func(at string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(os.Stdout, "point", at)
		if at == point {
			if seen++; seen == n {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // the signal is on its way
			}
		}
	}
	if err := (runCmd{}).Run(c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// P7, S3: killed at every step boundary of a turn that resends, waits, parks and streams: the same
// end state as without, the store sound.
func TestKillAtEveryStepP7S3(t *testing.T) {
	script := []string{"503", "503", "503", "cut", "429/0.2", "503", "503", "ok"}
	play := func(t *testing.T, crash string) (*process, []string) {
		m := newScripted(t, func(n int, _ string) string { return script[min(n, len(script))-1] })
		p := newProcess(t, m.config(quick))
		p.start(crash)
		p.until("ready or dead", 20*time.Second, func() bool { return p.ready() || p.dead() })
		turn, acknowledged := "", false
		p.until("acknowledged", 20*time.Second, func() bool {
			if p.dead() {
				p.up()
			}
			turn, acknowledged = p.send("m1", "room", "hello")
			return acknowledged
		})
		p.until("done", 20*time.Second, func() bool {
			if p.dead() {
				p.up()
			}
			return p.turn(turn).State == "done"
		})
		if got := p.turn(turn); got.Outcome != "answered" {
			t.Errorf("%s: %+v", crash, got)
		}
		lines := p.transcript("room")
		p.kill()
		p.sound()
		return p, lines
	}
	p, want := play(t, "none:1")
	hits := map[string]int{}
	for line := range strings.SplitSeq(p.output(), "\n") {
		if point, ok := strings.CutPrefix(line, "point "); ok {
			hits[point]++
		}
	}
	if len(hits) < 7 {
		t.Fatalf("crash points met: %v\n%s", hits, p.output())
	}
	if fmt.Sprint(want) != "[user: hello bot: re: hello]" {
		t.Fatalf("transcript without a crash: %q", want)
	}
	for point, n := range hits {
		for k := 1; k <= n; k++ {
			crash := fmt.Sprintf("%s:%d", point, k)
			t.Run(crash, func(t *testing.T) {
				t.Parallel()
				if _, got := play(t, crash); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%q, want %q", got, want)
				}
			})
		}
	}
}

// kills is how many random moments a run tries: 200 in CI.
func kills() int {
	if os.Getenv("CI") != "" {
		return 200
	}
	return 25
}

// S3, P7: killed at random moments while messages come in: no turn lost, none doubled, every one
// answered, the store sound.
func TestKillAtRandomMomentsS3(t *testing.T) {
	words := []string{"ok", "ok", "ok", "503", "429/0.3", "cut", "ok"}
	m := newScripted(t, func(n int, _ string) string { return words[n%len(words)] })
	p := newProcess(t, m.config(quick))
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	var sent []string // command ids, in order; the message's text is its id
	turns := map[string]string{}
	p.up()
	for i := range kills() {
		stop := time.Now().Add(time.Duration(rnd.IntN(120)) * time.Millisecond)
		for k := 0; time.Now().Before(stop); k++ {
			id := fmt.Sprintf("m%d-%d", i, k)
			if turn, ok := p.send(id, fmt.Sprint("room", k%5), id); ok {
				turns[id] = turn
			}
			sent = append(sent, id)
			if k > 10 {
				<-time.After(time.Until(stop))
			}
		}
		p.kill()
		p.up()
	}
	for _, id := range sent { // what was not acknowledged is sent again with the same id, as the page does
		_, k, _ := strings.Cut(id, "-")
		n, _ := strconv.Atoi(k)
		turn := p.mustSend(id, fmt.Sprint("room", n%5), id)
		if was := turns[id]; was != "" && was != turn {
			t.Errorf("%s has two turns: %s, %s", id, was, turn)
		}
		turns[id] = turn
	}
	p.until("all done", 2*time.Minute, func() bool {
		var state struct{ Turns map[string]int }
		p.do("GET", "/api/v1/state", nil, &state)
		return state.Turns["accepted"] == len(sent) && state.Turns["done"] == len(sent) && state.Turns["lost"] == 0
	})
	answers := 0
	for id, turn := range turns {
		got := p.turn(turn)
		switch got.Outcome {
		case "answered":
			answers++
		case "merged":
			if into := p.turn(got.MergedInto); into.Outcome != "answered" {
				t.Errorf("%s was merged into %+v", id, into)
			}
		default:
			t.Errorf("%s: %+v", id, got)
		}
	}
	t.Logf("%d kills, %d messages, %d answers, %d requests", kills(), len(sent), answers, m.requests())
	p.kill()
	p.sound()
	p.once(sent, answers)
}

// once checks in the file that every message and every answer stands in it once.
func (p *process) once(sent []string, answers int) {
	p.t.Helper()
	s, err := store.OpenReader(store.Config{Dir: filepath.Join(p.dir, "data")})
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	said, bot := map[string]int{}, 0
	for k := range 5 {
		c, err := s.Chat(fmt.Sprint("room", k))
		if err != nil {
			continue // no message fell to it
		}
		ms, err := s.Messages(c.ID, 0, 100_000)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, m := range ms {
			if m.Role == "bot" {
				bot++
			} else {
				said[m.Text]++
			}
		}
	}
	for _, id := range sent {
		if said[id] != 1 {
			p.t.Errorf("message %s stands %d times", id, said[id])
		}
	}
	if len(said) != len(sent) || bot != answers {
		p.t.Errorf("%d messages for %d sent, %d answers for %d turns", len(said), len(sent), bot, answers)
	}
}

// sound opens a store whose daemon is down and runs the full integrity check.
func (p *process) sound() {
	p.t.Helper()
	s, err := store.Open(store.Config{Dir: filepath.Join(p.dir, "data"), Synchronous: "full"}, slog.New(slog.DiscardHandler))
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(); err != nil {
		p.t.Errorf("integrity: %v", err)
	}
}
