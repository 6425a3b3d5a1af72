package demo

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// speech says one answer on the wire.
type speech struct {
	config  Config
	id      string
	created int64
	in      int  // tokens of the question
	usage   bool // asked for
	fault   fault
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type choice struct {
	Index   int     `json:"index"`
	Delta   *said   `json:"delta,omitempty"`
	Message *said   `json:"message,omitempty"`
	Finish  *string `json:"finish_reason"`
}

type said struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

type document struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

func (a *speech) document(object string, choices ...choice) document {
	return document{ID: a.id, Object: object, Created: a.created, Model: Model, Choices: choices}
}

func (a *speech) used(text string) *usage {
	out := tokens(text)
	return &usage{Prompt: a.in, Completion: out, Total: a.in + out}
}

// whole answers in one piece; with a fault half of it is sent.
func (a *speech) whole(w http.ResponseWriter, r reply) {
	stop := "stop"
	d := a.document("chat.completion", choice{Message: &said{Role: "assistant", Content: r.text}, Finish: &stop})
	d.Usage = a.used(r.text)
	if a.fault.kind != "" {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte(`{"id":"` + a.id + `","object":"chat.completion","choices":[`))
		panic(http.ErrAbortHandler)
	}
	writeJSON(w, http.StatusOK, d)
}

// stream answers word by word.
func (a *speech) stream(ctx context.Context, w http.ResponseWriter, r reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	out := http.NewResponseController(w)
	send := func(d document) {
		b, err := json.Marshal(d)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte("data: " + string(b) + "\n\n")) // a client that has gone is seen by pause
		_ = out.Flush()
	}
	const object = "chat.completion.chunk"
	send(a.document(object, choice{Delta: &said{Role: "assistant"}}))
	words := strings.SplitAfter(r.text, " ")
	stopAt := len(words)
	if a.fault.kind != "" {
		stopAt = min(max(1, len(words)/2), 6)
	}
	for i, word := range words[:stopAt] {
		if i > 0 && !pause(ctx, a.pace(r)) {
			return
		}
		send(a.document(object, choice{Delta: &said{Content: word}}))
	}
	switch a.fault.kind {
	case "cut":
		panic(http.ErrAbortHandler) // closes the connection in the middle of the body
	case "idle":
		<-ctx.Done()
		return
	}
	stop := "stop"
	send(a.document(object, choice{Delta: &said{}, Finish: &stop}))
	if a.usage {
		d := a.document(object)
		d.Choices, d.Usage = []choice{}, a.used(r.text)
		send(d)
	}
	_, _ = w.Write([]byte("data: [DONE]\n\n"))
	_ = out.Flush()
}

func (a *speech) pace(r reply) time.Duration {
	if r.slow {
		return a.config.Count
	}
	return a.config.Word
}
