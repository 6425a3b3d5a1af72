package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"holdfast/engine/tool"
	"holdfast/store"
)

// What a model is told of a call that was not made, or of which nothing is known.
const (
	noSuchTool   = "there is no tool of this name"
	notPossible  = "a person would have to approve this call, and nobody can here; it was not made"
	unknownToYou = "[Holdfast: this call was cut off, and whether it has happened is not known. It is not made again by itself. Say so, and do not repeat it unless you are asked to.]"
)

// repeats is how often a call that may be repeated is made again after its tool broke down.
const repeats = 2

// answerCalls gives every call of the journal that has no result one, since a model cannot go on
// without: those that may be made are made side by side, each journaled before and after (P11); for
// the others the turn asks a person and waits.
func (e *Engine) answerCalls(ctx context.Context, r *run, t *store.Turn, bot *Bot) (verdict, bool) {
	steps, err := e.Store.Steps(t.ID)
	if err != nil {
		return e.trouble(ctx, r, "read the journal", err), false
	}
	all := toolCalls(t.ID, steps)
	open := openCalls(all)
	if len(open) == 0 {
		return over, true
	}
	if p := e.pausedFor(t, r.model); p != nil { // a pause holds what acts as well
		return e.waitAtGate(ctx, r, p, t), false
	}
	box := r.toolbox(ctx, e, t, bot)
	var ask []*toolCall
	jobs := jobs{run: r, turn: t}
	for _, c := range open {
		spec, known := box.spec(c.Name)
		approval := spec.NeedsApproval() || doubtful(all, c.Name)
		switch {
		case c.called != nil && !c.called.repeatable():
			jobs.known = append(jobs.known, knownResult{c, unknownResult()})
		case c.called == nil && !validArguments(c.Arguments):
			jobs.known = append(jobs.known, knownResult{c, resultStep{Text: "the arguments are no JSON object", Failed: true}})
		case !known && c.called == nil:
			jobs.known = append(jobs.known, knownResult{c, resultStep{Text: noSuchTool, Failed: true}})
		case !known:
			jobs.known = append(jobs.known, knownResult{c, resultStep{Text: "its tool is not there any more", Failed: true}})
		case c.called != nil || !approval || c.decided != nil && c.decided.Allow:
			jobs.calls = append(jobs.calls, job{c, box.tools[c.Name], spec})
		case c.decided != nil:
			jobs.known = append(jobs.known, knownResult{c, resultStep{Text: deniedText(c.decided.By), Failed: true, Denied: true}})
		case t.Lane == failFast || IsVisitor(t.Person):
			jobs.known = append(jobs.known, knownResult{c, resultStep{Text: notPossible, Failed: true, Denied: true}})
		default:
			ask = append(ask, c)
		}
	}
	if v, goOn := e.carryOutCalls(ctx, &jobs); !goOn {
		return v, false
	}
	if len(ask) > 0 {
		return e.askApproval(ctx, r, t, ask, box), false
	}
	return over, true
}

// toolbox gathers the tools once for a run: a changed list is seen by the next.
func (r *run) toolbox(ctx context.Context, e *Engine, t *store.Turn, bot *Bot) toolbox {
	if r.tools == nil {
		box := e.toolsFor(ctx, t, bot)
		r.tools = &box
	}
	return *r.tools
}

func unknownResult() resultStep {
	return resultStep{Text: unknownToYou, Failed: true, Unknown: true}
}

func deniedText(by string) string {
	if by == "" {
		by = "an operator"
	}
	return "[Holdfast: " + by + " has not allowed this call; it was not made. Do not try it again unless you are asked to.]"
}

// jobs are the calls of a turn that get their results now.
type jobs struct {
	run   *run
	turn  *store.Turn
	known []knownResult
	calls []job // that are made

	mu    sync.Mutex // guards turn while calls are made
	v     verdict    // of the first that could not be journaled
	ended bool
}

type knownResult struct {
	call   *toolCall
	result resultStep
}

type job struct {
	call *toolCall
	tool tool.Tool
	spec tool.Spec
}

// carryOutCalls journals what is known, then makes the rest.
func (e *Engine) carryOutCalls(ctx context.Context, j *jobs) (verdict, bool) {
	for _, x := range j.known {
		if !e.keepResult(ctx, j, x.call, x.result) {
			return j.v, false
		}
	}
	var lines []*store.Step
	for _, x := range j.calls {
		if x.call.called == nil {
			x.call.called = new(x.call.asCalled(x.spec))
			lines = append(lines, line("called", e.now(), x.call.called))
		}
	}
	if len(lines) > 0 {
		if v, goOn := e.write(ctx, j.run, j.turn, store.Told{Calls: lines}); !goOn {
			return v, false
		}
		e.Crash("called")
	}
	if surface, to := e.place(j.turn); surface != nil && len(j.calls) > 0 {
		surface.Working(to, j.turn.ID, true)
	}
	by := e.caller(j.turn)
	var hands sync.WaitGroup
	for _, x := range j.calls {
		hands.Go(func() {
			if result, ok := e.makeCall(ctx, j, x, by); ok {
				e.Crash("acted")
				e.keepResult(ctx, j, x.call, result)
			}
		})
	}
	hands.Wait()
	if ctx.Err() != nil { // stopped, or the process ends: what has no result is looked at by the next run
		return over, false
	}
	return j.v, !j.ended
}

func (e *Engine) caller(t *store.Turn) tool.Caller {
	return tool.Caller{
		Bot: t.Bot, Person: t.Person, Surface: t.Surface, Channel: t.Channel, Thread: t.Thread,
		Conversation: t.Conversation.String(), Turn: t.ID.String(), Visitor: IsVisitor(t.Person),
	}
}

// keepResult journals a result; false if the turn is over or the process ends. What has happened must
// not be forgotten: a store that cannot be written now is tried again until it can.
func (e *Engine) keepResult(ctx context.Context, j *jobs, c *toolCall, result resultStep) bool {
	result.Key, result.CallID, result.Name = c.key, c.ID, c.Name
	tell := store.Told{Step: line("resulted", e.now(), result)}
	j.mu.Lock()
	defer j.mu.Unlock()
	if result.Unknown {
		tell.Ask, tell.Posts = e.askUnknown(j.turn, c)
	}
	for !j.ended {
		moved, err := e.Store.StepTurn(store.Stepped{Turn: j.turn.ID, At: e.now(), Told: tell})
		switch {
		case err == nil:
			e.Crash("stepped")
			e.follow(j.turn, moved)
			e.outbox.posted(tell.Posts...)
			return true
		case errors.Is(err, store.ErrSettled):
			j.v, j.ended = over, true
			return false
		}
		e.Log.Error("a tool's result could not be stored; trying again", "turn", j.turn.ID.String(), "err", err)
		e.storeTrouble(err)
		select {
		case <-ctx.Done():
			j.v, j.ended = over, true
		case <-time.After(time.Second):
		}
	}
	return false
}
