package engine

import (
	"context"
	"encoding/json"
	"slices"

	"holdfast/engine/llm"
	"holdfast/store"
)

// replyStep is the journal's line of a model reply that did not end its turn: it made tool calls,
// or a message joined before it could be settled.
type replyStep struct {
	Text  string     `json:"text,omitzero"`
	Calls []llm.Call `json:"calls,omitempty"`
}

// resultStep is the journal's line of a finished tool call.
type resultStep struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitzero"`
}

// noteStep is the journal's line of a failure that ended a run's tries: one for the whole window of
// re-arms, whichever way the sends failed (R8).
type noteStep struct {
	Class string `json:"class"`
	Text  string `json:"text"`
}

// failureNote is the line to be journaled with a failure, nil if the window has one of its kind: a
// completed step, or another kind of failure, writes its own.
func (e *Engine) failureNote(t *store.Turn, class, text string) *store.Step {
	steps, err := e.Store.Steps(t.ID)
	if err != nil {
		e.Log.Error("read the journal", "turn", t.ID.String(), "err", err)
		return nil
	}
	if n := len(steps); n > 0 && steps[n-1].Kind == "note" {
		var last noteStep
		if json.Unmarshal(steps[n-1].Body, &last) == nil && noteKind(last.Class) == noteKind(class) {
			return nil
		}
	}
	return line("note", e.now(), noteStep{class, text})
}

// noteKind is what counts as one kind of failure: everything transient is one outage.
func noteKind(class string) string {
	switch class {
	case "rate_limit", "overloaded", "timeout", "server", "network":
		return "outage"
	}
	return class
}

// step adds one line of the journal to a context. A line that cannot be read is left out: it was
// written by a newer version, and the turn can go on without it.
func (p *prompted) step(s store.Step) {
	switch s.Kind {
	case "reply":
		var b replyStep
		if json.Unmarshal(s.Body, &b) != nil {
			return
		}
		if len(b.Calls) == 0 {
			p.say("assistant", b.Text)
			return
		}
		p.messages = append(p.messages, llm.Message{Role: "assistant", Text: b.Text, Calls: b.Calls})
	case "note":
		var b noteStep
		if json.Unmarshal(s.Body, &b) == nil {
			p.say("user", "[Holdfast: an answer to this failed: "+b.Text+".]")
		}
	case "resulted":
		var b resultStep
		if json.Unmarshal(s.Body, &b) != nil {
			return
		}
		p.messages = append(p.messages, llm.Message{Role: "tool", Text: b.Text, CallID: b.CallID})
	}
}

// openCalls are the tool calls of a journal that have no result yet, in order.
func openCalls(steps []store.Step) []llm.Call {
	var open []llm.Call
	for _, s := range steps {
		var made replyStep
		var result resultStep
		switch {
		case s.Kind == "reply" && json.Unmarshal(s.Body, &made) == nil:
			open = append(open, made.Calls...)
		case s.Kind == "resulted" && json.Unmarshal(s.Body, &result) == nil:
			open = slices.DeleteFunc(open, func(c llm.Call) bool { return c.ID == result.CallID })
		}
	}
	return open
}

// answerCalls journals a result for every call that has none, since a model cannot go on without: no
// bot has tools yet, so it is that there is no such tool.
func (e *Engine) answerCalls(ctx context.Context, r *run, t *store.Turn) (verdict, bool) {
	steps, err := e.Store.Steps(t.ID)
	if err != nil {
		return e.trouble(ctx, r, "read the journal", err), false
	}
	for _, c := range openCalls(steps) {
		result := resultStep{CallID: c.ID, Name: c.Name, Text: "there is no tool of this name", Failed: true}
		if v, goOn := e.write(ctx, r, t, store.Told{Step: line("resulted", e.now(), result)}); !goOn {
			return v, false
		}
	}
	return over, true
}

// line makes a journal line.
func line(kind string, at store.Time, body any) *store.Step {
	b, err := json.Marshal(body)
	if err != nil {
		b = []byte("{}") // of plain strings and bytes: cannot happen
	}
	return &store.Step{Kind: kind, At: at, Body: b}
}
