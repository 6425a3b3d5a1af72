package mcp

import (
	"cmp"
	"net/url"
	"regexp"
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

// secretsOf are the values of env, what an address carries behind scheme and host, and arguments that
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
	for _, s := range secretsIn(c.URL) {
		add(s)
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

// plainSegment is what a path may hold in clear: how servers name the place they speak at. Everything
// else may be a key: hosted servers are often addressed by one.
var plainSegment = regexp.MustCompile(`^(mcp|sse|api|rpc|v\d+)?$`)

// shownWord is a segment that is hidden only as a part of its path: alone it would be taken out of
// texts that have nothing to do with the address.
var shownWord = regexp.MustCompile(`^[a-z]+([-_][a-z]+)*$`)

// longestWord is how long, in bytes, such a segment is at most; what is longer is a key of letters.
const longestWord = 16

// secretsIn are a user, a password, the path and its segments, and the query of an address, each as it
// is written and as it is meant.
func secretsIn(address string) (list []string) {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return nil
	}
	password, _ := u.User.Password()
	list = append(list, u.User.Username(), password, u.RawQuery, u.Fragment)
	for name, values := range u.Query() {
		list = append(list, values...)
		if !slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			list = append(list, name) // ?KEY
		}
	}
	for _, path := range []string{u.EscapedPath(), u.Path} {
		segments := strings.Split(path, "/")
		if !slices.ContainsFunc(segments, func(s string) bool { return !plainSegment.MatchString(s) }) {
			continue
		}
		list = append(list, path)
		for _, s := range segments {
			if !plainSegment.MatchString(s) && (len(s) > longestWord || !shownWord.MatchString(s)) {
				list = append(list, s)
			}
		}
	}
	return list
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
