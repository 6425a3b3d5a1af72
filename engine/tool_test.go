package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/tool"
	"holdfast/store"
)

// fakeTool counts its calls outside of every process, as the world does.
type fakeTool struct {
	spec tool.Spec
	mu   sync.Mutex
	keys []string // of the calls it has carried out
	took time.Duration
	plan []any // what the next calls come to: a tool.Result, an error, "hang" or "panic"
}

func (f *fakeTool) Spec() tool.Spec { return f.spec }

func (f *fakeTool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	f.mu.Lock()
	f.keys = append(f.keys, c.Key)
	var next any = tool.Result{Text: f.spec.Name + " done"}
	if len(f.plan) > 0 {
		next, f.plan = f.plan[0], f.plan[1:]
	}
	f.mu.Unlock()
	took := f.took
	if next == "hang" {
		took = 24 * time.Hour
	}
	if took > 0 {
		c.Progress("half done")
		select {
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		case <-time.After(took):
		}
	}
	switch v := next.(type) {
	case tool.Result:
		return v, nil
	case error:
		return tool.Result{}, v
	case string:
		panic("a tool that panics")
	}
	return tool.Result{}, nil
}

func (f *fakeTool) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.keys)
}

// withTools gives the bot a reading tool, an idempotent one, a writing one, and one that asks first.
func withTools(p *Parts) map[string]*fakeTool {
	tools := map[string]*fakeTool{
		"look":  {spec: tool.Spec{Name: "look", ReadOnly: true}},
		"put":   {spec: tool.Spec{Name: "put", Idempotent: true}},
		"write": {spec: tool.Spec{Name: "write", Title: "Write it"}},
		"ask":   {spec: tool.Spec{Name: "ask", Approve: "writes"}},
	}
	p.Tools = map[string]tool.Set{"box": tool.Fixed{tools["look"], tools["put"], tools["write"], tools["ask"]}}
	p.Bots[0].Tools = []string{"box"}
	return tools
}

// bodies are the requests' contexts.
func (h *house) bodies() (list []string) {
	for _, r := range h.models.requests() {
		list = append(list, r.body)
	}
	return list
}

// P11: a call that has resulted is never made again, whatever happens behind it; its result is in the context.
func TestToolIsCalledOnceP11(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p); p.Retry.Resends = 0 }, func(h *house) {
		h.models.play("call:write", "503", "429/3h", "ok:done")
		id := h.say("ann", "do it")
		h.wait(s(5))
		h.crash()
		h.start()
		h.wait(time.Hour)
		h.want(id, store.Parked)
		h.crash()
		h.start()
		done := h.settled(id, 4*time.Hour)
		all := h.bodies()
		if n := len(tools["write"].calls()); n != 1 || done.Text != "done" || done.Calls != 1 {
			t.Errorf("%d calls, %+v", n, done)
		}
		if last := all[len(all)-1]; strings.Count(last, "tool: write done") != 1 {
			t.Errorf("the last request said %q", last)
		}
		if !strings.HasPrefix(all[len(all)-1], strings.TrimSuffix(all[1], "\n")) {
			t.Errorf("the context has changed before its end:\n%q\n%q", all[1], all[len(all)-1])
		}
	})
}

// P11: a process that dies at any point around a call: once in all for a write, and whatever is read or
// idempotent is made again with the same key; where it is not known the model and the person are told.
func TestToolCutOffP11(t *testing.T) {
	for _, c := range []struct {
		tool, point string
		calls       int
		unknown     bool
	}{
		{"write", "stepped", 1, false}, // behind the reply
		{"write", "called", 0, true},   // the line stands, and nobody knows more
		{"write", "acted", 1, true},
		{"look", "called", 1, false},
		{"look", "acted", 2, false},
		{"put", "acted", 2, false},
	} {
		t.Run(c.tool+" at "+c.point, func(t *testing.T) {
			var tools map[string]*fakeTool
			var at func(string)
			inHouse(t, func(p *Parts) {
				tools = withTools(p)
				p.Crash = func(point string) {
					if at != nil {
						at(point)
					}
				}
			}, func(h *house) {
				h.models.play("call:"+c.tool, "ok:done")
				dead := make(chan struct{})
				hit := false
				at = func(point string) {
					if point == c.point && !hit {
						hit = true
						h.store.Close() //nolint:errcheck // a kill: what comes after it is written nowhere
						<-dead
					}
				}
				id := h.say("ann", "do it")
				h.wait(s(1))
				at = nil
				h.engine.endRuns(errShutdown)
				close(dead)
				h.crash()
				h.start()
				done := h.settled(id, s(60))
				keys := tools[c.tool].calls()
				if len(keys) != c.calls || len(slices.Compact(keys)) > 1 || done.Text != "done" {
					t.Errorf("%d calls, %q", len(keys), done.Text)
				}
				all := h.bodies()
				if got := strings.Contains(all[len(all)-1], "whether it has happened is not known"); got != c.unknown {
					t.Errorf("unknown to the model: %v\n%s", got, all[len(all)-1])
				}
				if got := strings.Contains(strings.Join(h.transcript(), "\n"), "cannot tell whether it happened"); got != c.unknown {
					t.Errorf("unknown to the person: %v\n%s", got, h.transcript())
				}
			})
		})
	}
}

