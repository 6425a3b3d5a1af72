package llmtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"
)

// Status answers in one piece.
func Status(status int, header map[string]string, body string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// Gzip is a reply whose body is compressed, though no request asks for it.
func Gzip(status int, header map[string]string, body string) Reply {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(body))
	_ = z.Close()
	with := map[string]string{"Content-Encoding": "gzip"}
	maps.Copy(with, header)
	return Status(status, with, b.String())
}

// Stream answers 200 with raw lines, and ends as said: "eof", "reset", or "idle" (silence until the
// client goes).
func Stream(lines []string, end string) Reply { return StreamAt(lines, end, 0, nil) }

// StreamAt is Stream with a pause before every line and headers of its own.
func StreamAt(lines []string, end string, pause time.Duration, header map[string]string) Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(http.StatusOK)
		out := http.NewResponseController(w)
		_ = out.Flush()
		for i, line := range lines {
			if pause > 0 {
				select {
				case <-time.After(pause):
				case <-r.Context().Done():
					return
				}
			}
			if i < len(lines)-1 || line == "" {
				line += "\n" // a last line that is not empty is one that was cut
			}
			_, _ = w.Write([]byte(line))
			_ = out.Flush()
		}
		switch end {
		case "reset":
			panic(http.ErrAbortHandler)
		case "idle":
			<-r.Context().Done()
		}
	}
}

// Silence accepts the request and never answers.
func Silence() Reply {
	return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
}

// After waits before it replies.
func After(d time.Duration, then Reply) Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			then(w, r)
		case <-r.Context().Done():
		}
	}
}

// Reset breaks the connection before a byte of the answer.
func Reset() Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// Chat answers a streamed text on the chat completions wire, in the pieces given.
func Chat(pieces ...string) Reply { return Stream(ChatLines(pieces...), "eof") }

// ChatLines are the lines of such a stream. The usage is 11 tokens in, 7 out.
func ChatLines(pieces ...string) []string {
	lines := []string{chunk(`{"delta":{"role":"assistant","content":""},"finish_reason":null,"index":0}`), ""}
	for _, p := range pieces {
		lines = append(lines, chunk(`{"delta":{"content":`+quote(p)+`},"finish_reason":null,"index":0}`), "")
	}
	return append(lines, chatEnd("stop")...)
}

// ChatCall answers one streamed tool call, its arguments in two pieces.
func ChatCall(id, name, arguments string) Reply {
	return Stream(ChatCallLines(id, name, arguments), "eof")
}

// ChatCallLines are the lines of such a stream.
func ChatCallLines(id, name, arguments string) []string {
	half := len(arguments) / 2
	lines := []string{
		chunk(`{"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":` + quote(id) + `,"type":"function","function":{"name":` + quote(name) + `,"arguments":""}}]},"finish_reason":null,"index":0}`), "",
		chunk(`{"delta":{"tool_calls":[{"index":0,"function":{"arguments":` + quote(arguments[:half]) + `}}]},"finish_reason":null,"index":0}`), "",
		chunk(`{"delta":{"tool_calls":[{"index":0,"function":{"arguments":` + quote(arguments[half:]) + `}}]},"finish_reason":null,"index":0}`), "",
	}
	return append(lines, chatEnd("tool_calls")...)
}

func chatEnd(reason string) []string {
	return []string{
		chunk(`{"delta":{},"finish_reason":` + quote(reason) + `,"index":0}`), "",
		`data: {"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`, "",
		"data: [DONE]", "",
	}
}

func chunk(choice string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[` + choice + `]}`
}

// quote is a text as JSON.
func quote(s string) string {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "?")) // a string always marshals
	return string(b)
}
