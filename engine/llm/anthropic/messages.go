package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"holdfast/engine/llm"
)

type wireMessage struct {
	Role    string  `json:"role"` // "user" | "assistant", in turns
	Content []block `json:"content"`
}

// block is one piece of a message; the fields of its type are set.
type block struct {
	Type      string          `json:"type"` // "text" | "tool_use" | "tool_result"
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	Cache     *cacheMark      `json:"cache_control,omitempty"`
}

type cacheMark struct {
	Type string `json:"type"`
}

func mark() *cacheMark { return &cacheMark{Type: "ephemeral"} }

// layOut puts a context into the wire's form: instructions apart, one message per side in turns,
// the first the user's, no empty texts (each is refused otherwise). A system message in the middle
// is said by the user.
func layOut(in []llm.Message) (system []block, out []wireMessage) {
	for _, m := range in {
		role := m.Role
		if role == "system" && len(out) == 0 {
			if m.Text != "" {
				system = append(system, block{Type: "text", Text: m.Text})
			}
			continue
		}
		if role != "assistant" {
			role = "user"
		}
		blocks := blocksOf(m)
		if len(blocks) == 0 {
			continue
		}
		if len(out) == 0 && role == "assistant" {
			out = append(out, wireMessage{Role: "user", Content: []block{{Type: "text", Text: "(What was said before is left out.)"}}})
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = join(out[n-1].Content, blocks)
			continue
		}
		out = append(out, wireMessage{Role: role, Content: blocks})
	}
	markStable(out)
	return system, out
}

// blocksOf are the pieces of one message.
func blocksOf(m llm.Message) (blocks []block) {
	if m.Role == "tool" {
		return []block{{Type: "tool_result", ToolUseID: callID(m.CallID), Content: m.Text}}
	}
	text, note := cutNote(m.Text)
	for _, t := range []string{text, note} {
		if t != "" {
			blocks = append(blocks, block{Type: "text", Text: t})
		}
	}
	for _, c := range m.Calls {
		blocks = append(blocks, block{Type: "tool_use", ID: callID(c.ID), Name: c.Name, Input: object(c.Arguments)})
	}
	return blocks
}

// join adds to a message; results of tools must stand before everything else in it.
func join(have, more []block) []block {
	isResult := func(b block) bool { return b.Type == "tool_result" }
	all := append(slices.Clone(have), more...)
	slices.SortStableFunc(all, func(a, b block) int {
		switch {
		case isResult(a) == isResult(b):
			return 0
		case isResult(a):
			return -1
		}
		return 1
	})
	return all
}

// cutNote parts a text from the daemon's note at its end, which is not there the next time.
func cutNote(text string) (stable, note string) {
	const begin = "[Holdfast"
	switch i := strings.LastIndex(text, "\n\n"+begin); {
	case i >= 0:
		return text[:i], text[i+2:]
	case strings.HasPrefix(text, begin):
		return "", text
	}
	return strings.TrimRight(text, " \t\r\n"), ""
}

// markStable sets the cache mark behind the last piece that will be there next time too.
func markStable(messages []wireMessage) {
	for i := len(messages) - 1; i >= 0; i-- {
		for j := len(messages[i].Content) - 1; j >= 0; j-- {
			b := &messages[i].Content[j]
			if b.Type != "text" || !strings.HasPrefix(b.Text, "[Holdfast") {
				b.Cache = mark()
				return
			}
		}
	}
}

// object is a call's arguments as the wire wants them: an object, whatever the model wrote.
func object(raw json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil && m != nil {
		return raw
	}
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	b, err := json.Marshal(map[string]json.RawMessage{"text": raw})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// callID is an id with only the characters the wire takes; another service in the chain may have
// made it.
func callID(id string) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	if id == "" {
		return "call"
	}
	return id
}
