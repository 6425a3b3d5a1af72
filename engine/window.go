package engine

import (
	"context"
	"time"
)

const (
	windowEvery = 5 * time.Minute // how often a service is asked with how much context it has loaded a model
	windowWait  = time.Second     // how long it may take to say
)

// windowSeen is what a service has said of a model, and when; 0 = it did not know.
type windowSeen struct {
	tokens int64
	at     time.Time
}

// window is how many tokens of context a local service has loaded a model with, 0 if it is not known. What
// is longer such a service cuts off at the beginning without a word, so the context is kept below it, and the log says how
// to raise it.
func (e *Engine) window(ctx context.Context, model string, bot *Bot) int64 {
	e.mu.Lock()
	s, was := e.serviceOf(model), e.windows[model]
	e.mu.Unlock()
	if s == nil || s.Window == nil {
		return 0
	}
	if !was.at.IsZero() && time.Since(was.at) < windowEvery && was.tokens != 0 {
		return was.tokens
	}
	ctx, cancel := context.WithTimeout(ctx, windowWait)
	defer cancel()
	_, name := splitModel(model)
	seen := windowSeen{tokens: s.Window(ctx, name), at: time.Now()}
	if seen.tokens == 0 { // not loaded at the moment, or no answer: what was said before is the best guess
		return was.tokens
	}
	e.mu.Lock()
	e.windows[model] = seen
	e.mu.Unlock()
	if seen.tokens < int64(bot.ContextTokens) && seen.tokens != was.tokens {
		e.Log.Warn("the model is loaded with less context than the bot may use", "model", model, "loaded", seen.tokens, "context_tokens", bot.ContextTokens, "raise_it", s.WindowHint)
	}
	return seen.tokens
}
