package mcp

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"holdfast/engine/tool"
)

// hidden stands where a secret stood.
const hidden = "[hidden]"

// shortestSecret is how long a value must be, in bytes, to be looked for: shorter ones are words.
const shortestSecret = 6

// hider takes the secrets of a section out of texts: longest first, so that none is left in part.
type hider []string

// secretsOf are the values of env, what an address carries besides host and path, and arguments that
// are named like a secret.
func secretsOf(c tool.Config) (h hider) {
	add := func(s string) {
		if len(s) >= shortestSecret {
			h = append(h, s, url.QueryEscape(s))
		}
	}
	for _, v := range c.Env {
		add(v)
	}
	if u, err := url.Parse(c.URL); err == nil && c.URL != "" {
		password, _ := u.User.Password()
		add(u.User.Username())
		add(password)
		for _, values := range u.Query() {
			for _, v := range values {
				add(v)
			}
		}
	}
	for i, arg := range c.Command {
		name, value, both := strings.Cut(arg, "=")
		switch {
		case i == 0 || !secretName(name):
		case both:
			add(value)
		case strings.HasPrefix(arg, "-") && i+1 < len(c.Command):
			add(c.Command[i+1])
		}
	}
	slices.SortFunc(h, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(h)
}

// secretName reports whether an argument of that name carries a secret.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{"key", "token", "secret", "password", "passwd", "auth", "credential", "bearer", "dsn"} {
		if strings.HasSuffix(strings.TrimSuffix(name, "s"), s) {
			return true
		}
	}
	return false
}

// from gives the text without the secrets.
func (h hider) from(text string) string {
	for _, secret := range h {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}
