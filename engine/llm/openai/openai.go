// Package openai speaks the chat completions wire of OpenAI, which most services and local servers
// have taken over.
//
//	POST BASE/chat/completions   {"model", "messages", "tools", "stream": true, "stream_options"}
//	◀── data: {"choices":[{"delta":{"content":"…"}}]}     text, and tool calls in pieces
//	◀── data: {"choices":[{"finish_reason":"stop"}]}      the terminal event
//	◀── data: {"choices":[],"usage":{…}}                  if the server has it
//	◀── data: [DONE]
//
// Dialects are read kindly: an answer in one piece from a server that ignores "stream", content as a
// list of parts, calls without index or id, a stream that ends without [DONE].
package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"holdfast/engine/llm"
)

// provider is one service.
type provider struct {
	client  *llm.Client
	mistral bool // Mistral's dialect: no stream_options, ids of calls of exactly nine letters and digits
}

// New makes the provider of a valid section. A nil transport means one of its own; tests bring
// theirs.
func New(c llm.Config, transport *http.Transport) (llm.Provider, error) {
	auth := map[string]string{}
	if c.APIKey != "" {
		auth["Authorization"] = "Bearer " + c.APIKey
	}
	client, err := llm.NewClient(c, auth, transport)
	if err != nil {
		return nil, fmt.Errorf("openai wire: %w", err)
	}
	return &provider{client: client, mistral: isMistral(c.BaseURL)}, nil
}

// isMistral knows the one service that refuses stream_options (422, "extra inputs are not permitted";
// it tells the usage without being asked) and foreign ids of calls. For another server that refuses
// stream_options the bot's params say stream_options = false.
func isMistral(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Hostname() == "api.mistral.ai"
}

// Prepare fixes the bytes: the same request always gives the same ones, since encoding/json writes
// the keys of a map in order. The bot's params go over everything but model and messages; one that
// is false where the wire has an object (stream_options) leaves it out.
func (p *provider) Prepare(r llm.Request) (llm.Prepared, error) {
	body := map[string]any{"stream": true}
	if !p.mistral {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	if len(r.Tools) > 0 {
		body["tools"] = tools(r.Tools)
	}
	maps.Copy(body, r.Params)
	if body["stream_options"] == false {
		delete(body, "stream_options")
	}
	body["model"] = r.Model
	body["messages"] = p.messages(r.Messages)
	b, err := json.Marshal(body)
	if err != nil {
		return llm.Prepared{}, fmt.Errorf("write the request for %s: %w", r.Model, err)
	}
	return llm.Prepared{Model: r.Model, Body: b}, nil
}

// Stream sends it once.
func (p *provider) Stream(ctx context.Context, s llm.Prepared) iter.Seq2[llm.Event, error] {
	return p.client.Send(ctx, "/chat/completions", s.Body, &answer{})
}

type wireMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"` // null only beside tool calls
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireTool struct {
	Type     string   `json:"type"`
	Function toolSpec `json:"function"`
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (p *provider) messages(in []llm.Message) []wireMessage {
	out := make([]wireMessage, 0, len(in))
	for _, m := range in {
		w := wireMessage{Role: m.Role, ToolCallID: p.callID(m.CallID)}
		if m.Text != "" || len(m.Calls) == 0 {
			w.Content = &m.Text
		}
		for _, c := range m.Calls {
			w.ToolCalls = append(w.ToolCalls, wireCall{ID: p.callID(c.ID), Type: "function",
				Function: wireFunction{Name: c.Name, Arguments: argumentText(c.Arguments)}})
		}
		out = append(out, w)
	}
	return out
}

// callID is an id as the service takes it; another one in the chain may have made it. The same id
// always becomes the same.
func (p *provider) callID(id string) string {
	foreign := strings.ContainsFunc(id, func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if id == "" || len(id) <= 40 && !p.mistral || len(id) == 9 && !foreign {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

// argumentText is what the model wrote: a JSON string holds text that was no JSON (see llm.Call).
func argumentText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 {
		return "{}"
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func tools(in []llm.Tool) []wireTool {
	out := make([]wireTool, 0, len(in))
	for _, t := range in {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, wireTool{Type: "function",
			Function: toolSpec{Name: t.Name, Description: strings.TrimSpace(t.Description), Parameters: schema}})
	}
	return out
}
