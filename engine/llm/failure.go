package llm

import (
	"fmt"
	"strings"
)

// Error gives class, status and the provider's words.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(string(f.Class))
	if f.Status != 0 {
		fmt.Fprintf(&b, " (%d)", f.Status)
	}
	if f.Text != "" {
		b.WriteString(": ")
		b.WriteString(f.Text)
	}
	return b.String()
}

// Plain is the failure in words for people: "is rate limiting", "is overloaded", "does not answer" …, to be put behind a service's name.
func (f *Failure) Plain() string {
	switch f.Class {
	case Canceled:
		return "was stopped"
	case Quota:
		return "has no credit left for this account"
	case TooLarge:
		return "cannot take so long a conversation"
	case Auth:
		return "does not accept its key"
	case Refused:
		if f.Status == 404 {
			return "does not offer this model"
		}
		return "will not answer this"
	case RateLimit:
		return "is rate limiting"
	case Overloaded:
		if f.Loading {
			return "is still loading its model"
		}
		return "is overloaded"
	case Timeout:
		return "does not answer"
	case Server:
		return "has a problem of its own"
	case Network:
		if f.Certificate {
			return "cannot be reached securely"
		}
		if f.Begun {
			return "broke off in the middle"
		}
		return "cannot be reached"
	}
	return "gave an answer that is none"
}

// oneLine is a text as Failure.Text holds it: white space folded, at most 300 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) <= 300 {
		return s
	}
	runes := []rune(s)
	if len(runes) <= 300 {
		return s
	}
	return string(runes[:299]) + "…"
}
