package web

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   []string // "key: words"
	}{
		{"default", func(*Config) {}, nil},
		{"localhost", func(c *Config) { c.Listen = "localhost:0" }, nil},
		{"IPv6", func(c *Config) { c.Listen = "[::1]:8420" }, nil},
		{"open", func(c *Config) { c.Listen = "0.0.0.0:8420" }, []string{`listen: add under [web]: public_url = "http://THIS-MACHINE:8420"`}},
		{"open without a host", func(c *Config) { c.Listen = ":80" }, []string{`listen: public_url = "http://THIS-MACHINE"`}},
		{"open by name", func(c *Config) { c.Listen = "192.168.1.5:8420" }, []string{`listen: public_url = "http://192.168.1.5:8420"`}},
		{"open and known", func(c *Config) { c.Listen, c.PublicURL = ":8420", "http://box.lan:8420" }, nil},
		{"no port", func(c *Config) { c.Listen = "127.0.0.1" }, []string{`listen: is not HOST:PORT; write for example "127.0.0.1:8420"`}},
		{"port too high", func(c *Config) { c.Listen = "127.0.0.1:99999" }, []string{"listen: has no port"}},
		{"public_url with a path", func(c *Config) { c.PublicURL = "https://a.example/chat" }, []string{"public_url: served at the root"}},
		{"public_url without a scheme", func(c *Config) { c.PublicURL = "a.example" }, []string{"public_url: not an http or https address"}},
		{"public_url with a slash", func(c *Config) { c.PublicURL = "https://a.example/" }, nil},
		{"public_url with a password", func(c *Config) { c.PublicURL = "https://u:p@a.example" }, []string{"public_url: must not hold a user"}},
		{"token", func(c *Config) { c.Token = "two words" }, []string{"token: without spaces"}},
		{"token too short", func(c *Config) { c.Token = "open123" }, []string{"token: at least 8 characters"}},
		{"token just long enough", func(c *Config) { c.Token = "open1234" }, nil},
		{"tools without visitors", func(c *Config) { c.PublicTools = []string{"time"} }, []string{"public_tools: write public"}},
		{"codes without visitors", func(c *Config) { c.Codes = map[string]string{"al": "12345678"} }, []string{"codes: write public"}},
		{"codes", func(c *Config) {
			c.Public, c.Codes = "ada", map[string]string{"al": "12345678", "bo": "12345678", "cy": "1"}
		}, []string{"codes.bo: same as that of al", "codes.cy: at least 8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := Default()
			c.change(&config)
			var got []string
			config.Validate(func(key, what string) { got = append(got, key+": "+what) })
			ok := len(got) == len(c.want)
			for i := 0; ok && i < len(got); i++ {
				key, words, _ := strings.Cut(c.want[i], ": ")
				ok = strings.HasPrefix(got[i], key+": ") && strings.Contains(got[i], words)
			}
			if !ok {
				t.Errorf("problems %q, want %q", got, c.want)
			}
			if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "12345678") }) {
				t.Errorf("a secret is told: %q", got)
			}
		})
	}
}

func TestRate(t *testing.T) {
	for in, want := range map[string]Rate{"20/h": {20, time.Hour}, "500/d": {500, 24 * time.Hour}, " 1 / d ": {1, 24 * time.Hour}, "0/h": {0, time.Hour}} {
		var r Rate
		if err := r.UnmarshalText([]byte(in)); err != nil || r != want {
			t.Errorf("%q = %v, %v, want %v", in, r, err, want)
		}
	}
	for _, in := range []string{"", "20", "20/m", "-1/h", "x/h", "1.5/h", "20/h/d"} {
		var r Rate
		if err := r.UnmarshalText([]byte(in)); err == nil || !strings.Contains(err.Error(), `"20/h"`) {
			t.Errorf("%q: %v", in, err)
		}
	}
	if b, _ := (Rate{20, time.Hour}).MarshalText(); string(b) != "20/h" {
		t.Errorf("MarshalText = %s", b)
	}
}
