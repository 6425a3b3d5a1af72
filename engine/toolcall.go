package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"holdfast/engine/tool"
	"holdfast/store"
)

// makeCall makes one call; false if the run was cut off meanwhile, which says nothing about the call.
func (e *Engine) makeCall(ctx context.Context, j *jobs, x job, by tool.Caller) (resultStep, bool) {
	begin := time.Now()
	call := tool.Call{Key: x.call.key, Arguments: x.call.Arguments, By: by, Progress: func(text string) { e.progress(j.run, x.call.key, text) }}
	defer e.progress(j.run, x.call.key, "")
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return resultStep{}, false
		}
		result, err := e.callOnce(ctx, x, call)
		ms := time.Since(begin).Milliseconds()
		switch {
		case err == nil:
			e.Log.Info("tool called", "tool", x.call.Name, "ms", ms, "failed", result.Failed, "turn", by.Turn)
			return resultStep{Text: tool.Cut(result.Text, tool.MaxResult), Failed: result.Failed, MS: ms}, true
		case ctx.Err() != nil:
			return resultStep{}, false
		}
		e.Log.Warn("tool broke down", "tool", x.call.Name, "ms", ms, "err", err, "turn", by.Turn)
		sure := errors.Is(err, tool.ErrNotMade)
		switch {
		case (sure || x.spec.Repeatable()) && try < repeats && !errors.Is(err, context.DeadlineExceeded):
		case sure || x.spec.Repeatable():
			return resultStep{Text: "the tool does not work now: " + err.Error(), Failed: true, MS: ms}, true
		default:
			result := unknownResult()
			result.MS = ms
			return result, true
		}
		select {
		case <-ctx.Done():
			return resultStep{}, false
		case <-time.After(time.Second << try):
		}
	}
}

// callOnce gives a call its time; a panic in a tool is an error of that tool.
func (e *Engine) callOnce(ctx context.Context, x job, call tool.Call) (result tool.Result, err error) {
	limit := x.spec.Timeout
	if limit <= 0 {
		limit = tool.DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it has not ended within %s: %w", limit, context.DeadlineExceeded))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			e.Log.Error("tool panicked", "tool", x.call.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("it broke down inside")
		}
	}()
	result, err = x.tool.Call(ctx, call)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return result, err
}

// progressEvery is how often at most pages are told anew of what the tools of a turn say.
const progressEvery = time.Second

// progress keeps what a tool says of a call under way, for who looks, and lets pages know; "" = nothing more.
func (e *Engine) progress(r *run, key, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text == "" {
		delete(r.progress, key)
		return
	}
	if r.progress == nil {
		r.progress = map[string]string{}
	}
	text, _ = harmless(text, 200)
	if r.progress[key] == text || time.Since(r.told) < progressEvery {
		r.progress[key] = text
		return
	}
	r.progress[key], r.told = text, time.Now()
	e.runs.Go(func() {
		if err := e.Store.Touch(r.turn, e.now()); err != nil {
			e.Log.Debug("what a tool says could not be told", "turn", r.turn.String(), "err", err)
		}
	})
}

// Progress is what the tools of a turn say of their calls under way, by the calls' keys.
func (e *Engine) Progress(turn store.ID) map[string]string {
	r := e.runOf(turn)
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.progress)
}

// spentNow is the running time of a run so far, against turn_deadline.
func (r *run) spentNow() time.Duration {
	if r.driven.IsZero() {
		return r.spent
	}
	return r.spent + time.Since(r.driven)
}

// validArguments reports whether a model's arguments are an object at all, or null, which is one without
// members; the tool judges the rest.
func validArguments(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil
}
