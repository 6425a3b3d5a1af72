package markup

import (
	"slices"
	"strings"
)

// pack lays tokens out in parts within the limit. It cuts at a paragraph, line or word in the second
// half of a part if there is one, else at the best place there is. Spans that are open at a cut are
// ended and begun again.
func pack(tokens []token, d dialect) []string {
	var parts []string
	var spans []token // open where the next part begins
	for at, q := 0, paragraph; ; {
		at, spans = skip(tokens, at, spans)
		if at == len(tokens) {
			return parts
		}
		guard := ""
		if d.markdown && q < glue && !slices.ContainsFunc(spans, func(s token) bool { return s.code }) {
			guard = guardOf(tokens[at:])
		}
		var end int
		end, q = fit(tokens, at, spans, d.limit-width(guard))
		var s string
		s, spans = lay(tokens[at:end], spans, guard)
		if strings.TrimSpace(strings.ReplaceAll(s, "\u200b", "")) != "" {
			parts = append(parts, s)
		}
		at = end
	}
}

// skip passes over what must not begin a part: gaps, and the ends of spans that would be empty.
func skip(tokens []token, at int, spans []token) (int, []token) {
	for ; at < len(tokens); at++ {
		switch tokens[at].kind {
		case gap:
		case shut:
			spans = spans[:len(spans)-1]
		default:
			return at, spans
		}
	}
	return at, spans
}

// guardOf keeps the first word of a part from becoming a heading, quote or list, which it would not
// have been where it stood.
func guardOf(tokens []token) string {
	for _, t := range tokens {
		if t.kind == atom {
			if strings.ContainsAny(t.s[:1], "#>-+*=0123456789") || strings.HasPrefix(t.s, "&gt;") {
				return "\u200b"
			}
			return ""
		}
	}
	return ""
}

// fit finds where a part that begins at a token must end, and how good that place is.
func fit(tokens []token, at int, spans []token, limit int) (int, quality) {
	size, ends := 0, 0
	for _, s := range spans {
		size, ends = size+width(s.s), ends+width(s.end)
	}
	spans = slices.Clone(spans)
	var cuts, sizes [qualities]int
	filled := false
	cut := func(q quality, i int) {
		if filled && q != nowhere {
			cuts[q], sizes[q] = i, size+ends
		}
	}
	for i := at; i < len(tokens); i++ {
		t := tokens[i]
		switch t.kind {
		case gap:
			cut(t.q, i)
			size += width(t.s)
		case open:
			spans = append(spans, t)
			size, ends = size+width(t.s), ends+width(t.end)
		case shut:
			last := spans[len(spans)-1]
			spans = spans[:len(spans)-1]
			size, ends = size+width(last.end), ends-width(last.end)
		case atom:
			if size+ends+width(t.s) > limit && filled {
				return choose(cuts, sizes, limit)
			}
			size, filled = size+width(t.s), true
			cut(t.q, i+1)
		}
	}
	return len(tokens), paragraph
}

// choose takes the best cut that leaves no small part; else the best there is.
func choose(cuts, sizes [qualities]int, limit int) (int, quality) {
	for _, least := range []int{limit / 2, 1} {
		for q := qualities - 1; q >= anywhere; q-- {
			if cuts[q] > 0 && sizes[q] >= least {
				return cuts[q], q
			}
		}
	}
	return cuts[anywhere], anywhere
}

// lay writes one part and returns the spans that are open at its end. What would be empty, or stand
// at an edge for nothing, is left out.
func lay(tokens []token, spans []token, guard string) (string, []token) {
	var b strings.Builder
	var held []token // gaps and begins that wait for something to follow
	spans = slices.Clone(spans)
	for _, s := range spans {
		b.WriteString(s.s)
	}
	for _, t := range tokens {
		switch t.kind {
		case gap:
			held = append(held, t)
		case open:
			held = append(held, t)
			spans = append(spans, t)
		case shut:
			held = write(&b, held)
			b.WriteString(spans[len(spans)-1].end)
			spans = spans[:len(spans)-1]
		case atom:
			held = write(&b, held)
			b.WriteString(guard + t.s)
			guard = ""
		}
	}
	begun := spans
	for _, t := range held {
		if t.kind == open { // nothing stands in it
			begun = begun[:len(begun)-1]
		}
	}
	for _, s := range slices.Backward(begun) {
		b.WriteString(s.end)
	}
	return b.String(), spans
}

func write(b *strings.Builder, held []token) []token {
	for _, t := range held {
		b.WriteString(t.s)
	}
	return held[:0]
}
