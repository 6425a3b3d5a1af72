package llm

import (
	"strings"
	"testing"
	"time"
)

func TestKnown(t *testing.T) {
	for name, want := range map[string]struct {
		keyVar, host string
		first        time.Duration
		concurrency  int
	}{
		"openai":     {"OPENAI_API_KEY", "https://api.openai.com/", 5 * time.Minute, 4},
		"anthropic":  {"ANTHROPIC_API_KEY", "https://api.anthropic.com", 5 * time.Minute, 4},
		"openrouter": {"OPENROUTER_API_KEY", "https://openrouter.ai/", 5 * time.Minute, 4},
		"groq":       {"GROQ_API_KEY", "https://api.groq.com/", 5 * time.Minute, 4},
		"gemini":     {"GEMINI_API_KEY", "https://generativelanguage.googleapis.com/", 5 * time.Minute, 4},
		"mistral":    {"MISTRAL_API_KEY", "https://api.mistral.ai/", 5 * time.Minute, 4},
		"deepseek":   {"DEEPSEEK_API_KEY", "https://api.deepseek.com", 5 * time.Minute, 4},
		"ollama":     {"", "http://127.0.0.1:11434/v1", 10 * time.Minute, 1},
		"lmstudio":   {"", "http://127.0.0.1:1234/v1", 10 * time.Minute, 1},
		"demo":       {"", "", 5 * time.Minute, 4},
	} {
		c, keyVar, ok := Known(name)
		if !ok || keyVar != want.keyVar || !strings.HasPrefix(c.BaseURL, want.host) || c.FirstByteTimeout != want.first ||
			c.IdleTimeout != 2*time.Minute || c.Concurrency != want.concurrency {
			t.Errorf("%s: %+v %q %v", name, c, keyVar, ok)
		}
		c.Validate(func(key, what string) { t.Errorf("%s: %s %s", name, key, what) })
	}
	if c, _, ok := Known("acme"); ok || c.BaseURL != "" {
		t.Error("an unknown name is known")
	}
}

func TestValidate(t *testing.T) {
	good := Default()
	good.BaseURL = "http://127.0.0.1:8000/v1/"
	for name, c := range map[string]struct {
		change func(*Config)
		key    string
	}{
		"good":             {func(*Config) {}, ""},
		"wire":             {func(c *Config) { c.Wire = "grpc" }, "wire"},
		"wire and address": {func(c *Config) { c.Wire, c.BaseURL = "grpc", "localhost" }, "wire base_url"},
		"wire, whole path": {func(c *Config) { c.Wire, c.BaseURL = "grpc", "https://x.test/v1/messages" }, "wire base_url"},
		"no address":       {func(c *Config) { c.BaseURL = "" }, "base_url"},
		"no scheme":        {func(c *Config) { c.BaseURL = "localhost:8000" }, "base_url"},
		"ftp":              {func(c *Config) { c.BaseURL = "ftp://x/v1" }, "base_url"},
		"garbage":          {func(c *Config) { c.BaseURL = "http://a b\x7f" }, "base_url"},
		"a key in it":      {func(c *Config) { c.BaseURL = "https://x.test/v1?key=secret-31415" }, "base_url"},
		"a user in it":     {func(c *Config) { c.BaseURL = "https://u:secret-31415@x.test/v1" }, "base_url"},
		"whole path":       {func(c *Config) { c.BaseURL = "https://x.test/v1/chat/completions" }, "base_url"},
		"messages":         {func(c *Config) { c.Wire, c.BaseURL = "anthropic", "https://x.test/v1/messages/" }, "base_url"},
		"demo needs none":  {func(c *Config) { c.Wire, c.BaseURL = "demo", "" }, ""},
		"key with spaces":  {func(c *Config) { c.APIKey = "secret-31415\n" }, "api_key"},
		"first byte":       {func(c *Config) { c.FirstByteTimeout = 0 }, "first_byte_timeout"},
		"idle":             {func(c *Config) { c.IdleTimeout = -1 }, "idle_timeout"},
		"concurrency":      {func(c *Config) { c.Concurrency = 0 }, "concurrency"},
		"daily":            {func(c *Config) { c.DailyRequests = -1 }, "daily_requests"},
		"idempotency":      {func(c *Config) { c.Headers = map[string]string{"idempotency-key": "x"} }, "headers.idempotency-key"},
		"bad header":       {func(c *Config) { c.Headers = map[string]string{"a b": "x"} }, "headers.a b"},
		"bad value":        {func(c *Config) { c.Headers = map[string]string{"a": "x\ny"} }, "headers.a"},
	} {
		t.Run(name, func(t *testing.T) {
			section := good
			c.change(&section)
			var keys []string
			section.Validate(func(key, what string) {
				keys = append(keys, key)
				if what == "" || strings.Contains(what, "secret-31415") {
					t.Errorf("says %q", what)
				}
			})
			if got := strings.Join(keys, " "); got != c.key {
				t.Errorf("problems %q, want %q", got, c.key)
			}
		})
	}
}

func TestOllamaURL(t *testing.T) {
	for host, want := range map[string]string{
		"": "http://127.0.0.1:11434/v1", "0.0.0.0": "http://127.0.0.1:11434/v1", "0.0.0.0:9000": "http://127.0.0.1:9000/v1", ":9000": "http://127.0.0.1:9000/v1",
		"box": "http://box:11434/v1", "box:80": "http://box:80/v1", "http://box": "http://box:80/v1", "https://box": "https://box:443/v1",
		"https://box/ollama/": "https://box:443/ollama/v1", "[::1]": "http://[::1]:11434/v1", "[::1]:1": "http://[::1]:1/v1", " \"10.0.0.1\" ": "http://10.0.0.1:11434/v1",
		"http://box:11434/v1": "http://box:11434/v1", "box:99999": "http://box:11434/v1",
	} {
		if got := OllamaURL(host); got != want {
			t.Errorf("%q: %s, want %s", host, got, want)
		}
	}
}

// S5: what looks like a key is taken out of any text, whoever it belongs to; words stay.
func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-ab***********yz12. You can": "Incorrect API key provided: [hidden] You can",
		"Authorization: Bearer abc123def456":                        "Authorization: Bearer [hidden]",
		"Bearer authentication is required":                         "Bearer authentication is required",
		"see https://x.test/v1?key=AIzaSyA1234567&b=1":              "see https://x.test/v1?key=[hidden]&b=1",
		"https://me:pass@x.test/v1":                                 "https://[hidden]@x.test/v1",
		`{"api_key":"gsk_0123456789"}`:                              `{"api_key":"[hidden]"}`,
		"url 'https://x/y?alt=sse&access_token=abc' failed":         "url 'https://x/y?alt=sse&access_token=[hidden]' failed",
		"Müller – größer als 5 % ist in task-force-7 nicht drin":    "Müller – größer als 5 % ist in task-force-7 nicht drin",
		"eyJhbGciOi.eyJzdWIi.sig":                                   "[hidden]",
		"max_tokens=5 temperature=0.3":                              "max_tokens=5 temperature=0.3",
	} {
		if got := scrub(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("Bearer x", "sk-1234567890")
	f.Add("00002", "020000") // what stands before a hidden key and after it may be the key again
	f.Fuzz(func(t *testing.T, text, key string) {
		if len(key) < 6 {
			return
		}
		s := secretsOf(Config{APIKey: key}, nil)
		for _, shown := range strings.Split(s.remove(text+key+text), hidden) {
			if strings.Contains(shown, key) {
				t.Errorf("%q is still in %q", key, shown)
			}
		}
	})
}
