package openai

import (
	"crypto/rand"
	"encoding/json"
	"strings"

	"holdfast/engine/llm"
)

// answer reads one answer; it is the wire's llm.Parser.
type answer struct {
	calls  []*call
	text   bool   // text has come
	finish string // the wire's finish_reason
	refuse bool   // the model has declined in the field made for it
	usage  usage
}

// call is a tool call in the making.
type call struct {
	index     int
	id, name  string
	arguments strings.Builder
}

type chunk struct {
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	XGroq   struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      delta  `json:"message"` // an answer in one piece
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content   content     `json:"content"`
	Refusal   string      `json:"refusal"`
	ToolCalls []callPiece `json:"tool_calls"`
}

type callPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
}

// content is text: a string, null, or a list of parts of which only text counts.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(b, &parts) == nil {
		for _, p := range parts {
			if p.Type == "text" || p.Type == "output_text" {
				*c += content(p.Text)
			}
		}
	}
	return nil
}

// arguments are text, though some servers send the object itself.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*a = arguments(text)
	} else {
		*a = arguments(b)
	}
	return nil
}

// Event reads one chunk.
func (a *answer) Event(_, data string) ([]llm.Event, llm.Progress) {
	data = strings.TrimSpace(data)
	if data == "[DONE]" {
		return nil, a.end()
	}
	if !strings.HasPrefix(data, "{") {
		return nil, a.progress() // a keep-alive in words
	}
	var c chunk
	if json.Unmarshal([]byte(data), &c) != nil {
		return nil, llm.Failed // a cut or garbled chunk: what it held is lost
	}
	return a.read(c)
}

// Whole reads an answer in one piece.
func (a *answer) Whole(body []byte) ([]llm.Event, llm.Progress) {
	var c chunk
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 {
		return nil, llm.Failed
	}
	if c.Choices[0].FinishReason == "" {
		c.Choices[0].FinishReason = "stop"
	}
	for i := range c.Choices {
		c.Choices[i].Delta = c.Choices[i].Message
	}
	events, at := a.read(c)
	if at == llm.Failed {
		return nil, at
	}
	return events, llm.Done
}

// read takes the first choice; we never ask for more.
func (a *answer) read(c chunk) (events []llm.Event, at llm.Progress) {
	if c.Usage == nil {
		c.Usage = c.XGroq.Usage
	}
	if c.Usage != nil {
		a.usage = *c.Usage
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue
		}
		a.refuse = a.refuse || ch.Delta.Refusal != ""
		if ch.Delta.Content != "" {
			a.text = true
			events = append(events, llm.Event{Text: string(ch.Delta.Content)})
		}
		for i, piece := range ch.Delta.ToolCalls {
			a.piece(piece, i)
		}
		if ch.FinishReason != "" && ch.FinishReason != "null" {
			a.finish = ch.FinishReason
		}
	}
	return events, a.progress()
}

// piece adds to the call it belongs to. Without an index a piece with a name is a call of its own
// and any other goes on with the last; a new id at a known index begins a new call, since some
// servers count every call 0.
func (a *answer) piece(p callPiece, at int) {
	var c *call
	if p.Index != nil {
		at = *p.Index
		for _, known := range a.calls {
			if known.index == at {
				c = known
			}
		}
		if c != nil && p.ID != "" && c.id != "" && p.ID != c.id && p.Function.Name != "" {
			c = nil
		}
	} else if p.Function.Name == "" && len(a.calls) > 0 {
		c = a.calls[len(a.calls)-1]
	}
	if c == nil {
		c = &call{index: at}
		a.calls = append(a.calls, c)
	}
	if p.ID != "" {
		c.id = p.ID
	}
	if p.Function.Name != c.name {
		c.name += p.Function.Name
	}
	c.arguments.WriteString(string(p.Function.Arguments))
}

// progress is where the answer stands; reasons that are failures are left to llm.Classify.
func (a *answer) progress() llm.Progress {
	switch {
	case a.finish == "":
		return llm.More
	case llm.BadFinish(a.finish), a.refuse && !a.text && len(a.calls) == 0:
		return llm.Failed
	}
	return llm.Complete
}

// end is what [DONE] makes of it: an answer without a reason is taken if it has anything in it.
func (a *answer) end() llm.Progress {
	if a.finish == "" && !a.text && len(a.calls) == 0 {
		return llm.Failed
	}
	return llm.Done
}

// End gives the calls and the Finish. An answer cut at its length loses a call whose arguments are
// not whole.
func (a *answer) End() []llm.Event {
	var events []llm.Event
	cut := strings.Contains(strings.ToLower(a.finish), "length") || strings.EqualFold(a.finish, "max_tokens")
	for _, c := range a.calls {
		text := c.arguments.String()
		if c.name == "" || cut && !json.Valid([]byte(text)) {
			continue
		}
		if c.id == "" {
			c.id = rand.Text()[:9] // some services take ids of exactly nine letters and digits
		}
		events = append(events, llm.Event{Call: &llm.Call{ID: c.id, Name: c.name, Arguments: llm.Arguments(text)}})
	}
	f := &llm.Finish{Reason: "stop", TokensIn: a.usage.PromptTokens, TokensOut: a.usage.CompletionTokens}
	switch {
	case len(events) > 0:
		f.Reason = "tool_calls"
	case cut:
		f.Reason = "length"
	}
	return append(events, llm.Event{Finish: f})
}
