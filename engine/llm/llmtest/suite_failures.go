package llmtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/engine/llm"
)

// silence: both limits, to the millisecond (P20).
func (w Wire) silence(t *testing.T) {
	limits := func(c *llm.Config) { c.FirstByteTimeout, c.IdleTimeout = 300*time.Second, 120*time.Second }
	for _, c := range []struct {
		name  string
		reply Reply
		after time.Duration // 0 = answered
		begun bool
	}{
		{"never answers", Silence(), 300 * time.Second, false},
		{"answers just in time", After(299*time.Second, Stream(w.Text("late"), "eof")), 0, false},
		{"headers, then nothing", Stream(nil, "idle"), 120 * time.Second, true},
		{"a word, then nothing", Stream(w.begun(), "idle"), 120 * time.Second, true},
		{"comments keep it alive", StreamAt(append(comments(10), w.Text("x")...), "eof", 100*time.Second, nil), 0, true},
		{"only comments, then nothing", StreamAt(comments(3), "idle", 100*time.Second, nil), 3*100*time.Second + 120*time.Second, true},
		{"half a line, then nothing", Stream([]string{`data: {"a`}, "idle"), 120 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, p, prepared := w.provider(t, limits)
				s.Script(c.reply)
				begin := time.Now()
				h := Listen(t.Context(), p, prepared)
				if c.after == 0 {
					if h.Err != nil {
						t.Errorf("%v", h.Err)
					}
					return
				}
				f := h.Failure()
				if f == nil || f.Class != llm.Timeout || !f.Transient || !f.Silent || f.Begun != c.begun || f.Text == "" {
					t.Fatalf("%+v", f)
				}
				if took := time.Since(begin); took != c.after {
					t.Errorf("took %v, want %v", took, c.after)
				}
			})
		})
	}
	t.Run("limits stay what they are after answers and failures", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s, p, prepared := w.provider(t, limits)
			s.Script(Stream(w.Text("a"), "eof"), Status(503, nil, "busy"), Stream(w.begun(), "idle"))
			Listen(t.Context(), p, prepared)
			Listen(t.Context(), p, prepared)
			begin := time.Now()
			if f := Listen(t.Context(), p, prepared).Failure(); f == nil || !f.Silent || time.Since(begin) != 120*time.Second {
				t.Errorf("%+v after %v", f, time.Since(begin))
			}
		})
	})
	t.Run("a slow listener is not the provider's silence", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s, p, prepared := w.provider(t, limits)
			s.Script(Stream(w.Text("a", "b", "c"), "eof"))
			for _, err := range p.Stream(t.Context(), prepared) {
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
			}
		})
	})
}

// begun are the lines of an answer that has begun to speak and is not at its end.
func (w Wire) begun() []string {
	lines := w.Text("one ", "two")
	for i, line := range lines {
		if strings.Contains(line, "one ") {
			return lines[:i+2]
		}
	}
	return lines[:1]
}

func comments(n int) (lines []string) {
	for range n {
		lines = append(lines, ": still here\n")
	}
	return lines
}

// cancel: our own end is class canceled at every moment (T2), and a range broken off ends the request.
func (w Wire) cancel(t *testing.T) {
	for name, reply := range map[string]Reply{
		"before the answer": Silence(), "in the answer": Stream(w.begun(), "idle"),
		"in a failed answer": StreamAt(nil, "idle", 0, nil),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, p, prepared := w.provider(t)
				s.Script(reply)
				for _, deadline := range []bool{false, true} {
					s.Script(reply)
					ctx, cancel := context.WithCancelCause(t.Context())
					if deadline {
						var end context.CancelFunc
						ctx, end = context.WithTimeout(ctx, time.Second)
						defer end()
					} else {
						time.AfterFunc(time.Second, func() { cancel(errors.New("stopped by a person")) })
					}
					h := Listen(ctx, p, prepared)
					cancel(nil)
					if f := h.Failure(); f == nil || f.Class != llm.Canceled || f.Transient || f.Silent {
						t.Errorf("deadline %v: %+v", deadline, h)
					}
				}
			})
		})
	}
	t.Run("broken off", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s, p, prepared := w.provider(t)
			s.Script(Stream(w.begun(), "idle"))
			for e, err := range p.Stream(t.Context(), prepared) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Text != "" {
					break
				}
			}
			// The bubble ends only when the server's handler has seen the client go.
		})
	})
}

// failedAnswers: the body of a failed answer is read, so that the connection is used again; an
// endless one is not waited for.
func (w Wire) failedAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, p, prepared := w.provider(t)
		long := `{"error":{"message":"` + strings.Repeat("x", 600<<10) + `","type":"server_error"}}`
		s.Script(Status(503, map[string]string{"X-Request-Id": "r-1", "Retry-After": "7"}, `{"error":{"message":"busy, slow"}}`), Status(500, nil, long), Status(429, nil, ""))
		f := Listen(t.Context(), p, prepared).Failure()
		if f == nil || f.Class != llm.Overloaded || f.Status != 503 || f.RequestID != "r-1" || f.Stated != 7*time.Second || f.Begun || f.Text != "busy, slow" {
			t.Errorf("%+v", f)
		}
		if f := Listen(t.Context(), p, prepared).Failure(); f == nil || f.Class != llm.Server || len([]rune(f.Text)) > 300 {
			t.Errorf("%+v", f)
		}
		Listen(t.Context(), p, prepared)
		seen := s.Requests()
		if seen[0].Conn != seen[1].Conn || seen[1].Conn != seen[2].Conn {
			t.Errorf("connections %s, %s, %s: not used again", seen[0].Conn, seen[1].Conn, seen[2].Conn)
		}
	})
}

// secrets: the key reaches no error text, however the provider or the network repeats it (S5).
func (w Wire) secrets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const key, other = "plain-key-without-form-31415", "token-of-a-proxy-27182"
		s, p, prepared := w.provider(t, func(c *llm.Config) {
			c.APIKey, c.Headers = key, map[string]string{"X-Proxy-Token": other, "Authorization-2": "Bearer " + other}
		})
		s.Script(
			Status(401, nil, `{"error":{"message":"Incorrect API key provided: `+key+` or `+other+`, see https://x.test/?key=`+key+`&b=1"}}`),
			Status(500, nil, "Bearer "+key),
			Stream([]string{`data: {"error":{"message":"bad key ` + key + `","type":"invalid_request_error","code":"invalid_api_key"}}`, ""}, "eof"),
			Status(200, nil, "<html><title>"+key+"</title></html>"),
			Status(400, map[string]string{"X-Request-Id": "r"}, strings.Repeat("y", 290)+" "+key),
			Reset(),
		)
		for i := range 6 {
			f := Listen(t.Context(), p, prepared).Failure()
			if f == nil {
				t.Fatalf("reply %d: no failure", i)
			}
			for _, text := range []string{f.Error(), f.Plain(), f.Text} {
				if strings.Contains(text, key[:12]) || strings.Contains(text, other[:12]) {
					t.Errorf("reply %d says %q", i, text)
				}
			}
		}
	})
}
