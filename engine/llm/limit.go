package llm

import "strings"

// limit is how many tokens a request may have, as the provider says; 0 = it does not.
func (r *reading) limit() int64 {
	for i := len(r.layers) - 1; i >= 0; i-- {
		l := r.layers[i]
		if l.limit > 0 {
			return l.limit
		}
		if n := statedLimit(words(l.texts)); n > 0 {
			return n
		}
	}
	return 0
}

// statedLimit reads the limit out of a sentence: the number behind or before the words that name it.
func statedLimit(t string) int64 {
	if !has(t, "token", "context", "length", "too long", "limit", "n_ctx") || has(t, "bytes", " mb") {
		return 0
	}
	for _, name := range []string{"context length", "context window", "context window limit", "context size",
		"model length", "prompt length", "input length", "maximum length", "max tokens allowed",
		"maximum number of tokens allowed", "max_seq_len", "n_ctx", "model token limit", "max input tokens"} {
		for _, joint := range []string{" is ", " of ", " is only ", " of only ", ": ", " ("} {
			if n := number(t, name+joint); n > 0 && !(name == "input length" && joint == " (") {
				return n
			}
		}
	}
	for _, phrase := range []string{"size limit of", "must have less than", "only supports up to", "exceeds the limit of",
		"exceeds limit of", "cannot exceed", "must be <=", "> ", "maximum length", "maximum of", "limit is", "limit of",
		"max size", "max_seq_len", "max_model_len", "max tokens of", "at most", "up to", "tokens allowed",
		"limit for this model is", "limit"} {
		if n := number(t, phrase); n > 0 {
			return n
		}
	}
	if i := strings.Index(t, "range of input length should be ["); i >= 0 {
		_, upper, _ := strings.Cut(t[i:], ",")
		return max(number(" is "+upper, "is"), 0)
	}
	if i := strings.Index(t, " maximum context length"); i >= 0 {
		return max(number("is "+lastWord(t[:i]), "is"), 0)
	}
	return 0
}

func lastWord(t string) string {
	fields := strings.Fields(t)
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// loading reports whether the model is still being loaded.
func (r *reading) loading() bool {
	for _, l := range r.layers {
		if has(words(l.texts), "loading", "being loaded", "warming up", "cold start") {
			return true
		}
		for _, n := range l.names {
			if n == "modelloading" || n == "modelnotready" {
				return true
			}
		}
	}
	return false
}
