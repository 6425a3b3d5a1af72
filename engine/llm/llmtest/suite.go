package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/llm"
)

// Wire is what the suite must know of a wire.
type Wire struct {
	New   func(llm.Config, *http.Transport) (llm.Provider, error)
	Path  string                                    // of the POST, below the base address
	Names []string                                  // its names in the corpus
	Text  func(pieces ...string) []string           // the lines of a stream that says them and ends well, with a usage of 11 in and 7 out
	Last  int                                       // so many of those lines from the end may be missing and the answer is still complete
	Call  func(id, name, arguments string) []string // … that makes one call
	Whole string                                    // an answer in one piece that says "all at once"
	Error string                                    // a line of a stream with an overloaded error
}

// Example is a send with everything in it that a wire must write.
func Example() llm.Request {
	return llm.Request{
		Model: "m-1",
		Messages: []llm.Message{
			{Role: "system", Text: "You are kind."},
			{Role: "user", Text: "What time is it in <Köln> & \"Rome\"?"},
			{Role: "assistant", Text: "I look.", Calls: []llm.Call{{ID: "call_1", Name: "clock", Arguments: json.RawMessage(`{"city":"Rome"}`)}}},
			{Role: "tool", CallID: "call_1", Text: "12:00"},
			{Role: "user", Text: "And now?"},
		},
		Tools:  []llm.Tool{{Name: "clock", Description: "Tells the time.", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}},
		Params: map[string]any{"temperature": 0.5, "top_p": 0.9, "max_tokens": 1000},
	}
}

// Heard is what came of one send.
type Heard struct {
	Text   string
	Heads  []llm.Head
	Calls  []llm.Call
	Finish *llm.Finish
	Err    error
}

// Failure is Heard.Err as a *llm.Failure; nil if it is none.
func (h Heard) Failure() *llm.Failure {
	f, _ := errors.AsType[*llm.Failure](h.Err)
	return f
}

// Listen sends and hears everything.
func Listen(ctx context.Context, p llm.Provider, s llm.Prepared) (h Heard) {
	for e, err := range p.Stream(ctx, s) {
		switch {
		case err != nil:
			h.Err = err
		case e.Head != nil:
			h.Heads = append(h.Heads, *e.Head)
		case e.Call != nil:
			h.Calls = append(h.Calls, *e.Call)
		case e.Finish != nil:
			h.Finish = e.Finish
		}
		h.Text += e.Text
	}
	return h
}

// Run is the suite that every wire must pass.
func Run(t *testing.T, w Wire) {
	t.Run("answers", w.answers)
	t.Run("bytes", w.bytes)
	t.Run("one request each", w.oneRequest)
	t.Run("cut anywhere", w.cutAnywhere)
	t.Run("silence", w.silence)
	t.Run("cancel", w.cancel)
	t.Run("failed answers", w.failedAnswers)
	t.Run("odd bodies", w.oddBodies)
	t.Run("compressed", w.compressed)
	t.Run("unspaced", w.unspaced)
	t.Run("secrets", w.secrets)
	t.Run("corpus", w.corpus)
}

// provider is the wire's provider at a fresh server.
func (w Wire) provider(t testing.TB, change ...func(*llm.Config)) (*Server, llm.Provider, llm.Prepared) {
	t.Helper()
	s := NewServer(t)
	c := s.Config()
	for _, f := range change {
		f(&c)
	}
	p, err := w.New(c, s.Transport())
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := p.Prepare(Example())
	if err != nil {
		t.Fatal(err)
	}
	return s, p, prepared
}

// bubble runs a test on fake time.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func (w Wire) answers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, p, prepared := w.provider(t)
		s.Script(
			StreamAt(w.Text("Hel", "lo, ", "wörld"), "eof", time.Second, map[string]string{"X-Request-Id": "req-7"}),
			Stream(w.Call("call_9", "clock", `{"city":"Köln"}`), "eof"),
			Status(200, map[string]string{"Content-Type": "application/json"}, w.Whole),
		)
		h := Listen(t.Context(), p, prepared)
		if h.Err != nil || h.Text != "Hello, wörld" {
			t.Fatalf("heard %+v", h)
		}
		if len(h.Heads) != 1 || h.Heads[0] != (llm.Head{Status: 200, RequestID: "req-7"}) {
			t.Errorf("heads %+v", h.Heads)
		}
		if h.Finish == nil || *h.Finish != (llm.Finish{Reason: "stop", TokensIn: 11, TokensOut: 7}) {
			t.Errorf("finish %+v", h.Finish)
		}
		h = Listen(t.Context(), p, prepared)
		if h.Err != nil || len(h.Calls) != 1 || h.Finish == nil || h.Finish.Reason != "tool_calls" {
			t.Fatalf("heard %+v", h)
		}
		if c := h.Calls[0]; c.ID != "call_9" || c.Name != "clock" || string(c.Arguments) != `{"city":"Köln"}` {
			t.Errorf("call %+v %s", c, c.Arguments)
		}
		h = Listen(t.Context(), p, prepared)
		if h.Err != nil || h.Text != "all at once" || h.Finish == nil || h.Finish.Reason != "stop" {
			t.Errorf("heard %+v", h)
		}
	})
}

