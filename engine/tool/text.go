package tool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut gives a text of at most max bytes that ends at a whole character and says how much was left out.
func Cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	const note = "\n[cut here: %d more bytes left out]"
	keep := whole(text, max-len(note)-len("18446744073709551615"))
	return text[:keep] + fmt.Sprintf(note, len(text)-keep)
}

// whole is the largest place of at most n at which text can be cut between characters.
func whole(text string, n int) int {
	n = max(0, min(n, len(text)))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// FirstLine is the first line of a text that says something, as OneLine gives it.
func FirstLine(text string, max int) string {
	for line := range strings.Lines(text) {
		if line = OneLine(line, max); line != "" {
			return line
		}
	}
	return ""
}

// OneLine is a text in one line of at most max bytes: what would move a terminal's cursor, or turn the
// direction of what stands beside it, is taken out.
func OneLine(text string, max int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= max {
		return text
	}
	return text[:whole(text, max-len("…"))] + "…"
}
