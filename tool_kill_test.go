package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// world is a tool server: the test's binary plays it as a child process of the daemon, and writes every
// call into a file of the directory, where no death of anybody is forgotten. While there is a file "hold"
// there, calls wait and say so.
func world(dir string) int {
	s := mcp.NewServer(&mcp.Implementation{Name: "world", Version: "1"}, nil)
	for name, a := range map[string]*mcp.ToolAnnotations{"look": {ReadOnlyHint: true}, "put": {IdempotentHint: true}, "write": nil} {
		s.AddTool(&mcp.Tool{Name: name, Description: name, Annotations: a, InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			if _, err := fmt.Fprintln(f, name, r.Params.Meta["holdfast/idempotency-key"]); err != nil {
				return nil, err
			}
			if err := held(filepath.Join(dir, "hold"), func() error {
				return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Message: "half of it", Progress: 1})
			}); err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " is done"}}}, nil
		})
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// held calls tell if there is a file, and returns when there is none: it looks every few milliseconds of
// real time, since another process cannot be awaited otherwise.
func held(file string, tell func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for told := false; ; <-tick.C {
		if _, err := os.Stat(file); err != nil {
			return nil
		}
		if !told {
			if err := tell(); err != nil {
				return err
			}
		}
		told = true
	}
}

// worldConfig gives the bot of a scripted provider that server. approve is as in [[mcp]].
func (m *scripted) worldConfig(dir, approve, more string) string {
	return strings.Replace(m.config(more), "[[bot]]\n", "[[bot]]\ntools = [\"world\"]\n", 1) +
		fmt.Sprintf("[[mcp]]\nname = \"world\"\ncommand = [%q]\nenv = { HOLDFAST_TEST_WORLD = %q }\napprove = %q\n", binaries().child, dir, approve)
}

// made are the calls that the world has seen, by tool, and whether every repetition had the key of the first.
func made(t *testing.T, dir string) (n map[string]int, sameKeys bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	n, keys := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, " ")
		n[name]++
		keys[line] = true
	}
	return n, len(keys) == len(n)
}

// P11: a turn that writes, meets 503s and a wait, looks and puts, in a daemon that is killed at every one of
// its steps: what writes is done once and no more; where it is not known, person and model are told.
func TestToolsKilledAtEveryStepP11(t *testing.T) {
	play := func(t *testing.T, crash string) (*process, string, []string) {
		asked := map[int]int{} // by how many results the model knows
		m := newScripted(t, nil)
		m.byResults = func(results int) string {
			asked[results]++
			switch {
			case results == 0:
				return "call/world_write"
			case results == 1 && asked[1] == 1:
				return "503"
			case results == 1 && asked[1] == 2:
				return "429/0.3"
			case results == 1:
				return "call/world_look+world_put"
			}
			return "ok"
		}
		dir := t.TempDir()
		p := newProcess(t, m.worldConfig(dir, "never", quick))
		p.start(crash)
		turn, acknowledged := "", false
		p.until("acknowledged", 20*time.Second, func() bool {
			if p.dead() {
				p.up()
			}
			turn, acknowledged = p.send("m1", "room", "hello")
			return acknowledged
		})
		p.until("done", 30*time.Second, func() bool {
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
		return p, dir, lines
	}
	p, dir, _ := play(t, "none:1")
	if n, _ := made(t, dir); fmt.Sprint(n) != "map[look:1 put:1 write:1]" {
		t.Fatalf("without a crash: %v\n%s", n, p.output())
	}
	hits := map[string]int{}
	for line := range strings.SplitSeq(p.output(), "\n") {
		if point, ok := strings.CutPrefix(line, "point "); ok {
			hits[point]++
		}
	}
	if hits["called"] != 2 || hits["acted"] != 3 {
		t.Fatalf("crash points met: %v", hits)
	}
	for point, n := range hits {
		for k := 1; k <= n; k++ {
			crash := point + ":" + strconv.Itoa(k)
			t.Run(crash, func(t *testing.T) {
				t.Parallel()
				_, dir, lines := play(t, crash)
				n, sameKeys := made(t, dir)
				told := strings.Contains(strings.Join(lines, "\n"), "cannot tell whether it happened")
				before := crash == "stepped:2" || crash == "called:1" // the line stands, the call is not made
				want, unknown := 1, before || crash == "acted:1"
				if before {
					want = 0
				}
				if n["write"] != want || told != unknown || !sameKeys || n["look"] < 1 || n["look"] > 2 || n["put"] < 1 || n["put"] > 2 {
					t.Errorf("%v, one key each: %v, told: %v\n%q", n, sameKeys, told, lines)
				}
			})
		}
	}
}

// An approval waits over a kill -9, is decided through the API, and the call is made once.
func TestApprovalOverAKill(t *testing.T) {
	m := newScripted(t, nil)
	m.byResults = func(results int) string { return []string{"call/world_write", "ok"}[min(results, 1)] }
	dir := t.TempDir()
	p := newProcess(t, m.worldConfig(dir, "writes", quick))
	p.up()
	turn := p.mustSend("m1", "room", "hello")
	var got struct {
		State    string
		Reason   struct{ Why string }
		Approval struct {
			ID    string
			Calls []struct{ Name, Args string }
		}
		Calls []struct{ State string }
	}
	asked := func() bool {
		p.do("GET", "/api/v1/turns/"+turn, nil, &got)
		return got.State == "parked" && got.Reason.Why == "approval"
	}
	p.until("asked", 20*time.Second, asked)
	p.kill()
	p.up()
	p.until("asked again", 5*time.Second, asked)
	if n, _ := made(t, dir); len(n) > 0 || len(got.Approval.Calls) != 1 || got.Approval.Calls[0].Name != "world_write" || got.Calls[0].State != "asked" {
		t.Fatalf("%+v, %v", got, n)
	}
	for range 2 { // the same command twice is one decision
		if status := p.do("POST", "/api/v1/commands", map[string]any{"id": "d1", "cmd": "approval.decide", "target": got.Approval.ID, "args": map[string]any{"allow": true}}, nil); status != 200 {
			t.Errorf("decide: %d", status)
		}
	}
	if status := p.do("POST", "/api/v1/commands", map[string]any{"id": "d2", "cmd": "approval.decide", "target": got.Approval.ID, "args": map[string]any{"allow": false}}, nil); status != 409 {
		t.Errorf("decided twice: %d", status)
	}
	p.until("done", 20*time.Second, func() bool { return p.turn(turn).State == "done" })
	if n, _ := made(t, dir); n["write"] != 1 || p.turn(turn).Outcome != "answered" {
		t.Errorf("%v, %+v", n, p.turn(turn))
	}
}