// What is not known of a call is not made again by the model alone: its next call of that tool asks a person first.
func TestDoubtAsksAPerson(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
		tools["write"].plan = []any{errors.New("the server has died")}
		h.models.play("call:write", "call:write", "ok:done")
		id := h.say("ann", "do it")
		h.wait(s(1))
		if w := h.want(id, store.Parked); w.Reason.Why != "approval" || len(tools["write"].calls()) != 1 {
			t.Fatalf("%+v, %d calls", w, len(tools["write"].calls()))
		}
		h.say("ann", "!approve")
		if done := h.settled(id, s(5)); done.Text != "done" || len(tools["write"].calls()) != 2 {
			t.Errorf("%q, %d calls", done.Text, len(tools["write"].calls()))
		}
	})
}

// A tool that breaks down is tried again if that does no harm or nothing can have happened; one that
// panics, or does not end in time, is told to the model, and the turn goes on.
func TestToolBreaksDown(t *testing.T) {
	for name, c := range map[string]struct {
		tool  string
		plan  []any
		calls int
		model string
	}{
		"read":     {"look", []any{errors.New("lost")}, 2, "tool: look done"},
		"for ever": {"look", []any{errors.New("lost"), errors.New("lost"), errors.New("lost")}, 3, "does not work now: lost"},
		"not made": {"write", []any{fmt.Errorf("no line: %w", tool.ErrNotMade)}, 2, "tool: write done"},
		"write":    {"write", []any{errors.New("lost")}, 1, "is not known"},
		"panic":    {"write", []any{"panic"}, 1, "is not known"},
		"hang":     {"look", []any{"hang"}, 1, "has not ended within 2m0s"},
		"failed":   {"write", []any{tool.Result{Text: "no such file", Failed: true}}, 1, "tool: no such file"},
		"long":     {"look", []any{tool.Result{Text: strings.Repeat("é", tool.MaxResult)}}, 1, "more bytes left out]"},
	} {
		t.Run(name, func(t *testing.T) {
			var tools map[string]*fakeTool
			inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
				tools[c.tool].plan = c.plan
				h.models.play("call:"+c.tool, "ok:done")
				done := h.settled(h.say("ann", "do it"), 3*time.Minute)
				all := h.bodies()
				if n := len(tools[c.tool].calls()); n != c.calls || done.Text != "done" || !strings.Contains(all[len(all)-1], c.model) {
					t.Errorf("%d calls, %q\n%s", n, done.Text, all[len(all)-1])
				}
			})
		})
	}
}

// Calls of one reply run side by side; a crash in the middle repeats only what may be repeated.
func TestCallsSideBySide(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
		for _, one := range tools {
			one.took = s(3)
		}
		tools["put"].took = s(1)
		h.models.play("call:look+put+write", "ok:done")
		id := h.say("ann", "do it")
		h.wait(s(2))
		if got := h.engine.Progress(id); len(got) != 2 {
			t.Errorf("progress of %v", got)
		}
		h.crash()
		h.start()
		h.wait(s(2.5))
		h.want(id, store.Running)
		done := h.settled(id, s(2))
		if l, p, w := len(tools["look"].calls()), len(tools["put"].calls()), len(tools["write"].calls()); l != 2 || p != 1 || w != 1 || done.Text != "done" {
			t.Errorf("look %d, put %d, write %d, %q", l, p, w, done.Text)
		}
		all := h.bodies()
		if last := all[len(all)-1]; len(all) != 2 || strings.Count(last, "tool: ") != 3 {
			t.Errorf("%d requests, the last %s", len(all), last)
		}
	})
}

