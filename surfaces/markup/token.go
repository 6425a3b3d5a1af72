package markup

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// kind is what a token is.
type kind int

const (
	atom kind = iota // stays whole
	gap              // text between two things, which a cut in its place takes away
	open             // a span begins
	shut             // and ends
)

// quality is how good a place for a cut is.
type quality int

const (
	nowhere   quality = iota - 1 // no cut
	anywhere                     // between two characters as people see them
	wrap                         // where a line may be wrapped
	word                         // between words
	glue                         // between a heading and what it is the heading of
	line                         // between lines
	paragraph                    //
	qualities
)

// token is a piece of a message.
type token struct {
	kind kind
	q    quality // gap: how good it is to cut here. atom: how good it is to cut after it
	s    string  // atom, gap, open: the text
	end  string  // open: the text that ends it
	code bool    // open: of a code fence or span
}

// clusterMost bounds what must stay whole, in bytes: a character can carry any number of accents.
const clusterMost = 64

// clusters yields the characters of s as people see them, each with whether a line may be wrapped after it.
func clusters(s string) func(yield func(c string, mayWrap bool) bool) {
	return func(yield func(string, bool) bool) {
		for state := -1; s != ""; {
			var c string
			var bounds int
			c, s, bounds, state = uniseg.StepString(s, state)
			for len(c) > clusterMost {
				n := clusterMost
				for !utf8.RuneStart(c[n]) {
					n--
				}
				if !yield(c[:n], false) {
					return
				}
				c = c[n:]
			}
			if !yield(c, bounds&uniseg.MaskLine == uniseg.LineCanBreak) {
				return
			}
		}
	}
}

// width is a length in UTF-16 units.
func width(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
