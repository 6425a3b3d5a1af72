package demo_test

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/llm"
	"holdfast/engine/llm/demo"
	"holdfast/engine/llm/llmtest"
	"holdfast/engine/llm/openai"
)

// talk is a conversation with the demo over the wire that every provider speaks.
type talk struct {
	t        *testing.T
	provider llm.Provider
	before   []llm.Message
}

// meet serves a demo inside a bubble.
func meet(t *testing.T, c demo.Config) *talk {
	s := llmtest.NewServer(t)
	s.Always(demo.New(c).Handler().ServeHTTP)
	config := s.Config()
	config.BaseURL += "/v1"
	p, err := openai.New(config, s.Transport())
	if err != nil {
		t.Fatal(err)
	}
	return &talk{t: t, provider: p}
}

// say sends what a daemon would send for a message; a repetition of it is the same call again.
func (k *talk) say(text string, notes ...string) llmtest.Heard {
	k.t.Helper()
	m := append(append([]llm.Message{{Role: "system", Text: "You are kind."}}, k.before...), llm.Message{Role: "user", Text: text})
	for _, n := range notes {
		m = append(m, llm.Message{Role: "user", Text: n})
	}
	s, err := k.provider.Prepare(llm.Request{Model: demo.Model, Messages: m})
	if err != nil {
		k.t.Fatal(err)
	}
	return llmtest.Listen(k.t.Context(), k.provider, s)
}

// fails expects a failure of one class.
func (k *talk) fails(text string, class llm.Class, status int) *llm.Failure {
	k.t.Helper()
	f := k.say(text).Failure()
	if f == nil || f.Class != class || f.Status != status {
		k.t.Fatalf("%q: %+v, want %s %d", text, f, class, status)
	}
	return f
}

// hears expects an answer with all these words in it.
func (k *talk) hears(text string, words ...string) string {
	k.t.Helper()
	h := k.say(text)
	if h.Err != nil || h.Finish == nil || h.Finish.Reason != "stop" || h.Finish.TokensIn == 0 || h.Finish.TokensOut == 0 {
		k.t.Fatalf("%q: %+v", text, h)
	}
	for _, w := range words {
		if !strings.Contains(h.Text, w) {
			k.t.Errorf("%q: heard %q without %q", text, h.Text, w)
		}
	}
	return h.Text
}

func inBubble(t *testing.T, f func(k *talk)) {
	synctest.Test(t, func(t *testing.T) { f(meet(t, demo.Config{})) })
}

func TestAnswers(t *testing.T) {
	inBubble(t, func(k *talk) {
		k.hears("Hello!", "demo", "help")
		k.hears("who are you?", "without a model")
		k.hears("What time is it?", "00:00:00", "Saturday, 1 January 2000")
		k.hears("what's the time", "00:00:00")
		k.hears("count to 3", "1, 2, 3.")
		k.hears("markdown", "# A heading", "|---|", "```go", "- [x]")
		k.hears("help", "!fail 503 3", "!heal", "count to 20")
		k.hears("thanks!", "welcome")
		k.hears("Straße & <b>", "“Straße & <b>”", "help")
		k.hears("two\nlines", "> two\n> lines")
		k.hears("ask me in 5 minutes about count", "You said")
	})
}

func TestNotesOfTheDaemonAreIgnored(t *testing.T) {
	inBubble(t, func(k *talk) {
		h := k.say("ping", "[Holdfast: this answer was interrupted by a restart; do not mention it.]")
		if h.Text != "pong" {
			t.Errorf("%+v", h)
		}
		if h := k.say("ping\n\n[Holdfast: a note in the same message.]"); h.Text != "pong" {
			t.Errorf("%+v", h)
		}
	})
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := meet(t, demo.Default())
		begin := time.Now()
		k.hears("count to 20", "1, 2", "20.")
		if took := time.Since(begin); took != 19*300*time.Millisecond {
			t.Errorf("took %v", took)
		}
		s, _ := k.provider.Prepare(llm.Request{Model: demo.Model, Messages: []llm.Message{{Role: "user", Text: "count to 200"}}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if h := llmtest.Listen(ctx, k.provider, s); h.Failure() == nil || !strings.HasPrefix(h.Text, "1, 2, 3, 4") {
			t.Errorf("%+v", h)
		}
	})
}

func TestFailStatusCounted(t *testing.T) {
	inBubble(t, func(k *talk) {
		k.hears("!fail 503 3", "3 requests", "503")
		for range 3 {
			if f := k.fails("hello", llm.Overloaded, 503); f.HasStated || !f.Transient || f.RequestID == "" {
				t.Errorf("%+v", f)
			}
		}
		k.hears("hello", "Hello")
	})
}

func TestFailWithQuestion(t *testing.T) {
	inBubble(t, func(k *talk) {
		const ask = "!fail 500 2 are you there?"
		for range 2 {
			k.fails(ask, llm.Server, 500)
		}
		k.hears(ask, "“are you there?”")
		k.fails(ask, llm.Server, 500) // asked once more: it arms again
		k.hears("!heal", "Healed")
		k.hears(ask, "“are you there?”") // healed before it was answered
		k.fails("!fail 503 1 first", llm.Overloaded, 503)
		k.hears("!fail 503 1 first\n\nand second", "first", "second") // another message has joined it
		k.hears("ada: !fail 503 2", "2 requests")
	})
}