// An approval waits for days and over restarts, blocks nobody, is the asker's or an operator's, and is kept.
func TestApproval(t *testing.T) {
	for _, allow := range []bool{true, false} {
		var tools map[string]*fakeTool
		inHouse(t, func(p *Parts) { tools = withTools(p); p.Bots[0].Operators = []string{"op"} }, func(h *house) {
			h.models.play("call:ask", "ok:another", "ok:done")
			id := h.say("ann", "do it")
			h.wait(s(1))
			w := h.want(id, store.Parked)
			if w.Reason.Why != "approval" || w.From != "approval" || w.RetryAt != 0 || len(tools["ask"].calls()) != 0 {
				t.Fatalf("%+v", w)
			}
			h.crash()
			h.start()
			h.wait(50 * time.Hour)
			other := h.settled(h.say("ann", "meanwhile"), s(5))
			if other.MergedInto != 0 || other.Text != "another" {
				t.Errorf("a message meanwhile: %+v", other)
			}
			if got, err := h.engine.Resume(t.Context(), Order{Turn: id}); !errors.Is(err, ErrAsks) || got.State != store.Parked {
				t.Errorf("try now: %v, %v", got.State, err)
			}
			word := map[bool]string{true: "!approve", false: "!deny"}[allow]
			h.settled(h.say("bob", word), s(5))
			h.want(id, store.Parked)
			h.settled(h.say("op", word), s(5))
			done := h.settled(id, s(5))
			if n := len(tools["ask"].calls()); done.Text != "done" || (n == 1) != allow {
				t.Errorf("allowed %v: %d calls, %q", allow, n, done.Text)
			}
			all := h.bodies()
			if last := all[len(all)-1]; strings.Contains(last, "op has not allowed this call") == allow {
				t.Errorf("the model was told: %s", last)
			}
			open, err := h.store.OpenApprovals(10)
			if err != nil || len(open) != 0 {
				t.Errorf("%v, %v", open, err)
			}
			steps, err := h.store.Steps(id)
			if i := slices.IndexFunc(steps, func(p store.Step) bool { return p.Kind == "decided" }); err != nil || i < 0 || !strings.Contains(string(steps[i].Body), `"by":"op"`) {
				t.Errorf("who decided is not kept: %+v, %v", steps, err)
			}
		})
	}
}

// A stop ends tools too, and an approval that was open; nothing is called afterwards.
func TestStopEndsTools(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
		tools["write"].plan = []any{"hang"}
		h.models.play("call:write", "call:ask", "ok:next")
		id := h.say("ann", "do it")
		h.wait(s(1))
		h.say("ann", "!stop")
		if done := h.settled(id, s(1)); done.Outcome != store.Cancelled {
			t.Errorf("%+v", done)
		}
		synctest.Wait()
		asks := h.say("ann", "do that")
		h.wait(s(1))
		h.want(asks, store.Parked)
		h.say("ann", "!stop")
		h.settled(asks, s(1))
		open, err := h.store.OpenApprovals(10)
		if err != nil || len(open) != 1 || open[0].Turn != id || open[0].Kind != postUnknown {
			t.Errorf("what was cut off is asked about, and nothing else: %v, %v", open, err)
		}
		if said := strings.Join(h.transcript(), "\n"); strings.Count(said, "cannot tell whether it happened") != 1 {
			t.Errorf("%s", said)
		}
		h.settled(h.say("ann", "and now?"), s(1))
		all := h.bodies()
		if last := all[len(all)-1]; strings.Count(last, "tool: [Holdfast: the turn was ended before this call had a result.]") != 2 {
			t.Errorf("a call without a result: %s", last)
		}
	})
}

