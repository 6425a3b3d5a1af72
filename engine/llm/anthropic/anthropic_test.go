package anthropic

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"holdfast/engine/llm"
	"holdfast/engine/llm/llmtest"
)

func TestConformance(t *testing.T) {
	llmtest.Run(t, llmtest.Wire{
		New:   New,
		Path:  "/v1/messages",
		Names: []string{"anthropic-messages"},
		Text:  llmtest.MessagesLines,
		Last:  1, // the empty line after message_stop
		Call:  llmtest.MessagesCallLines,
		Whole: `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"all at once"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":7}}`,
		Error: `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
	})
}

func prepared(t *testing.T, r llm.Request) string {
	t.Helper()
	c := llm.Default()
	c.BaseURL = "http://x.test"
	p, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(s.Body)
}

// T8: what Prepare writes, to the byte.
func TestPrepare(t *testing.T) {
	const cache = `"cache_control":{"type":"ephemeral"}`
	want := `{"max_tokens":1000,"messages":[{"role":"user","content":[{"type":"text","text":"What time is it in \u003cKöln\u003e \u0026 \"Rome\"?"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"call_1","name":"clock","input":{"city":"Rome"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"12:00"},{"type":"text","text":"And now?",` + cache + `}]}],` +
		`"model":"m-1","stream":true,"system":[{"type":"text","text":"You are kind.",` + cache + `}],"temperature":0.5,` +
		`"tools":[{"name":"clock","description":"Tells the time.","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}],"top_p":0.9}`
	if got := prepared(t, llmtest.Example()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := prepared(t, llm.Request{Model: "m", Messages: []llm.Message{{Role: "user", Text: "hi"}}}); !strings.Contains(got, `"max_tokens":8192`) || strings.Contains(got, "system") {
		t.Errorf("got %s", got)
	}
}

// The wire refuses empty texts, two messages of one side in a row, results after words, a first word
// of the assistant, foreign ids, and input that is no object.
func TestLayout(t *testing.T) {
	got := prepared(t, llm.Request{Model: "m", Messages: []llm.Message{
		{Role: "system", Text: "A"}, {Role: "system", Text: "B"},
		{Role: "assistant", Text: "hello"},
		{Role: "user", Text: ""}, {Role: "user", Text: "one"}, {Role: "user", Text: "two "},
		{Role: "assistant", Calls: []llm.Call{{ID: "functions.f:0", Name: "f", Arguments: json.RawMessage(`"a=1"`)}, {ID: "b", Name: "g"}}},
		{Role: "user", Text: "meanwhile"},
		{Role: "tool", CallID: "functions.f:0", Text: "x"}, {Role: "tool", CallID: "b", Text: ""},
		{Role: "system", Text: "be brief"},
	}})
	_, got, _ = strings.Cut(got, `"messages":`)
	want := `[{"role":"user","content":[{"type":"text","text":"(What was said before is left out.)"}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]},` +
		`{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"functions_f_0","name":"f","input":{"text":"a=1"}},{"type":"tool_use","id":"b","name":"g","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_f_0","content":"x"},{"type":"tool_result","tool_use_id":"b"},` +
		`{"type":"text","text":"meanwhile"},{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}]}],` +
		`"model":"m","stream":true,"system":[{"type":"text","text":"A"},{"type":"text","text":"B","cache_control":{"type":"ephemeral"}}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// T8: a retry with its note at the end has the same bytes up to the end of what will stay, and the
// cache mark stands there.
func TestPrefixIsStable(t *testing.T) {
	ask := func(text string) string {
		return prepared(t, llm.Request{Model: "m", Messages: []llm.Message{{Role: "system", Text: "S"}, {Role: "user", Text: text}}})
	}
	plain, noted := ask("question"), ask("question\n\n[Holdfast: a further try.]")
	_, plain, _ = strings.Cut(plain, `"messages":`)
	_, noted, _ = strings.Cut(noted, `"messages":`)
	same, _, ok := strings.Cut(plain, `}]}]`)
	if !ok || !strings.HasPrefix(noted, same) || !strings.HasSuffix(same, `"cache_control":{"type":"ephemeral"}`) {
		t.Errorf("%s\n%s", plain, noted)
	}
	if !strings.Contains(noted, `{"type":"text","text":"[Holdfast: a further try.]"}`) {
		t.Error(noted)
	}
}

func say(name, rest string) string {
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + rest + "}\n"
}

func TestStreams(t *testing.T) {
	start := say("content_block_start", `,"index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}`)
	stop := func(reason string) []string {
		return []string{say("message_delta", `,"delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":3}`), say("message_stop", "")}
	}
	for name, c := range map[string]struct {
		lines  []string
		text   string
		call   string
		reason string
		class  llm.Class
	}{
		"thinking is not said":       {append([]string{say("content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}`), say("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"a"}`)}, stop("end_turn")...), "a", "", "stop", ""},
		"length":                     {append([]string{say("content_block_delta", `,"delta":{"type":"text_delta","text":"a"}`)}, stop("max_tokens")...), "a", "", "length", ""},
		"context window":             {stop("model_context_window_exceeded"), "", "", "length", ""},
		"call without arguments":     {append([]string{start}, stop("tool_use")...), "", "f {}", "tool_calls", ""},
		"call at once":               {append([]string{say("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}`)}, stop("tool_use")...), "", `f {"a":1}`, "tool_calls", ""},
		"call cut at its length":     {append([]string{start, say("content_block_delta", `,"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}`)}, stop("max_tokens")...), "", "", "length", ""},
		"unknown events":             {append([]string{say("something_new", `,"x":1`)}, stop("end_turn")...), "", "", "stop", ""},
		"refusal":                    {append([]string{say("content_block_delta", `,"delta":{"type":"text_delta","text":"a"}`)}, stop("refusal")...), "a", "", "", llm.Refused},
		"reason but no message_stop": {stop("end_turn")[:1], "", "", "", llm.Network},
		"error after the reason":     {[]string{stop("end_turn")[0], say("error", `,"error":{"type":"api_error","message":"Internal server error"}`)}, "", "", "", llm.Server},
		"garbled":                    {[]string{"event: content_block_delta\ndata: {\"type\":\n"}, "", "", "", llm.Network},
		"whole refusal":              {[]string{`{"type":"message","content":[],"stop_reason":"refusal"}`}, "", "", "", llm.Refused},
		"whole call":                 {[]string{`{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}],"stop_reason":"tool_use"}`}, "a", `f {"a":1}`, "tool_calls", ""},
		"an answer of another wire":  {[]string{`{"choices":[{"message":{"content":"a"}}]}`}, "", "", "", llm.Unclassified},
		"limits of the account":      {[]string{say("error", `,"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}`)}, "", "", "", llm.Quota},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.NewServer(t)
				s.Script(llmtest.Stream(append(c.lines, ""), "eof"))
				p, err := New(s.Config(), s.Transport())
				if err != nil {
					t.Fatal(err)
				}
				ready, err := p.Prepare(llmtest.Example())
				if err != nil {
					t.Fatal(err)
				}
				h := llmtest.Listen(t.Context(), p, ready)
				if c.class != "" {
					if f := h.Failure(); f == nil || f.Class != c.class || h.Text != c.text || len(h.Calls) > 0 {
						t.Errorf("%+v, want %s; text %q", f, c.class, h.Text)
					}
					return
				}
				call := ""
				for _, k := range h.Calls {
					call += k.Name + " " + string(k.Arguments)
				}
				if h.Err != nil || h.Text != c.text || call != c.call || h.Finish == nil || h.Finish.Reason != c.reason {
					t.Errorf("%+v", h)
				}
				if r := s.Requests()[0]; r.Header.Get("X-Api-Key") != s.Config().APIKey || r.Header.Get("Anthropic-Version") != version || r.Header.Get("Authorization") != "" {
					t.Errorf("headers %v", r.Header)
				}
			})
		})
	}
}
