package openai

import (
	"strings"
	"testing"

	"holdfast/engine/llm"
	"holdfast/engine/llm/llmtest"
)

// BenchmarkStream is one answer of 1,000 pieces, from the request to the Finish.
func BenchmarkStream(b *testing.B) {
	s := llmtest.NewServer(b)
	s.Always(llmtest.Status(200, map[string]string{"Content-Type": "text/event-stream"},
		strings.Join(llmtest.ChatLines(strings.Split(strings.Repeat("word ", 1000), " ")...), "\n")+"\n"))
	p, err := New(s.Config(), s.Transport())
	if err != nil {
		b.Fatal(err)
	}
	prepared, err := p.Prepare(llmtest.Example())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if h := llmtest.Listen(b.Context(), p, prepared); h.Err != nil || h.Finish == nil {
			b.Fatalf("%+v", h)
		}
	}
}

// BenchmarkClassify is one failure of the commonest kind.
func BenchmarkClassify(b *testing.B) {
	a := llm.Answer{Status: 429, Header: map[string][]string{"Retry-After": {"3"}}, Body: []byte(`{"error":{"message":"Rate limit reached for m in organization org-x on tokens per min (TPM): Limit 30000, Used 14567, Requested 24754. Please try again in 18.642s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`)}
	for b.Loop() {
		if f := llm.Classify(a); f.Class != llm.RateLimit {
			b.Fatal(f)
		}
	}
}
