package anthropic

import (
	"encoding/json"
	"strings"

	"holdfast/engine/llm"
)

// answer reads one answer; it is the wire's llm.Parser.
type answer struct {
	calls  []*call
	reason string // the wire's stop_reason
	in     int64
	out    int64
}

// call is a tool call in the making.
type call struct {
	index     int
	id, name  string
	input     json.RawMessage // given at once
	arguments strings.Builder // … or in pieces
}

type event struct {
	Type    string  `json:"type"`
	Index   int     `json:"index"`
	Message message `json:"message"`
	Block   piece   `json:"content_block"`
	Delta   struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

type message struct {
	Type       string  `json:"type"`
	Content    []piece `json:"content"`
	StopReason string  `json:"stop_reason"`
	Usage      usage   `json:"usage"`
}

type piece struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// usage counts tokens; what was read from or written to the cache is not in input_tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// Event reads one event. Kinds that are not known, ping among them, say nothing.
func (a *answer) Event(_, data string) (events []llm.Event, at llm.Progress) {
	data = strings.TrimSpace(data)
	if !strings.HasPrefix(data, "{") {
		return nil, llm.More
	}
	var e event
	if json.Unmarshal([]byte(data), &e) != nil {
		return nil, llm.Failed // a cut or garbled event: what it held is lost
	}
	switch e.Type {
	case "message_start":
		a.count(e.Message.Usage)
	case "content_block_start":
		return a.begin(e.Index, e.Block), llm.More
	case "content_block_delta":
		if c := a.at(e.Index); c != nil && e.Delta.Type == "input_json_delta" {
			c.arguments.WriteString(e.Delta.PartialJSON)
		}
		if e.Delta.Type == "text_delta" && e.Delta.Text != "" {
			return []llm.Event{{Text: e.Delta.Text}}, llm.More
		}
	case "message_delta":
		a.count(e.Usage)
		if e.Delta.StopReason != "" {
			a.reason = e.Delta.StopReason
		}
	case "message_stop":
		if llm.BadFinish(a.reason) {
			return nil, llm.Failed
		}
		return nil, llm.Done
	}
	return nil, llm.More
}

// Whole reads an answer in one piece.
func (a *answer) Whole(body []byte) (events []llm.Event, at llm.Progress) {
	var m message
	if json.Unmarshal(body, &m) != nil || m.Type != "message" || llm.BadFinish(m.StopReason) {
		return nil, llm.Failed
	}
	for i, b := range m.Content {
		events = append(events, a.begin(i, b)...)
	}
	a.reason = m.StopReason
	a.count(m.Usage)
	return events, llm.Done
}

// begin takes a block that begins, which may hold all of itself at once.
func (a *answer) begin(index int, b piece) []llm.Event {
	switch {
	case b.Type == "tool_use":
		a.calls = append(a.calls, &call{index: index, id: b.ID, name: b.Name, input: b.Input})
	case b.Type == "text" && b.Text != "":
		return []llm.Event{{Text: b.Text}}
	}
	return nil
}

// at is the call of a block, nil if it is none.
func (a *answer) at(index int) *call {
	for _, c := range a.calls {
		if c.index == index {
			return c
		}
	}
	return nil
}

// count keeps the latest figures; the answer's grow while it streams.
func (a *answer) count(u usage) {
	if in := u.Input + u.CacheWrite + u.CacheRead; in > 0 {
		a.in = in
	}
	if u.Output > 0 {
		a.out = u.Output
	}
}

// End gives the calls and the Finish. An answer cut at its length loses a call whose arguments are
// not whole.
func (a *answer) End() []llm.Event {
	var events []llm.Event
	cut := a.reason == "max_tokens" || a.reason == "model_context_window_exceeded"
	for _, c := range a.calls {
		text := c.arguments.String()
		if text == "" {
			text = string(c.input)
		}
		if cut && !json.Valid([]byte(text)) {
			continue
		}
		events = append(events, llm.Event{Call: &llm.Call{ID: c.id, Name: c.name, Arguments: llm.Arguments(text)}})
	}
	f := &llm.Finish{Reason: "stop", TokensIn: a.in, TokensOut: a.out}
	switch {
	case len(events) > 0:
		f.Reason = "tool_calls"
	case cut:
		f.Reason = "length"
	}
	return append(events, llm.Event{Finish: f})
}