// Steering: what the same person says while a turn runs is in its next request, behind the results; what
// another says is a turn of its own.
func TestSteering(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
		tools["look"].took = s(10)
		h.models.play("call:look", "call:put", "ok:done", "ok:bob's")
		id := h.say("ann", "first")
		h.wait(s(1))
		joins := h.say("ann", "and this too")
		bob := h.say("bob", "mine")
		done := h.settled(id, s(20))
		if m := h.turn(joins); m.MergedInto != id || m.Outcome != store.Merged || done.Messages != 2 {
			t.Errorf("%+v, %+v", m, done)
		}
		all := h.bodies()
		want := "user: first\nassistant: \ntool: look done\nuser: and this too\n"
		if all[1] != want || !strings.HasPrefix(all[2], want) {
			t.Errorf("%q", all[1:3])
		}
		if b := h.settled(bob, s(5)); b.Text != "bob's" {
			t.Errorf("%+v", b)
		}
		if last := h.bodies()[3]; !strings.HasPrefix(last, want) {
			t.Errorf("the history does not begin alike: %q", last)
		}
	})
}

// max_steps ends a model that calls tools without end; turn_deadline counts the tools' time.
func TestToolLimits(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p); p.Bots[0].MaxSteps = 3; p.Config.TurnDeadline = 4 * time.Minute }, func(h *house) {
		h.models.play("call:look")
		if done := h.settled(h.say("ann", "do it"), s(5)); done.Outcome != store.Failed || len(tools["look"].calls()) != 3 {
			t.Errorf("%+v, %d calls", done, len(tools["look"].calls()))
		}
		tools["put"].took = 100 * time.Second
		h.models.play("call:put")
		if done := h.settled(h.say("ann", "again"), 10*time.Minute); done.Outcome != store.Failed || !strings.Contains(done.Text, "longer than a turn may") {
			t.Errorf("%+v", done)
		}
	})
}

// What was cut off can be done after all, once, by who asked or an operator, or be left; the answer has not waited for it.
func TestUnknownIsDoneOrLeft(t *testing.T) {
	for _, do := range []string{"again", "leave"} {
		var tools map[string]*fakeTool
		inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
			tools["write"].plan = []any{errors.New("lost"), errors.New("lost")}
			h.models.play("call:write+write", "ok:I do not know", "ok:now it is done")
			id := h.say("ann", "do it")
			if done := h.settled(id, s(2)); done.Text != "I do not know" {
				t.Fatalf("%+v", done)
			}
			post, err := h.engine.unknownPost(id)
			if err != nil || post == nil || strings.Count(post.Text, "Write it") != 2 || len(Buttons(*post)) != 2 {
				t.Fatalf("%+v, %v", post, err)
			}
			_, open, err := h.engine.CallsOf(h.turn(id))
			if err != nil || open == nil || open.Kind != "unknown" || len(open.Calls) != 2 {
				t.Errorf("%+v, %v", open, err)
			}
			key := Button{Do: do}.Key(*post)
			if said, err := h.engine.Press(t.Context(), PressedKey(key, "bob")); err != nil || !strings.HasPrefix(said, "Only the person who asked") {
				t.Errorf("another presses: %q, %v", said, err)
			}
			for i := range 2 {
				said, err := h.engine.Press(t.Context(), PressedKey(key, "ann"))
				if want := [][]string{{"It is done now.", "This is decided already."}, {"It is left.", "This is decided already."}}[strings.Index("al", do[:1])][i]; err != nil || said != want {
					t.Errorf("%s %d: %q, %v", do, i, said, err)
				}
			}
			h.wait(s(2))
			if n := len(tools["write"].calls()); n != map[string]int{"again": 4, "leave": 2}[do] {
				t.Errorf("%s: %d calls", do, n)
			}
			all := h.transcript()
			if last := all[len(all)-1]; do == "again" && last != "bot answer: now it is done" || strings.Contains(strings.Join(all, "\n"), "cannot tell") {
				t.Errorf("%q", all)
			}
		})
	}
}

// However much instructions and tools take, the conversation has its part of the context; the log says so once.
func TestInstructionsLargerThanTheContext(t *testing.T) {
	inHouse(t, func(p *Parts) {
		p.Bots[0].ContextTokens = 250
		p.Bots[0].Instructions = strings.Repeat("Be kind. ", 500)
	}, func(h *house) {
		for range 6 {
			if done := h.settled(h.say("ann", strings.Repeat("a", 90)), s(2)); done.Outcome != store.Answered {
				t.Fatalf("%+v\n%s", done, h.log)
			}
		}
		if said := h.log.with("leave little room"); len(said) != 1 {
			t.Errorf("%q", said)
		}
	})
}

