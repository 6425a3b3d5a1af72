package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestDetectKeysInOrder(t *testing.T) {
	vars := map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}
	expect := func(want, key string) {
		t.Helper()
		if model, c := testPlace(vars).detect(t.Context()); model != want || c.APIKey != key {
			t.Errorf("%s with key %q, want %s", model, c.APIKey, want)
		}
	}
	expect("demo/demo", "")
	vars["GEMINI_API_KEY"] = "g"
	expect("gemini/gemini-flash-latest", "g")
	vars["GROQ_API_KEY"] = "q"
	expect("groq/openai/gpt-oss-120b", "q")
	vars["OPENROUTER_API_KEY"] = "r"
	expect("openrouter/meta-llama/llama-3.3-70b-instruct:free", "r")
	vars["OPENAI_API_KEY"] = "o"
	expect("openai/gpt-5-mini", "o")
}

// TestDetectOllama takes the first model that chats, and no server that is slow.
func TestDetectOllama(t *testing.T) {
	slow := make(chan struct{})
	defer close(slow)
	serve := func(answer string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer == "" {
				<-slow
			}
			if r.URL.Path == "/api/tags" {
				w.Write([]byte(answer))
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, c := range []struct{ answer, want string }{
		{`{"models":[{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},{"name":"all-minilm:l6","details":{"family":"bert"}},{"name":"qwen3:8b","details":{"family":"qwen3"}},{"name":"x"}]}`, "ollama/qwen3:8b"},
		{`{"models":[]}`, "demo/demo"},
		{`not JSON`, "demo/demo"},
	} {
		url := serve(c.answer)
		model, config := testPlace(map[string]string{"OLLAMA_HOST": url}).detect(t.Context())
		if model != c.want {
			t.Errorf("%s from %s", model, c.answer)
		}
		if model != demoModel && (config.BaseURL != url+"/v1" || config.Concurrency != 1) {
			t.Errorf("%+v", config)
		}
	}
	began := time.Now()
	hung := serve("")
	if model, _ := testPlace(map[string]string{"OLLAMA_HOST": hung}).detect(t.Context()); model != demoModel || time.Since(began) > 2*time.Second {
		t.Error(model, time.Since(began))
	}
}

func TestDetectIntoConfigWithoutBots(t *testing.T) {
	l := testPlace(map[string]string{"OPENAI_API_KEY": "o"}).read("", "", "")
	if found := l.detectIfNeeded(t.Context(), testPlace(map[string]string{"OPENAI_API_KEY": "o"})); found != "openai/gpt-5-mini" || l.Bots[0].Name != "bot" || l.Providers["openai"].APIKey != "o" {
		t.Error(found, l.Bots, l.Providers)
	}
	if found := l.detectIfNeeded(t.Context(), testPlace(nil)); found != "" {
		t.Error(found)
	}
}

// TestOllamaWindow: what a server says of the models that it has loaded; everything else is not known.
func TestOllamaWindow(t *testing.T) {
	answer := `{"models":[{"name":"other:1b","context_length":99},{"name":"qwen3:latest","context_length":4096}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/ps" {
			w.Write([]byte(answer))
		}
	}))
	defer s.Close()
	for model, want := range map[string]int64{"qwen3": 4096, "other:1b": 99, "absent": 0} {
		if got := ollamaWindow(t.Context(), s.URL, model); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
	}
	answer = "not JSON"
	if got := ollamaWindow(t.Context(), s.URL, "qwen3"); got != 0 {
		t.Errorf("%d of no JSON", got)
	}
}
