package llm

import (
	"strings"
)

// has reports whether a text in small letters holds one of the phrases. A star in a phrase stands
// for up to 80 characters of the same sentence.
func has(text string, phrases ...string) bool {
	for _, p := range phrases {
		if matches(text, p) {
			return true
		}
	}
	return false
}

func matches(text, phrase string) bool {
	head, rest, star := strings.Cut(phrase, "*")
	for {
		i := strings.Index(text, head)
		if i < 0 {
			return false
		}
		text = text[i+len(head):]
		if !star {
			return true
		}
		if matches(sentence(text[:min(len(text), 80+len(rest))]), rest) {
			return true
		}
	}
}

// sentence is a text up to the end of its first sentence.
func sentence(text string) string {
	for _, end := range []string{". ", "! ", "| ", ": "} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}

// words is what a layer says in small letters, white space folded, addresses left out (a link to
// a billing page is an offer and no reason), with a space at both ends.
func words(texts []string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, t := range texts {
		if len(t) > 16<<10 {
			t = t[:16<<10]
		}
		for _, w := range strings.Fields(plainQuotes(strings.ToLower(t))) {
			if i := strings.Index(w, "://"); i >= 0 {
				w = "…"
			}
			b.WriteString(w)
			b.WriteByte(' ')
		}
		b.WriteString("| ")
	}
	return b.String()
}

// plainQuotes makes one apostrophe of two and drops backticks, in which some services set names.
func plainQuotes(t string) string { return strings.NewReplacer("’", "'", "`", "").Replace(t) }

// transientText: what passes by itself, named by words.
func transientText(t string, status int) Class {
	client := status >= 400 && status < 500 && status != 429 && status != 408 && status != 409 && status != 498
	switch {
	case has(t, "rate limit", "rate-limit", "rate_limit", "ratelimit", "too many requests", "too many concurrent",
		"too many tokens", "throttl", "requests per", "tokens per", "request limit", "token limit*per",
		"quota*per minute", "quota*per day", "concurrency limit", "concurrent request", "max rpm", "max tpm",
		"max organization concurrency", "resource has been exhausted", "resource exhausted", "request rate", " qps",
		"too quickly", "too frequent", "请求过多", "频率", "频繁", "速率",
		"并发", "限流"):
		return RateLimit
	case has(t, "overload", "over capacity", "at capacity", "maximum capacity", "no capacity", "no available capacity", "out of capacity", "lack of capacity",
		"insufficient capacity", "capacity*exceeded", "capacity constraint", "currently loading", "is loading",
		"still loading", "loading model", "being loaded", "model loading", "warming up", "cold start", "too busy",
		"server busy", "server is busy", "are busy", "system busy", "system is busy", "service busy",
		"service is busy", "model is busy", "model busy", "is currently busy", "high demand", "high traffic", "heavy load",
		"high load", "heavy traffic", "under load", "pending requests exceeded", "queue is full", "queue full",
		"no healthy upstream", "no available server", "no available worker", "no available channel",
		"no available instance", "no instances available", "no server is available", "no slot", "not ready", "繁忙", "过载",
		"负载", "访问量过大", "人数过多", "饱和"):
		return Overloaded
	case !client && status != 429 && has(t, "temporarily unavailable", "service unavailable", "currently unavailable",
		"unavailable due to", "server unavailable", "is unavailable", "暂时不可用", "无可用"):
		return Overloaded
	case client:
		if has(t, "request timed out", "request timeout", "deadline exceeded", "deadline expired", "gateway timeout") {
			return Timeout
		}
		return ""
	case has(t, "timed out", "timeout", "time-out", "deadline exceeded", "deadline expired", "took too long", "超时"):
		return Timeout
	}
	return ""
}