// A pause holds what acts as well, also what a person has approved meanwhile.
func TestPauseHoldsTools(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
		h.models.play("call:ask", "ok:done")
		id := h.say("ann", "do it")
		h.wait(s(1))
		if err := h.engine.Pause(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		h.say("ann", "!approve")
		h.wait(time.Minute)
		if w := h.want(id, store.Parked); len(tools["ask"].calls()) != 0 || w.Gate == "" {
			t.Errorf("%d calls, %+v", len(tools["ask"].calls()), w)
		}
		h.crash()
		h.start()
		h.wait(time.Minute)
		if len(tools["ask"].calls()) != 0 {
			t.Error("called after a restart")
		}
		if err := h.engine.Unpause(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		if done := h.settled(id, s(5)); done.Text != "done" || len(tools["ask"].calls()) != 1 {
			t.Errorf("%+v, %d calls", done, len(tools["ask"].calls()))
		}
	})
}

// Approvals that wait lock nobody out, tell the model of a later message that they do, and a decision names what it is about.
func TestApprovalsKeepNobodyWaiting(t *testing.T) {
	inHouse(t, func(p *Parts) { withTools(p); p.Retry.MaxWaiting = 2 }, func(h *house) {
		h.models.play("call:ask", "call:ask", "call:ask", "ok:an answer")
		for i := range 3 {
			id := h.sayIn(fmt.Sprint("room", i), "ann", "do it")
			h.wait(s(1))
			h.want(id, store.Parked)
		}
		if done := h.settled(h.sayIn("room2", "ann", "and?"), s(5)); done.Text != "an answer" {
			t.Errorf("%+v", done)
		}
		all := h.bodies()
		if last := all[len(all)-1]; !strings.HasPrefix(last, "user: do it\nassistant: \ntool: [Holdfast: this call waits for a person's approval") {
			t.Errorf("%q", last)
		}
		h.models.play("ok:done")
		if done := h.settled(h.sayIn("room1", "ann", "!approve"), s(5)); done.Text != "Approved:\n• ask" {
			t.Errorf("%q", done.Text)
		}
	})
}

// A visitor is not asked what he may not decide.
func TestVisitorsApproveNothing(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p); p.PublicTools = []string{"box"} }, func(h *house) {
		h.models.play("call:ask", "ok:done")
		if done := h.settled(h.say(CodePerson+"alice", "do it"), s(5)); done.Text != "done" || len(tools["ask"].calls()) != 0 {
			t.Errorf("%+v", done)
		}
		all := h.bodies()
		if !strings.Contains(all[len(all)-1], notPossible) {
			t.Errorf("%q", all[len(all)-1])
		}
	})
}

// What people are asked is in words, does no harm, and says what of it is not shown.
func TestCallsInWords(t *testing.T) {
	e := &Engine{Parts: Parts{PublicURL: "http://x/"}}
	calls := []askedCall{
		{Name: "mail_send", Title: "Send mail", Arguments: []byte(`{"to":"<!channel> @everyone","n":[1,"<b>"]}`)},
		{Name: "mail_send", Arguments: []byte(`{"text":"` + strings.Repeat("x", 700) + `"}`)},
	}
	want := "• Send mail: n ［1,\"‹b›\"］, to “‹!channel› @\u200beveryone”\n• mail_send: text “" + strings.Repeat("x", 594) + " … (107 characters not shown here)\nAll of it: http://x/turns/" + store.ID(1).String()
	if got := e.inWords(store.ID(1), calls); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What a tool says of its call is shown while it runs, and pages are told of it at most once a second.
func TestProgressIsTold(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
		tools["look"].took = s(5)
		h.models.play("call:look", "ok:done")
		id := h.say("ann", "do it")
		h.wait(s(1))
		calls, _, err := h.engine.CallsOf(h.turn(id))
		if err != nil || len(calls) != 1 || calls[0].State != "running" || calls[0].Progress != "half done" {
			t.Fatalf("%+v, %v", calls, err)
		}
		e, r := h.engine, h.engine.runOf(id)
		head := h.store.Head()
		for i := range 50 {
			e.progress(r, calls[0].Key, fmt.Sprint("step ", i))
			h.wait(s(0.05))
		}
		if n := h.store.Head() - head; n < 2 || n > 4 {
			t.Errorf("told %d times in 2.5 s", n)
		}
		h.settled(id, s(5))
		if left := e.Progress(id); len(left) != 0 {
			t.Errorf("%v", left)
		}
	})
}
