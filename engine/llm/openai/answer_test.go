package openai

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/llm"
	"holdfast/engine/llm/llmtest"
)

func piece(choice string) string { return `data: {"choices":[` + choice + `]}` + "\n" }

// Dialects of the wire, as servers speak them.
func TestDialects(t *testing.T) {
	const stop = `{"index":0,"delta":{},"finish_reason":"stop"}`
	for name, c := range map[string]struct {
		lines  []string
		text   string
		calls  string // NAME ARGUMENTS, one a line
		reason string
		class  llm.Class // "" = answered
	}{
		"no [DONE]":                  {lines: []string{piece(`{"delta":{"content":"a"},"finish_reason":null}`), piece(stop)}, text: "a", reason: "stop"},
		"[DONE] without a reason":    {lines: []string{piece(`{"delta":{"content":"a"}}`), "data: [DONE]\n"}, text: "a", reason: "stop"},
		"content as parts":           {lines: []string{piece(`{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"a"}]}}`), piece(stop)}, text: "a", reason: "stop"},
		"keep-alive in words":        {lines: []string{"data: keepalive\n", piece(`{"delta":{"content":"a"}}`), piece(stop)}, text: "a", reason: "stop"},
		"events with names":          {lines: []string{"event: chunk\n" + piece(`{"delta":{"content":"a"}}`), piece(stop)}, text: "a", reason: "stop"},
		"length":                     {lines: []string{piece(`{"delta":{"content":"a"},"finish_reason":"length"}`)}, text: "a", reason: "length"},
		"mistral length":             {lines: []string{piece(`{"delta":{"content":"a"},"finish_reason":"model_length"}`)}, text: "a", reason: "length"},
		"a second choice":            {lines: []string{piece(`{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}`), piece(stop)}, text: "a", reason: "stop"},
		"whole call in one piece":    {lines: []string{piece(`{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}`)}, calls: `f {"a":1}`, reason: "tool_calls"},
		"calls without index":        {lines: []string{piece(`{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{"}}]}}`), piece(`{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}`), piece(`{"delta":{"tool_calls":[{"id":"2","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}`)}, calls: "f {}\ng {}", reason: "tool_calls"},
		"every call has index 0":     {lines: []string{piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]}}`), piece(`{"delta":{"tool_calls":[{"index":0,"id":"2","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}`)}, calls: "f {}\nf {}", reason: "tool_calls"},
		"interleaved calls":          {lines: []string{piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f"}},{"index":1,"id":"2","function":{"name":"g"}}]}}`), piece(`{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"b\":"}},{"index":0,"function":{"arguments":"{\"a\":"}}]}}`), piece(`{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"function":{"arguments":"2}"}}]},"finish_reason":"tool_calls"}`)}, calls: "f {\"a\":1}\ng {\"b\":2}", reason: "tool_calls"},
		"name again in every piece":  {lines: []string{piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]}}`), piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"}"}}]},"finish_reason":"tool_calls"}`)}, calls: "f {}", reason: "tool_calls"},
		"no arguments":               {lines: []string{piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":""}}]},"finish_reason":"tool_calls"}`)}, calls: "f {}", reason: "tool_calls"},
		"arguments as an object":     {lines: []string{piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":{"a":1}}}]},"finish_reason":"tool_calls"}`)}, calls: `f {"a":1}`, reason: "tool_calls"},
		"arguments that are no JSON": {lines: []string{piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"a=1"}}]},"finish_reason":"tool_calls"}`)}, calls: `f "a=1"`, reason: "tool_calls"},
		"a call cut at the length":   {lines: []string{piece(`{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":"}}]},"finish_reason":"length"}`)}, reason: "length"},
		"empty but complete":         {lines: []string{piece(stop), "data: [DONE]\n"}, reason: "stop"},
		"only [DONE]":                {lines: []string{"data: [DONE]\n"}, class: llm.Network},
		"a role and [DONE]":          {lines: []string{piece(`{"delta":{"role":"assistant","content":""}}`), "data: [DONE]\n"}, class: llm.Network},
		"garbled in the middle":      {lines: []string{piece(`{"delta":{"content":"a"}}`), "data: {\"choices\":[{\n", piece(stop)}, text: "a", class: llm.Network},
		"error after the reason":     {lines: []string{piece(`{"delta":{"content":"a"},"finish_reason":"stop"}`), `data: {"error":{"code":500,"message":"x"}}` + "\n"}, text: "a", class: llm.Server},
		"refusal":                    {lines: []string{piece(`{"delta":{"refusal":"I will not"}}`), piece(stop)}, class: llm.Refused},
		"filter":                     {lines: []string{piece(`{"delta":{"content":"a"},"finish_reason":"content_filter"}`)}, text: "a", class: llm.Refused},
		"failed inside":              {lines: []string{piece(`{"delta":{"content":"a"},"finish_reason":"error"}`)}, text: "a", class: llm.Server},
		"one line of error":          {lines: []string{piece(`{"delta":{"content":"a"}}`), "error: {\"code\":503,\"message\":\"Loading model\"}\n"}, text: "a", class: llm.Overloaded},
		"bare error over many lines": {lines: []string{piece(`{"delta":{"content":"a"}}`), "{", ` "error": {`, `  "code": 429`, " }", "}"}, text: "a", class: llm.RateLimit},
		"whole error":                {lines: []string{`{"error":{"code":429,"message":"x"}}`}, class: llm.RateLimit},
		"whole filter":               {lines: []string{`{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}`}, class: llm.Refused},
		"whole refusal":              {lines: []string{`{"choices":[{"message":{"content":null,"refusal":"I will not"},"finish_reason":"stop"}]}`}, class: llm.Refused},
		"whole with a call":          {lines: []string{`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`}, calls: "f {}\ng {}", reason: "tool_calls"},
		"a page":                     {lines: []string{"<html><title>Sign in</title>", "</html>"}, class: llm.Unclassified},
		"words":                      {lines: []string{"Service is starting", "please wait", ""}, class: llm.Unclassified},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.NewServer(t)
				s.Script(llmtest.Stream(append(c.lines, ""), "eof"))
				p, err := New(s.Config(), s.Transport())
				if err != nil {
					t.Fatal(err)
				}
				prepared, err := p.Prepare(llmtest.Example())
				if err != nil {
					t.Fatal(err)
				}
				h := llmtest.Listen(t.Context(), p, prepared)
				if c.class != "" {
					if f := h.Failure(); f == nil || f.Class != c.class || h.Text != c.text || len(h.Calls) > 0 {
						t.Errorf("%+v, want %s; text %q", f, c.class, h.Text)
					}
					return
				}
				var calls []string
				ids := map[string]bool{}
				for _, k := range h.Calls {
					calls = append(calls, k.Name+" "+string(k.Arguments))
					ids[k.ID] = true
					if !json.Valid(k.Arguments) || k.ID == "" {
						t.Errorf("call %+v", k)
					}
				}
				if h.Err != nil || h.Text != c.text || strings.Join(calls, "\n") != c.calls || h.Finish == nil || h.Finish.Reason != c.reason || len(ids) != len(calls) {
					t.Errorf("%+v", h)
				}
			})
		})
	}
}

// After its terminal event a stream that is left open is not waited for longer than a moment.
func TestLingering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.NewServer(t)
		s.Script(llmtest.Stream([]string{piece(`{"delta":{"content":"a"},"finish_reason":"stop"}`), ""}, "idle"))
		p, err := New(s.Config(), s.Transport())
		if err != nil {
			t.Fatal(err)
		}
		prepared, _ := p.Prepare(llmtest.Example())
		begin := time.Now()
		if h := llmtest.Listen(t.Context(), p, prepared); h.Err != nil || h.Finish == nil || time.Since(begin) > 11*time.Second {
			t.Errorf("%+v after %v", h, time.Since(begin))
		}
	})
}

// T8: what Prepare writes, to the byte.
func TestPrepare(t *testing.T) {
	c := llm.Default()
	c.BaseURL = "http://x.test/v1"
	prepare := func(base string, r llm.Request) string {
		t.Helper()
		c.BaseURL = base
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
	r := llmtest.Example()
	want := `{"max_tokens":1000,"messages":[{"role":"system","content":"You are kind."},` +
		`{"role":"user","content":"What time is it in \u003cKöln\u003e \u0026 \"Rome\"?"},` +
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"clock","arguments":"{\"city\":\"Rome\"}"}}]},` +
		`{"role":"tool","content":"12:00","tool_call_id":"call_1"},{"role":"user","content":"And now?"}],"model":"m-1","stream":true,` +
		`"stream_options":{"include_usage":true},"temperature":0.5,"tools":[{"type":"function","function":{"name":"clock","description":"Tells the time.",` +
		`"parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}],"top_p":0.9}`
	if got := prepare("http://x.test/v1", r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Params = map[string]any{"stream_options": false, "model": "other", "messages": "none", "response_format": map[string]any{"type": "json_object"}}
	r.Tools, r.Messages = nil, []llm.Message{{Role: "assistant", Calls: []llm.Call{{ID: "1", Name: "f"}, {ID: "2", Name: "g", Arguments: json.RawMessage(`"a=1"`)}}}, {Role: "user"}}
	want = `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},` +
		`{"id":"2","type":"function","function":{"name":"g","arguments":"a=1"}}]},{"role":"user","content":""}],"model":"m-1","response_format":{"type":"json_object"},"stream":true}`
	if got := prepare("http://x.test/v1", r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got := prepare("https://api.mistral.ai/v1", llmtest.Example())
	if strings.Contains(got, "stream_options") || strings.Contains(got, "call_1") || strings.Count(got, `id":"74196fe72"`) != 2 {
		t.Errorf("what is refused there: %s", got)
	}
	if _, err := New(llm.Config{BaseURL: "nonsense"}, nil); err == nil {
		t.Error("no address, no error")
	}
}
