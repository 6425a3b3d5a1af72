package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/engine/llm"
)

// detected is a service that a key in the environment stands for, with the model that answers then.
type detected struct{ provider, model string }

// detectable are looked at in this order.
func detectable() []detected {
	return []detected{
		{"openai", "gpt-5-mini"},
		{"anthropic", "claude-haiku-4-5"},
		{"openrouter", "meta-llama/llama-3.3-70b-instruct:free"},
		{"groq", "openai/gpt-oss-120b"},
		{"gemini", "gemini-flash-latest"},
	}
}

// demoModel is asked when nothing else is there.
const demoModel = "demo/demo"

// detect finds a model on this machine: a service whose key is in the environment, else the first
// chat model of an Ollama server, else the built-in demo. It returns PROVIDER/MODEL and the config
// of that provider.
func (p place) detect(ctx context.Context) (model string, c llm.Config) {
	for _, s := range detectable() {
		c, keyVar, ok := llm.Known(s.provider)
		if key := p.get(keyVar); ok && key != "" {
			c.APIKey = key
			return s.provider + "/" + s.model, c
		}
	}
	ollama := providerDefaults("ollama")
	ollama.BaseURL = llm.OllamaURL(p.get("OLLAMA_HOST"))
	if name := ollamaModel(ctx, strings.TrimSuffix(ollama.BaseURL, "/v1")); name != "" {
		return "ollama/" + name, ollama
	}
	return demoModel, providerDefaults("demo")
}

// ollamaModel asks a server for its first model that can chat; "" if none answers in 300 ms.
func ollamaModel(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/tags", nil)
	if err != nil {
		return ""
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var tags struct {
		Models []struct {
			Name    string `json:"name"`
			Details struct {
				Family string `json:"family"`
			} `json:"details"`
		} `json:"models"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&tags) != nil {
		return ""
	}
	for _, m := range tags.Models {
		if m.Name != "" && !embeds(m.Name) && !embeds(m.Details.Family) {
			return m.Name
		}
	}
	return ""
}

// ollamaWindow asks a server with how many tokens of context it has loaded a model; 0 if it is not
// loaded or does not say.
func ollamaWindow(ctx context.Context, address, model string) int64 {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/ps", nil)
	if err != nil {
		return 0
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	var loaded struct {
		Models []struct {
			Name    string `json:"name"`
			Context int64  `json:"context_length"`
		} `json:"models"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&loaded) != nil {
		return 0
	}
	for _, m := range loaded.Models {
		if m.Name == model || m.Name == model+":latest" {
			return max(0, m.Context)
		}
	}
	return 0
}

// embeds tells from a model's name or family that it makes vectors and does not chat.
func embeds(name string) bool {
	name = strings.ToLower(name)
	for _, mark := range []string{"embed", "bert", "minilm", "bge-", "gte-", "e5-", "rerank"} {
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

// detectIfNeeded gives a config without bots the one that answers with what is found, and returns
// its model; "" if the config has bots.
func (l *loaded) detectIfNeeded(ctx context.Context, p place) string {
	if len(l.Bots) > 0 {
		return ""
	}
	model, c := p.detect(ctx)
	name, _, _ := strings.Cut(model, "/")
	if _, ok := l.Providers[name]; !ok {
		l.Providers[name] = c
	}
	bot := engine.DefaultBot()
	bot.Models = []string{model}
	l.Bots = []engine.Bot{bot}
	return model
}
