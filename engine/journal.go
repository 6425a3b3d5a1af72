package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/store"
)

// replyStep is the journal's line of a model reply that did not end its turn: it made tool calls,
// or a message joined before it could be settled.
type replyStep struct {
	Text  string     `json:"text,omitzero"`
	Calls []llm.Call `json:"calls,omitempty"`
}

// calledStep is the journal's line of a tool call that is about to be made. It says what may be done
// about it if no result follows, so that a resume needs no tool to decide (P11).
type calledStep struct {
	Key         string `json:"key"` // of the call: TURN-LINE-INDEX, the same for every try
	CallID      string `json:"call_id"`
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	ReadOnly    bool   `json:"read_only,omitzero"`
	Idempotent  bool   `json:"idempotent,omitzero"`
	Destructive bool   `json:"destructive,omitzero"`
}

// decidedStep is the journal's line of a person's word on calls.
type decidedStep struct {
	Keys  []string `json:"keys,omitempty"`
	All   bool     `json:"all,omitzero"` // instead: all calls so far
	Allow bool     `json:"allow"`
	By    string   `json:"by,omitzero"` // "" = an operator
}

// resultStep is the journal's line of a finished tool call.
type resultStep struct {
	Key     string `json:"key,omitzero"`
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	Failed  bool   `json:"failed,omitzero"`
	Unknown bool   `json:"unknown,omitzero"` // whether it has happened
	Denied  bool   `json:"denied,omitzero"`
	MS      int64  `json:"ms,omitzero"`
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
		for _, c := range b.Calls {
			p.open = append(p.open, c.ID)
		}
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
		p.result(b.CallID, b.Text)
	}
}

// toolCall is a call of a journal, with all that is known of it.
type toolCall struct {
	llm.Call
	key     string
	called  *calledStep  // nil: not made yet
	decided *decidedStep // nil: nobody has said a word
	result  *resultStep  // nil: none is known
	at      store.Time   // when it was called, before that when the model wanted it
}

// toolCalls reads the calls of a journal in order. Lines that cannot be read are passed over, as in a context.
func toolCalls(turn store.ID, steps []store.Step) (list []*toolCall) {
	for _, s := range steps {
		switch s.Kind {
		case "reply":
			var b replyStep
			_ = json.Unmarshal(s.Body, &b)
			for i, c := range b.Calls {
				list = append(list, &toolCall{Call: c, key: fmt.Sprintf("%s-%d-%d", turn, s.N, i), at: s.At})
			}
		case "called":
			var b calledStep
			if json.Unmarshal(s.Body, &b) == nil {
				if c := callOf(list, b.Key, b.CallID); c != nil {
					c.called, c.at = &b, s.At
				}
			}
		case "decided":
			var b decidedStep
			_ = json.Unmarshal(s.Body, &b)
			for _, c := range list {
				if b.All {
					c.decided = &b
				}
			}
			for _, key := range b.Keys {
				if c := callOf(list, key, ""); c != nil {
					c.decided = &b
				}
			}
		case "resulted":
			var b resultStep
			if json.Unmarshal(s.Body, &b) == nil {
				if c := callOf(list, b.Key, b.CallID); c != nil {
					c.result = &b
				}
			}
		}
	}
	return list
}

// callOf finds a call by its key, or one of an older journal by its id: the first without a result.
func callOf(list []*toolCall, key, id string) *toolCall {
	for _, c := range list {
		if key != "" && c.key == key || key == "" && c.ID == id && c.result == nil {
			return c
		}
	}
	return nil
}

// openCalls are the calls of a journal that have no result yet.
func openCalls(list []*toolCall) []*toolCall {
	return slices.DeleteFunc(slices.Clone(list), func(c *toolCall) bool { return c.result != nil })
}

// doubtful reports whether it is not known of an earlier call of this tool whether it has happened:
// then the model does not make it again without a person's word.
func doubtful(list []*toolCall, name string) bool {
	return slices.ContainsFunc(list, func(c *toolCall) bool { return c.Name == name && c.result != nil && c.result.Unknown })
}

// asCalled is the line that a call gets before it is made.
func (c *toolCall) asCalled(s tool.Spec) calledStep {
	return calledStep{Key: c.key, CallID: c.ID, Name: c.Name, Title: s.Title, ReadOnly: s.ReadOnly, Idempotent: s.Idempotent, Destructive: s.Destructive}
}

// repeatable reports whether a call that was cut off may be made again.
func (c calledStep) repeatable() bool { return c.ReadOnly || c.Idempotent }

// line makes a journal line.
func line(kind string, at store.Time, body any) *store.Step {
	b, err := json.Marshal(body)
	if err != nil {
		b = []byte("{}") // of plain strings and bytes: cannot happen
	}
	return &store.Step{Kind: kind, At: at, Body: b}
}
