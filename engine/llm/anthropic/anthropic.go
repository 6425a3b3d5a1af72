// Package anthropic speaks the messages wire of Anthropic.
//
//	POST BASE/v1/messages   {"model", "max_tokens", "system", "messages", "tools", "stream": true}
//	◀── event: message_start         usage of the question
//	◀── event: content_block_…       text, and tool calls in pieces
//	◀── event: message_delta         stop_reason, usage of the answer
//	◀── event: message_stop          the terminal event
//	◀── event: ping, event: error    at any time
//
// The parts of a prompt that stay the same from call to call come first and carry cache marks: one
// behind tools and instructions, one behind the last message that will be there next time too.
package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"strings"

	"holdfast/engine/llm"
)

// The wire has no default of its own for max_tokens; this much every current model can write.
const defaultMaxTokens = 8192

// version is the wire's, https://docs.anthropic.com/en/api/versioning.
const version = "2023-06-01"

// provider is one service.
type provider struct{ client *llm.Client }

// New makes the provider of a valid section. A nil transport means one of its own; tests bring
// theirs.
func New(c llm.Config, transport *http.Transport) (llm.Provider, error) {
	auth := map[string]string{"Anthropic-Version": version}
	if c.APIKey != "" {
		auth["X-Api-Key"] = c.APIKey
	}
	client, err := llm.NewClient(c, auth, transport)
	if err != nil {
		return nil, fmt.Errorf("anthropic wire: %w", err)
	}
	return &provider{client: client}, nil
}

// Prepare fixes the bytes: the same request always gives the same ones, since encoding/json writes
// the keys of a map in order. The bot's params go over everything but model, system and messages.
func (p *provider) Prepare(r llm.Request) (llm.Prepared, error) {
	body := map[string]any{"stream": true, "max_tokens": defaultMaxTokens}
	if len(r.Tools) > 0 {
		body["tools"] = tools(r.Tools)
	}
	maps.Copy(body, r.Params)
	body["model"] = r.Model
	system, messages := layOut(r.Messages)
	if len(system) > 0 {
		system[len(system)-1].Cache = mark()
		body["system"] = system
	}
	body["messages"] = messages
	b, err := json.Marshal(body)
	if err != nil {
		return llm.Prepared{}, fmt.Errorf("write the request for %s: %w", r.Model, err)
	}
	return llm.Prepared{Model: r.Model, Body: b}, nil
}

// Stream sends it once.
func (p *provider) Stream(ctx context.Context, s llm.Prepared) iter.Seq2[llm.Event, error] {
	return p.client.Send(ctx, "/v1/messages", s.Body, &answer{})
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func tools(in []llm.Tool) []wireTool {
	out := make([]wireTool, 0, len(in))
	for _, t := range in {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, wireTool{Name: t.Name, Description: strings.TrimSpace(t.Description), InputSchema: schema})
	}
	return out
}
