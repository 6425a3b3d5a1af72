package engine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitModel cuts PROVIDER/MODEL at the first slash.
func splitModel(m string) (provider, model string) {
	provider, model, _ = strings.Cut(m, "/")
	return provider, model
}

// capital makes a sentence of a clause.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
