package llm

import (
	"net/http"
	"net/url"
	"sort"
	"strings"
)

// hidden stands where a secret stood.
const hidden = "[hidden]"

// secrets are the exact texts that must not leave a provider's client, longest first (S5).
type secrets []string

// secretsOf gathers what a section and its headers hold: the key, every header that is not plainly
// harmless, and what the address carries.
func secretsOf(c Config, header http.Header) secrets {
	found := map[string]bool{}
	add := func(s string) {
		if len(s) >= 6 {
			found[s] = true
			found[url.QueryEscape(s)] = true
		}
	}
	add(c.APIKey)
	for name, values := range header {
		if harmless(name) {
			continue
		}
		for _, v := range values {
			add(v)
			if _, token, ok := strings.Cut(v, " "); ok {
				add(token)
			}
		}
	}
	if u, err := url.Parse(c.BaseURL); err == nil {
		if password, ok := u.User.Password(); ok {
			add(password)
		}
		for name, values := range u.Query() {
			for _, v := range values {
				if secretName(name) {
					add(v)
				}
			}
		}
	}
	var s secrets
	for text := range found {
		s = append(s, text)
	}
	sort.Slice(s, func(i, j int) bool { return len(s[i]) > len(s[j]) })
	return s
}

// harmless headers never carry a secret and may be words that texts contain.
func harmless(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Type", "Accept", "User-Agent", "Anthropic-Version", "Anthropic-Beta", "Http-Referer", "Referer",
		"X-Title", "Host", "Accept-Language", "Openai-Beta":
		return true
	}
	return false
}

// remove takes the secrets out, and whatever looks like one.
func (s secrets) remove(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return scrub(text)
}

// scrub takes out what looks like a secret whoever it belongs to: bearer tokens, keys in an
// address, user:password@, and words that begin as the keys of known services do.
func scrub(text string) string {
	if !strings.ContainsAny(text, "-_=@ ") && len(text) < 20 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	afterBearer := false
	for len(text) > 0 {
		n := strings.IndexFunc(text, breaksWord)
		if n == 0 {
			b.WriteByte(text[0])
			if text[0] != ' ' && text[0] != ':' {
				afterBearer = false
			}
			text = text[1:]
			continue
		}
		if n < 0 {
			n = len(text)
		}
		word := text[:n]
		text = text[n:]
		switch {
		case afterBearer && looksLikeToken(word), looksLikeKey(word):
			b.WriteString(hidden)
		default:
			b.WriteString(scrubURL(word))
		}
		afterBearer = strings.EqualFold(word, "bearer") || strings.EqualFold(word, "basic")
	}
	return b.String()
}

// breaksWord reports what ends a word for scrub; only ASCII, so that a cut never splits a character.
func breaksWord(r rune) bool {
	switch r {
	case ' ', '\t', '\r', '\n', '"', '\'', '`', ',', ';', '(', ')', '<', '>', '{', '}', '[', ']', '\\', '|':
		return true
	}
	return false
}

// looksLikeToken tells a token from the words that may follow "bearer".
func looksLikeToken(word string) bool {
	return len(word) >= 24 || len(word) >= 10 && strings.ContainsAny(word, "0123456789")
}

// looksLikeKey knows keys by how they begin; a masked key (sk-ab***xy) is hidden as well.
func looksLikeKey(word string) bool {
	word = strings.TrimPrefix(strings.TrimPrefix(word, "key="), "key:")
	for _, p := range []string{"sk-", "sk_", "gsk_", "xai-", "hf_", "AIza", "eyJ", "nvapi-", "pplx-", "csk-", "tgp_",
		"fw_", "r8_", "xoxb-", "xapp-", "AKIA", "ASIA"} {
		if strings.HasPrefix(word, p) && len(word) >= len(p)+6 {
			return true
		}
	}
	return false
}

// scrubURL hides user:password@ and the values of secret query parameters in a word.
func scrubURL(word string) string {
	if i := strings.Index(word, "://"); i >= 0 {
		rest := word[i+3:]
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
			word = word[:i+3] + hidden + rest[at:]
		}
	}
	if !strings.Contains(word, "=") {
		return word
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '&' || r == '?' })
	for _, p := range parts {
		name, value, ok := strings.Cut(p, "=")
		if ok && value != "" && secretName(name) {
			word = strings.Replace(word, p, name+"="+hidden, 1)
		}
	}
	return word
}

// secretName reports whether a parameter of that name carries a secret.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{"key", "token", "secret", "password", "signature", "sig", "auth", "credential"} {
		if name == s || strings.HasSuffix(name, "-"+s) || strings.HasSuffix(name, "_"+s) || name == "api"+s || name == "access"+s {
			return true
		}
	}
	return false
}
