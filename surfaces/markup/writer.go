package markup

import "strings"

// writer walks the tree and writes tokens.
type writer struct {
	d      dialect
	source []byte
	out    []token
	spans  []begun

	due    quality // the gap before whatever comes next; 0 = none
	glued  bool    // what comes next belongs to the heading before it
	quoted bool    // in a quote
	indent string  // of a list's further lines
	styled style   // what the text stands in
	before string  // the end of what was written, for pings
}

// style is what text can stand in once at most.
type style struct{ bold, italic, struck, linked bool }

// begun is a span whose end has not been written.
type begun struct {
	at     int    // its token
	before string // as it was
}

// pingMost is how much of what was written before is looked at for pings, in bytes.
const pingMost = 24

// newline begins a further line where the writer stands.
func (w *writer) newline() string {
	if w.quoted {
		return "\n" + w.d.quoteLine + w.indent
	}
	return "\n" + w.indent
}

// gap writes a place for a cut.
func (w *writer) gap(q quality, s string) {
	w.out = append(w.out, token{kind: gap, q: q, s: s})
	w.note(s)
}

// flush writes the gap that is due.
func (w *writer) flush() {
	q, s := w.due, w.newline()
	w.due = 0
	if q == 0 || len(w.out) == 0 {
		return
	}
	if q == paragraph && w.quoted {
		s = "\n" + strings.TrimRight(w.d.quoteLine, " ") + s
	} else if q == paragraph {
		s = "\n" + s
	}
	if w.glued {
		q, w.glued = glue, false
	}
	w.gap(q, s)
}

// atom writes what stays whole; q is how good it is to cut after it.
func (w *writer) atom(s string, q quality) {
	w.flush()
	s = w.d.disarm(w.before, s)
	w.out = append(w.out, token{kind: atom, q: q, s: s})
	w.note(s)
}

// open begins a span.
func (w *writer) open(p pair, code bool) {
	w.flush()
	w.spans = append(w.spans, begun{len(w.out), w.before})
	w.out = append(w.out, token{kind: open, s: p.open, end: p.end, code: code})
	if w.d.markdown {
		w.note(p.open)
	}
}

// shut ends the last span; one that holds nothing vanishes.
func (w *writer) shut() {
	b := w.spans[len(w.spans)-1]
	w.spans = w.spans[:len(w.spans)-1]
	p := w.out[b.at]
	if len(w.out) == b.at+1 {
		w.out, w.before = w.out[:b.at], b.before
		return
	}
	w.out = append(w.out, token{kind: shut})
	switch {
	case w.d.markdown:
		w.note(p.end)
	case p.code: // other tags leave no trace in the text
		w.note("\x00")
	}
}

// note keeps the end of what was written.
func (w *writer) note(s string) {
	w.before += s
	w.before = w.before[max(0, len(w.before)-pingMost):]
}
