package llmtest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/engine/llm"
)

// oddBodies: an answer that came with 200 and is none says what it is: an error, a cut answer, an
// empty one, or somebody else's page.
func (w Wire) oddBodies(t *testing.T) {
	ping := `data: {"type":"ping"}` + "\n"
	rated := `{"type":"error","error":{"type":"rate_limit_error","message":"Too many requests, please retry after 3 seconds"}}`
	for name, c := range map[string]struct {
		reply     Reply
		class     llm.Class
		transient bool
		wait      time.Duration
	}{
		"an error":                    {Status(200, nil, rated), llm.RateLimit, true, 3 * time.Second},
		"an error on several lines":   {Status(200, nil, strings.ReplaceAll(rated, ",", ",\n")), llm.RateLimit, true, 3 * time.Second},
		"an error cut at its end":     {Status(200, nil, rated[:len(rated)-4]), llm.RateLimit, true, 3 * time.Second},
		"an error in words":           {Status(200, nil, "upstream connect error"), llm.Unclassified, false, 0},
		"an answer cut at its end":    {Status(200, nil, w.Whole[:len(w.Whole)-9]), llm.Network, true, 0},
		"an answer cut in the middle": {Status(200, nil, w.Whole[:len(w.Whole)/2]), llm.Network, true, 0},
		"shorter than its length":     {Status(200, map[string]string{"Content-Length": "4000"}, w.Whole), llm.Network, true, 0},
		"no choices":                  {Status(200, nil, `{"id":"x","choices":[],"usage":{}}`), llm.Network, true, 0},
		"other JSON":                  {Status(200, nil, `{"status":"ok"}`), llm.Unclassified, false, 0},
		"a page":                      {Status(200, map[string]string{"Content-Type": "text/html"}, "<html><title>Sign in</title></html>"), llm.Unclassified, false, 0},
		"nothing":                     {Status(200, nil, ""), llm.Network, true, 0},
		"no content":                  {Status(204, nil, ""), llm.Unclassified, false, 0},
		"events without empty lines":  {Stream([]string{ping + ping + "data: " + rated, ""}, "eof"), llm.RateLimit, true, 3 * time.Second},
		"a named one among them":      {Stream([]string{ping + "event: error\ndata: " + rated, ""}, "eof"), llm.RateLimit, true, 3 * time.Second},
		"a page in the stream":        {Stream([]string{": hello", "", "<html><title>502 Bad Gateway</title></html>", ""}, "eof"), llm.Network, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, p, prepared := w.provider(t)
				s.Script(c.reply)
				h := Listen(t.Context(), p, prepared)
				f := h.Failure()
				if f == nil {
					t.Fatalf("heard %+v, want %s", h, c.class)
				}
				if f.Class != c.class || f.Transient != c.transient || f.Stated != c.wait || f.HasStated != (c.wait > 0) {
					t.Errorf("%+v", f)
				}
				if h.Finish != nil {
					t.Error("it has a Finish")
				}
			})
		})
	}
}

// unspaced: a stream without the empty lines between its events is an answer all the same.
func (w Wire) unspaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, p, prepared := w.provider(t)
		lines := slices.DeleteFunc(w.Text("all ", "at once"), func(line string) bool { return line == "" })
		s.Script(Stream(append(lines, ""), "eof"))
		if h := Listen(t.Context(), p, prepared); h.Err != nil || h.Text != "all at once" || h.Finish == nil {
			t.Errorf("heard %+v", h)
		}
	})
}

// compressed: what a proxy compresses unasked is read all the same, and what only says so too.
func (w Wire) compressed(t *testing.T) {
	for name, c := range map[string]struct {
		reply Reply
		class llm.Class // "" = answered
		wait  time.Duration
	}{
		"an error":         {Gzip(429, nil, `{"error":{"message":"Please try again in 7m12.5s."}}`), llm.RateLimit, 432500 * time.Millisecond},
		"a page":           {Gzip(502, map[string]string{"Content-Type": "text/html"}, "<html><title>504 Gateway Time-out</title></html>"), llm.Timeout, 0},
		"an error in 200":  {Gzip(200, nil, `{"error":{"message":"Insufficient Balance"}}`), llm.Quota, 0},
		"an answer":        {Gzip(200, nil, w.Whole), "", 0},
		"a stream":         {Gzip(200, nil, strings.Join(w.Text("all ", "at once"), "\n")+"\n"), "", 0},
		"it only says so":  {Status(429, map[string]string{"Content-Encoding": "gzip"}, `{"error":{"message":"try again in 2s"}}`), llm.RateLimit, 2 * time.Second},
		"cut":              {cutGzip(), llm.Network, 0},
		"nothing":          {Status(503, map[string]string{"Content-Encoding": "gzip"}, ""), llm.Overloaded, 0},
		"garbage after it": {Status(200, map[string]string{"Content-Encoding": "gzip"}, "\x1f\x8bxxxx"), llm.Network, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, p, prepared := w.provider(t)
				s.Script(c.reply)
				h := Listen(t.Context(), p, prepared)
				f := h.Failure()
				if c.class == "" {
					if h.Err != nil || h.Text != "all at once" || h.Finish == nil {
						t.Errorf("heard %+v", h)
					}
					return
				}
				if f == nil || f.Class != c.class || f.Stated != c.wait {
					t.Fatalf("heard %+v, want %s after %v", h, c.class, c.wait)
				}
				if strings.Contains(f.Text, "\x1f") {
					t.Errorf("text %q", f.Text)
				}
			})
		})
	}
}

// cutGzip is a compressed answer of which half comes.
func cutGzip() Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		whole := &half{ResponseWriter: w}
		Gzip(200, nil, `{"choices":[{"index":0,"message":{"role":"assistant","content":"all at once"}}]}`)(whole, r)
	}
}

// half passes on the first half of what is written.
type half struct{ http.ResponseWriter }

func (h *half) Write(p []byte) (int, error) {
	_, err := h.ResponseWriter.Write(p[:len(p)/2])
	return len(p), err
}