func TestFailUntilHealed(t *testing.T) {
	inBubble(t, func(k *talk) {
		k.hears("!fail 503", "!heal")
		for range 10 {
			k.fails("hello", llm.Overloaded, 503)
		}
		k.hears("!heal", "Healed")
		k.hears("hello", "Hello")
		k.hears("!fail 401", "401")
		k.fails("hello", llm.Auth, 401)
		k.hears("!fail 402 1", "402") // a new command replaces the old one
		k.fails("hello", llm.Quota, 402)
		k.hears("hello", "Hello")
		k.hears("!fail 503", "503")
		k.hears("please\n!heal\nping", "Healed", "You said") // in a message that others joined
	})
}

// The wait that is stated is what remains, in whole seconds, rounded up.
func TestFailUntilAMoment(t *testing.T) {
	inBubble(t, func(k *talk) {
		k.hears("!fail 429 45s", "429", "00:00:45")
		for _, after := range []time.Duration{0, 10500 * time.Millisecond, 34 * time.Second} {
			time.Sleep(after)
			want := 45*time.Second - time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Truncate(time.Second)
			if f := k.fails("hello", llm.RateLimit, 429); !f.HasStated || f.Stated != want {
				t.Errorf("states %v, want %v", f.Stated, want)
			}
		}
		time.Sleep(500 * time.Millisecond)
		k.hears("hello", "Hello")
		if f := k.fails("!fail 503 1m30s now?", llm.Overloaded, 503); f.Stated != 90*time.Second {
			t.Errorf("%+v", f)
		}
		time.Sleep(90 * time.Second)
		k.hears("!fail 503 1m30s now?", "“now?”")
	})
}

func TestFailStream(t *testing.T) {
	inBubble(t, func(k *talk) {
		k.hears("!fail cut 2", "break off", "2 answers")
		for range 2 {
			h := k.say("hello")
			if f := h.Failure(); f == nil || f.Class != llm.Network || !f.Begun || !strings.HasPrefix(h.Text, "Hello! I am") {
				t.Errorf("%+v", h)
			}
		}
		k.hears("hello", "Hello")
		k.hears("!fail idle", "silent")
		begin := time.Now()
		h := k.say("hello")
		if f := h.Failure(); f == nil || f.Class != llm.Timeout || !f.Silent || time.Since(begin) != 2*time.Minute || h.Text == "" {
			t.Errorf("%+v", h)
		}
		k.hears("hello", "Hello")
		k.hears("!fail reset", "reset")
		if f := k.say("hello").Failure(); f == nil || f.Class != llm.Network || f.Begun || !f.Transient {
			t.Errorf("%+v", f)
		}
		k.hears("hello", "Hello")
	})
}

func TestUnknownCommands(t *testing.T) {
	inBubble(t, func(k *talk) {
		for _, text := range []string{"!fail", "!fail me", "!fail 99", "!fail 200", "!fail 1000"} {
			k.hears(text, "did not understand", "!heal")
		}
		k.hears("what does !fail 503 do?", "You said")
		k.hears("hello", "Hello")
	})
}

// A chat that begins with the message: the note of a further try stands in it, and changes nothing.
func TestFailOnceInAFreshChat(t *testing.T) {
	inBubble(t, func(k *talk) {
		ask := func(text string) llmtest.Heard {
			s, err := k.provider.Prepare(llm.Request{Model: demo.Model, Messages: []llm.Message{{Role: "user", Text: text}}})
			if err != nil {
				k.t.Fatal(err)
			}
			return llmtest.Listen(k.t.Context(), k.provider, s)
		}
		if f := ask("!fail 429 45s there?").Failure(); f == nil || f.Stated != 45*time.Second {
			k.t.Fatalf("%+v", f)
		}
		time.Sleep(45 * time.Second)
		if h := ask("!fail 429 45s there?\n\n[Holdfast: this is a further try.]"); h.Err != nil || !strings.Contains(h.Text, "there?") {
			k.t.Errorf("%+v", h)
		}
	})
}

// The server on loopback, streamed and not.
func TestStart(t *testing.T) {
	d, err := demo.Start(demo.Config{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c := llm.Default()
	c.BaseURL = d.BaseURL()
	p, err := openai.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []bool{true, false} {
		s, err := p.Prepare(llm.Request{Model: demo.Model, Messages: []llm.Message{{Role: "user", Text: "ping"}}, Params: map[string]any{"stream": stream}})
		if err != nil {
			t.Fatal(err)
		}
		if h := llmtest.Listen(t.Context(), p, s); h.Text != "pong" || h.Finish == nil || h.Finish.TokensOut == 0 {
			t.Errorf("stream %s: %+v", strconv.FormatBool(stream), h)
		}
		s.Body = []byte(`{"broken`)
		if f := llmtest.Listen(t.Context(), p, s).Failure(); f == nil || f.Class != llm.Refused || f.Status != 400 {
			t.Errorf("%+v", f)
		}
	}
	s, _ := p.Prepare(llm.Request{Model: demo.Model, Messages: []llm.Message{{Role: "user", Text: "!fail reset hi"}}})
	if f := llmtest.Listen(t.Context(), p, s).Failure(); f == nil || f.Class != llm.Network || f.Begun {
		t.Errorf("%+v", f)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if f := llmtest.Listen(t.Context(), p, s).Failure(); f == nil || f.Class != llm.Network {
		t.Errorf("%+v", f)
	}
}