// T8: the bytes of a send are fixed by Prepare, go out unchanged, and do not depend on the order of a map.
func (w Wire) bytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, p, prepared := w.provider(t)
		for range 20 {
			again, err := p.Prepare(Example())
			if err != nil || !bytes.Equal(again.Body, prepared.Body) {
				t.Fatalf("other bytes: %v\n%s\n%s", err, prepared.Body, again.Body)
			}
		}
		if !json.Valid(prepared.Body) || prepared.Model != "m-1" {
			t.Fatalf("prepared %q %s", prepared.Model, prepared.Body)
		}
		for range 3 {
			s.Script(Stream(w.Text("x"), "eof"))
			Listen(t.Context(), p, prepared)
		}
		for _, r := range s.Requests() {
			if !bytes.Equal(r.Body, prepared.Body) || r.Path != w.Path || r.Method != "POST" {
				t.Errorf("%s %s %s", r.Method, r.Path, r.Body)
			}
			for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "Accept-Encoding"} {
				if r.Header.Get(name) != "" {
					t.Errorf("%s is set", name)
				}
			}
			if r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("content type %q", r.Header.Get("Content-Type"))
			}
		}
		longer := Example()
		longer.Messages = append(longer.Messages, llm.Message{Role: "assistant", Text: "Noon."}, llm.Message{Role: "user", Text: "Thanks"})
		if _, err := p.Prepare(longer); err != nil {
			t.Error(err)
		}
	})
}

// oneRequest: whatever comes, a Stream is one request (T1, T2, T3, T9).
func (w Wire) oneRequest(t *testing.T) {
	for name, reply := range map[string]Reply{
		"503": Status(503, nil, ""), "429": Status(429, map[string]string{"Retry-After": "0"}, ""),
		"307": Status(307, map[string]string{"Location": "http://elsewhere.test/x"}, ""),
		"302": Status(302, map[string]string{"Location": "/x"}, ""), "reset": Reset(),
		"cut": Stream(w.begun(), "reset"), "error": Stream([]string{w.Error, ""}, "eof"), "408": Status(408, map[string]string{"Connection": "close"}, ""),
		"empty": Stream(nil, "eof"), "401": Status(401, map[string]string{"WWW-Authenticate": "Basic"}, ""), "421": Status(421, nil, ""),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, p, prepared := w.provider(t)
				s.Script(Stream(w.Text("warm"), "eof"), reply)
				Listen(t.Context(), p, prepared)
				h := Listen(t.Context(), p, prepared)
				if f := h.Failure(); f == nil || f.Error() == "" || f.Plain() == "" {
					t.Errorf("%+v", h)
				}
				if n := len(s.Requests()); n != 2 {
					t.Errorf("%d requests, want 2", n)
				}
				if h.Finish != nil {
					t.Error("a failed send has a Finish")
				}
			})
		})
	}
}

// cutAnywhere: a stream that ends too early is a network failure wherever it is cut, whatever way.
func (w Wire) cutAnywhere(t *testing.T) {
	lines := w.Text("one ", "two")
	for cut := range len(lines) + 1 {
		for _, end := range []string{"eof", "reset"} {
			t.Run(fmt.Sprintf("%d %s", cut, end), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s, p, prepared := w.provider(t)
					s.Script(Stream(lines[:cut], end))
					h := Listen(t.Context(), p, prepared)
					if cut >= len(lines)-w.Last {
						if h.Err != nil || h.Text != "one two" {
							t.Errorf("a complete answer: %+v", h)
						}
						return
					}
					f := h.Failure()
					if f == nil || f.Class != llm.Network || !f.Transient || !f.Begun || f.Silent || f.Status != 200 {
						t.Errorf("%+v after %q", f, strings.Join(lines[:cut], "\n"))
					}
				})
			})
		}
	}
}
