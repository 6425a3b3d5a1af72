// Package demo is a provider without a model: an HTTP server on loopback that speaks the chat
// completions wire, so that a daemon without a key has somebody to talk to, and that fails on
// demand, so that anybody can watch what happens to a turn then.
//
//	!fail 503 3        the next 3 requests answer 503           !fail 503      … until !heal
//	!fail 429 45s      429 with Retry-After until 45 s from now !fail cut [N]  the stream breaks in the middle
//	!fail reset [N]    the connection is reset                  !fail idle [N] a few words, then silence
//	!heal              everything works again
//
// Text after the numbers (`!fail 503 3 hello`) is answered once the failure lets it. Only the last
// message of the user counts; lines in it that begin with "[Holdfast" are the daemon's own notes.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Config says how fast the demo talks.
type Config struct {
	Word  time.Duration // between words; 0 = at once
	Count time.Duration // between the numbers it counts; 0 = at once
}

// Default is a pace at which people see the text stream.
func Default() Config {
	return Config{Word: 15 * time.Millisecond, Count: 300 * time.Millisecond}
}

// Model is the one model the demo has.
const Model = "demo"

// Server is a demo provider; its zero value is of no use.
type Server struct {
	config Config
	http   *http.Server
	at     net.Listener
	done   sync.WaitGroup

	mu     sync.Mutex
	faults faults
	asked  int // requests answered or failed since the start
}

// Start listens on a free port of the loopback address. The caller must Close it.
func Start(c Config, log *slog.Logger) (*Server, error) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the demo provider: %w", err)
	}
	s := &Server{config: c, at: at}
	s.http = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.done.Go(func() { _ = s.http.Serve(at) }) // returns when Close has been called
	return s, nil
}

// New makes a demo without a listener, for a caller that serves Handler itself.
func New(c Config) *Server { return &Server{config: c} }

// BaseURL is what a [provider] section would have as base_url.
func (s *Server) BaseURL() string { return "http://" + s.at.Addr().String() + "/v1" }

// Close ends the server and every request that runs.
func (s *Server) Close() error {
	err := s.http.Close()
	s.done.Wait()
	return err
}

// Handler serves the wire.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", s.models)
	return mux
}

// question is what the demo reads of a request.
type question struct {
	Stream        bool `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
}

// last is the user's last message without the daemon's notes; place tells it from one of the same
// words elsewhere; again says that the daemon asks for a further time.
func (q question) last() (text, place string, again bool) {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role != "user" {
			continue
		}
		if text := withoutNotes(q.Messages[i].Content); text != "" {
			return text, fmt.Sprintf("%d %s", i, withoutNotes(q.Messages[0].Content)), strings.Contains(q.Messages[i].Content, furtherTry)
		}
	}
	return "", "", false
}

// furtherTry begins the note of a daemon that asks again: what such a message wants to break has
// been broken, maybe in a process that has died since.
const furtherTry = "[Holdfast: this is a further try"

// withoutNotes is a message without the daemon's lines in it, which come and go from try to try.
func withoutNotes(content string) string {
	var kept []string
	for line := range strings.Lines(content) {
		if !strings.HasPrefix(strings.TrimSpace(line), "[Holdfast") {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// size is a rough count of tokens of the whole question, so that the usage is not empty.
func (q question) size() (n int) {
	for _, m := range q.Messages {
		n += tokens(m.Content)
	}
	return n
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list",
		"data": []any{map[string]any{"id": Model, "object": "model", "owned_by": "holdfast"}}})
}

// complete answers one request, or fails it as it was told to.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20))
	var q question
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", "The demo could not read this request: "+err.Error())
		return
	}
	text, place, again := q.last()
	now := time.Now()
	s.mu.Lock()
	s.asked++
	id := fmt.Sprintf("demo-%d-%d", now.UnixMilli(), s.asked)
	v := s.faults.judge(text, place, again, now)
	s.mu.Unlock()
	w.Header().Set("X-Request-Id", id)
	if v.meets.refuses() {
		v.meets.refuse(w, now)
		return
	}
	a := &speech{config: s.config, id: id, created: now.Unix(), in: q.size(), usage: q.StreamOptions.IncludeUsage, fault: v.meets}
	if say := v.reply(now); q.Stream {
		a.stream(r.Context(), w, say)
	} else {
		a.whole(w, say)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone needs no answer
}

func writeError(w http.ResponseWriter, status int, kind, text string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": nil}})
}

// tokens counts about as a model does: four characters make one.
func tokens(s string) int { return (len(s) + 3) / 4 }

// pause waits, but not for a client that has gone.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
