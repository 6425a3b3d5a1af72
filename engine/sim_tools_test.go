package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"holdfast/engine/tool"
	"holdfast/store"
)

// simWorld is what the bots' tools act on. It outlives every process, and remembers each act by the key
// of its call. A tool does what the script says, and acts as soon as it is called: whatever goes wrong
// after that has happened all the same.
type simWorld struct {
	sim *sim

	mu      sync.Mutex
	plays   map[string][]string // by tool: what becomes of its calls, word by word, again and again
	at      map[string]int
	acts    map[string]int  // by key
	settled map[string]int  // by key: the acts when its result was first seen in a journal
	asked   map[string]bool // keys of calls that a person has to approve
}

func newWorld(s *sim) *simWorld {
	return &simWorld{sim: s, plays: map[string][]string{}, at: map[string]int{}, acts: map[string]int{}, settled: map[string]int{}, asked: map[string]bool{}}
}

// tools are the bots', as a process has them; dead is closed when that process has been killed.
func (w *simWorld) tools(dead <-chan struct{}) tool.Set {
	return tool.Fixed{
		simTool{w, dead, tool.Spec{Name: "look", ReadOnly: true}}, simTool{w, dead, tool.Spec{Name: "put", Idempotent: true}},
		simTool{w, dead, tool.Spec{Name: "write"}}, simTool{w, dead, tool.Spec{Name: "ask", Approve: "always"}},
	}
}

// play sets what becomes of a tool's calls from now on: "ok", "failed", "lost" (it has acted, and nobody
// says so), "unmade", "hang"; with @ how long it takes.
func (w *simWorld) play(name string, words []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plays[name], w.at[name] = words, 0
}

// begin lets a call act and says what becomes of it.
func (w *simWorld) begin(s tool.Spec, key string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	word := "ok"
	if words := w.plays[s.Name]; len(words) > 0 {
		word = words[w.at[s.Name]%len(words)]
		w.at[s.Name]++
	}
	if strings.HasPrefix(word, "unmade") {
		return word
	}
	w.acts[key]++
	w.asked[key] = s.NeedsApproval()
	if n := w.acts[key]; n > 1 && !s.Repeatable() {
		w.sim.fault("acted twice", "%s has been called %d times for %s", s.Name, n, key)
	}
	return word
}

type simTool struct {
	world *simWorld
	dead  <-chan struct{}
	spec  tool.Spec
}

func (t simTool) Spec() tool.Spec { return t.spec }

func (t simTool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	select {
	case <-t.dead: // a killed process calls nobody
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	default:
	}
	word, took, _ := strings.Cut(t.world.begin(t.spec, c.Key), "@")
	wait, _ := time.ParseDuration(took)
	if word == "hang" {
		wait = 24 * time.Hour
	}
	select {
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	case <-time.After(wait):
	}
	switch word {
	case "failed":
		return tool.Result{Text: "it cannot be done", Failed: true}, nil
	case "lost":
		return tool.Result{}, errors.New("the line broke")
	case "unmade":
		return tool.Result{}, fmt.Errorf("no line: %w", tool.ErrNotMade)
	}
	return tool.Result{Text: t.spec.Name + " is done"}, nil
}

// checkCalls: a call that has resulted is never made again, none is made that a person has not approved,
// and every call has one result at most.
func (s *sim) checkCalls(t store.Turn) {
	if t.Calls == 0 && t.Reason.Why != "approval" {
		return
	}
	steps, err := s.store.Steps(t.ID)
	if err != nil {
		s.fault("read", "journal: %v", err)
		return
	}
	w := s.world
	w.mu.Lock()
	defer w.mu.Unlock()
	results := map[string]int{}
	for _, step := range steps {
		var b resultStep
		if step.Kind == "resulted" && json.Unmarshal(step.Body, &b) == nil {
			results[b.Key]++
		}
	}
	for _, c := range toolCalls(t.ID, steps) {
		acts := w.acts[c.key]
		switch was, known := w.settled[c.key]; {
		case results[c.key] > 1:
			s.fault("two results", "a call of %s has %d: %s", c.Name, results[c.key], told(t))
		case c.result != nil && !known:
			w.settled[c.key] = acts
		case c.result != nil && acts > was:
			s.fault("made again", "%s was called again after its result: %s", c.Name, told(t))
		}
		switch {
		case acts > 0 && c.called == nil:
			s.fault("not journaled", "%s was called and no line says so: %s", c.Name, told(t))
		case acts > 0 && w.asked[c.key] && (c.decided == nil || !c.decided.Allow):
			s.fault("not approved", "%s was called without a person's word: %s", c.Name, told(t))
		case acts == 0 && c.result != nil && !c.result.Failed:
			s.fault("not called", "%s has a result and was never called: %s", c.Name, told(t))
		}
	}
	waits := Waits(t.State) && t.Reason.Why == "approval"
	if _, err := s.store.OpenApproval(t.ID, postApproval); waits != (err == nil) {
		s.fault("approval", "waits %v, asked %v: %s", waits, err, told(t))
	}
	if waits {
		s.checked.approvals[t.ID] = true
	}
}

// decide is a person's word on what the turn of a message has asked or lost: approve, deny, do, leave.
func (s *sim) decide(e *Engine, what string, turn store.ID) error {
	kind := postApproval
	if what == "do" || what == "leave" {
		kind = postUnknown
	}
	_, err := e.decideOn(context.Background(), turn, kind, "", what == "approve" || what == "do")
	if errors.Is(err, store.ErrSettled) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// approveAll says yes to all that is asked.
func (s *sim) approveAll() {
	open, err := s.store.OpenApprovals(1000)
	if err != nil {
		s.fault("read", "approvals: %v", err)
	}
	for _, a := range open {
		if a.Kind == postApproval {
			if err := s.decide(s.engine, "approve", a.Turn); err != nil {
				s.fault("order", "approve: %v", err)
			}
		}
	}
}

// callWords are what a model may call, for scripts.
var callWords = []string{"call:look", "call:put", "call:write", "call:ask", "call:put+write", "call:look+ask", "call:write+write", "call:nothing"}
