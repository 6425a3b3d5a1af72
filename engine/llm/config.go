package llm

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Default is a section as CONTRACT.md §2 gives it.
func Default() Config {
	return Config{
		Wire:             "openai",
		FirstByteTimeout: 5 * time.Minute,
		IdleTimeout:      2 * time.Minute,
		Concurrency:      4,
	}
}

// Known gives the section of a provider that needs none, and the environment variable of its key
// ("" = needs none); ok is false for any other name, whose section must state its base_url.
func Known(name string) (c Config, keyVar string, ok bool) {
	c = Default()
	switch name {
	case "openai":
		c.BaseURL, keyVar = "https://api.openai.com/v1", "OPENAI_API_KEY"
	case "anthropic":
		c.Wire, c.BaseURL, keyVar = "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"
	case "openrouter":
		c.BaseURL, keyVar = "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"
	case "groq":
		c.BaseURL, keyVar = "https://api.groq.com/openai/v1", "GROQ_API_KEY"
	case "gemini":
		c.BaseURL, keyVar = "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"
	case "mistral":
		c.BaseURL, keyVar = "https://api.mistral.ai/v1", "MISTRAL_API_KEY"
	case "deepseek":
		c.BaseURL, keyVar = "https://api.deepseek.com", "DEEPSEEK_API_KEY"
	case "ollama":
		c = local(c, OllamaURL(""))
	case "lmstudio":
		c = local(c, "http://127.0.0.1:1234/v1")
	case "demo":
		c.Wire = "demo"
	default:
		return Config{}, "", false
	}
	return c, keyVar, true
}

// local is the section of a server on the same machine: it may have to load its model first, and
// answers one request at a time.
func local(c Config, base string) Config {
	c.BaseURL, c.FirstByteTimeout, c.Concurrency = base, 10*time.Minute, 1
	return c
}

// OllamaURL is the base address for a value of OLLAMA_HOST as Ollama reads it: "", HOST, HOST:PORT,
// :PORT, or an address with scheme; 0.0.0.0 is where it listens and not where it is asked.
func OllamaURL(host string) string {
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	scheme, rest, ok := strings.Cut(host, "://")
	port := "11434"
	switch {
	case !ok:
		scheme, rest = "http", host
	case scheme == "https":
		port = "443"
	case scheme == "http":
		port = "80"
	}
	rest, path, _ := strings.Cut(rest, "/")
	name := rest
	if h, p, err := net.SplitHostPort(rest); err == nil {
		name = h
		if n, err := strconv.Atoi(p); err == nil && n > 0 && n < 1<<16 {
			port = p
		}
	}
	name = strings.Trim(name, "[]")
	switch name {
	case "", "0.0.0.0", "::":
		name = "127.0.0.1"
	}
	base := scheme + "://" + net.JoinHostPort(name, port)
	if path = strings.Trim(path, "/"); path != "" {
		base += "/" + path
	}
	return strings.TrimSuffix(base, "/v1") + "/v1"
}

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	if c.Wire != "openai" && c.Wire != "anthropic" && c.Wire != "demo" {
		problem("wire", `must be "openai", "anthropic" or "demo"`)
	}
	if what := badURL(c.BaseURL, c.Wire); what != "" && c.Wire != "demo" {
		problem("base_url", what)
	}
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		problem("api_key", "must not contain spaces or line breaks; write only the key")
	}
	if c.FirstByteTimeout <= 0 {
		problem("first_byte_timeout", `must be longer than 0; write for example "5m"`)
	}
	if c.IdleTimeout <= 0 {
		problem("idle_timeout", `must be longer than 0; write for example "2m"`)
	}
	if c.Concurrency < 1 {
		problem("concurrency", "must be at least 1")
	}
	if c.DailyRequests < 0 {
		problem("daily_requests", "must be 0 (no limit) or more")
	}
	for name, value := range c.Headers {
		if what := badHeader(name, value); what != "" {
			problem("headers."+name, what)
		}
	}
}

// badURL says what is wrong with a base address; "" = nothing. It never repeats the address, which may hold a key.
func badURL(base, wire string) string {
	if base == "" {
		return `is missing; write where the service is, for example "http://127.0.0.1:8000/v1"`
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return `must be an http or https address, for example "http://127.0.0.1:8000/v1"`
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "must not have a query or fragment; a key belongs into api_key or headers"
	}
	if u.User != nil {
		return "must not hold a user or password; write them into headers"
	}
	path := strings.TrimRight(u.Path, "/")
	if wire != "anthropic" && strings.HasSuffix(path, "/chat/completions") {
		return "must end before /chat/completions"
	}
	if wire != "openai" && strings.HasSuffix(path, "/v1/messages") {
		return "must end before /v1/messages"
	}
	return ""
}

// badHeader says what is wrong with a header of the section; "" = nothing.
func badHeader(name, value string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) {
		return "is not a header's name"
	}
	if strings.EqualFold(name, "Idempotency-Key") || strings.EqualFold(name, "X-Idempotency-Key") {
		return "must not be set: with it the HTTP library would repeat requests uncounted"
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return "must not contain line breaks"
	}
	return ""
}
