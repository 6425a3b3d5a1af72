package markup

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" // what a backslash can stand before

var entity = regexp.MustCompile(`^&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)

// meant yields what source text means piece by piece, with whether it stood there as an escape or an
// entity.
func meant(source string) func(yield func(s string, escaped bool) bool) {
	return func(yield func(string, bool) bool) {
		for source != "" {
			n, s, escaped := piece(source)
			if !yield(s, escaped) {
				return
			}
			source = source[n:]
		}
	}
}

// piece reads the first n bytes of source text.
func piece(source string) (n int, s string, escaped bool) {
	at := strings.IndexAny(source, `\&`)
	switch {
	case at < 0:
		return len(source), source, false
	case at > 0:
		return at, source[:at], false
	case source[0] == '\\' && len(source) > 1 && strings.IndexByte(punctuation, source[1]) >= 0:
		return 2, source[1:2], true
	}
	if e := entity.FindString(source); e != "" {
		if s := html.UnescapeString(e); s != e {
			return len(e), strings.Join(strings.Fields(clean(s)), " "), true
		}
	}
	return 1, source[:1], false
}

// resolved writes the source from start to stop as it is meant; what was escaped stays so where a
// platform would read more into it.
func (w *writer) resolved(start, stop int) {
	prev, _ := utf8.DecodeLastRune(w.source[:start])
	next, _ := utf8.DecodeRune(w.source[stop:])
	before := string(prev)
	for s, escaped := range meant(string(w.source[start:stop])) {
		w.run(s, escaped, before, string(next))
		before = s
	}
}

// plain writes text in which nothing is a mark.
func (w *writer) plain(s string) {
	for i, l := range strings.Split(s, "\n") {
		if i > 0 {
			w.gap(line, w.newline())
		}
		for c := range clusters(l) {
			w.run(c, strings.Contains("`*_[]<>|~#\\", c), "", "")
		}
	}
}

// run writes text that stands between before and after; escaped says that its signs must not become
// marks.
func (w *writer) run(s string, escaped bool, before, after string) {
	type char struct {
		c string
		q quality
	}
	var all []char
	for c, mayWrap := range clusters(s) {
		q := anywhere
		if mayWrap {
			q = wrap
		}
		all = append(all, char{c, q})
	}
	for i, x := range all {
		next := after
		if i+1 < len(all) {
			next = all[i+1].c
		}
		if x.c == " " && before != " " && len(w.out) > 0 {
			w.flush()
			w.gap(word, x.c)
		} else {
			mark := escaped && len(x.c) == 1 && strings.Contains(punctuation, x.c)
			w.atom(w.unnamed(w.d.text(x.c, mark, before, next)), x.q)
		}
		before = x.c
	}
}

// unnamed breaks up a name that c would begin behind an @ which is no part of an address.
func (w *writer) unnamed(c string) string {
	head, ok := strings.CutSuffix(w.before, "@")
	r, _ := utf8.DecodeLastRuneInString(head)
	if ok && w.d.names && wordy(c) && (head == "" || !wordy(string(r))) {
		return "\u200b" + c
	}
	return c
}

// uncut writes a short piece of code that stays whole.
func (w *writer) uncut(s string) {
	for c := range clusters(s) {
		w.atom(w.d.inCode(c), nowhere)
	}
	w.out[len(w.out)-1].q = anywhere
}

// code writes one line of code. The spaces between words are places for a cut, those of its indent
// are not.
func (w *writer) code(s string) {
	blank := true
	for c := range clusters(s) {
		if c == " " && !blank {
			w.gap(word, c)
			blank = true
			continue
		}
		blank = c == " "
		w.atom(w.d.inCode(c), anywhere)
	}
}
