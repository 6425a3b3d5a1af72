package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"holdfast/engine"
	"holdfast/engine/llm"
	"holdfast/engine/llm/anthropic"
	"holdfast/engine/llm/demo"
	"holdfast/engine/llm/openai"
)

// providers are the model services of a config. The demo's server runs as long as they do.
type providers struct {
	byName map[string]engine.Provider
	demo   *demo.Server // nil unless a model of it is used
	log    *slog.Logger
}

// openProviders makes those that a bot's models name; nothing is asked yet. The caller must close them.
func openProviders(l *loaded, log *slog.Logger) (*providers, error) {
	p := &providers{byName: map[string]engine.Provider{}, log: log}
	for _, name := range l.usedProviders() {
		if err := p.open(name, l.Providers[name]); err != nil {
			return nil, errors.Join(fmt.Errorf("provider %s: %w", name, err), p.close())
		}
	}
	return p, nil
}

// usedProviders are the names that stand before the slash in the bots' models.
func (l *loaded) usedProviders() (names []string) {
	for _, b := range l.Bots {
		for _, m := range b.Models {
			name, _, _ := strings.Cut(m, "/")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// open makes one.
func (p *providers) open(name string, c llm.Config) (err error) {
	made := engine.Provider{Config: c, KeyID: keyID(c.APIKey), Label: cmp.Or(labels()[name], name)}
	if _, keyVar, _ := llm.Known(name); keyVar != "" && c.APIKey == "" && len(c.Headers) == 0 {
		made.NoKey = true
	}
	switch c.Wire {
	case "anthropic":
		made.Provider, err = anthropic.New(c, nil)
	case "demo":
		if c.BaseURL, err = p.demoURL(); err == nil {
			made.Provider, err = openai.New(c, nil)
		}
	default:
		made.Provider, err = openai.New(c, nil)
	}
	if err != nil {
		return err
	}
	if name == "ollama" {
		made.Window = func(ctx context.Context, model string) int64 {
			return ollamaWindow(ctx, strings.TrimSuffix(strings.TrimSuffix(c.BaseURL, "/"), "/v1"), model)
		}
		made.WindowHint = "start Ollama with OLLAMA_CONTEXT_LENGTH set to that many tokens"
	}
	p.byName[name] = made
	return nil
}

// demoURL is where the demo's server listens; it is started when first asked for.
func (p *providers) demoURL() (string, error) {
	if p.demo == nil {
		server, err := demo.Start(demo.Default(), p.log)
		if err != nil {
			return "", err
		}
		p.demo = server
	}
	return p.demo.BaseURL(), nil
}

func (p *providers) close() error {
	if p.demo == nil {
		return nil
	}
	return p.demo.Close()
}

// keyID tells one key from another without telling the key.
func keyID(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}

// labels are what people call the services that are known.
func labels() map[string]string {
	return map[string]string{
		"openai": "OpenAI", "anthropic": "Anthropic", "openrouter": "OpenRouter", "groq": "Groq", "gemini": "Gemini",
		"mistral": "Mistral", "deepseek": "DeepSeek", "ollama": "Ollama", "lmstudio": "LM Studio", "demo": "the demo model",
	}
}
