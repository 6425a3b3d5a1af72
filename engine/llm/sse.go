package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxLine bounds one line of a stream; a provider's longest chunk is a few hundred KB.
const maxLine = 4 << 20

// errLineTooLong ends a stream whose line does not end.
var errLineTooLong = errors.New("the stream has a line of more than 4 MB")

// lineReader cuts a stream into lines at CRLF, LF or CR, as the HTML standard (9.2.5) has them,
// without waiting for the byte after a CR. A byte order mark at the start is skipped.
type lineReader struct {
	src    *bufio.Reader
	begun  bool  // the byte order mark has been looked for
	skipLF bool  // the last line ended with CR: an LF now belongs to it
	ended  error // what ended the stream
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{src: bufio.NewReaderSize(r, 16<<10)}
}

// next gives one line without its end. A last line that lacks its end is given too, with
// partial set; after it comes the error that ended the stream, io.EOF for a clean end.
func (l *lineReader) next() (line string, partial bool, err error) {
	if l.ended != nil {
		return "", false, l.ended
	}
	var buf []byte
	for {
		if _, l.ended = l.src.Peek(1); l.ended != nil {
			if len(buf) > 0 {
				return l.withoutMark(string(buf)), true, nil
			}
			return "", false, l.ended
		}
		b, _ := l.src.Peek(l.src.Buffered())
		if l.skipLF {
			l.skipLF = false
			if b[0] == '\n' {
				l.discard(1)
				continue
			}
		}
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			buf = append(buf, b...)
			l.discard(len(b))
		} else {
			buf = append(buf, b[:i]...)
			l.skipLF = b[i] == '\r'
			l.discard(i + 1)
		}
		if len(buf) > maxLine {
			l.ended = errLineTooLong
			return "", false, l.ended
		}
		if i >= 0 {
			return l.withoutMark(string(buf)), false, nil
		}
	}
}

// discard drops n buffered bytes, which cannot fail.
func (l *lineReader) discard(n int) { _, _ = l.src.Discard(n) }

// withoutMark takes the byte order mark off the first line.
func (l *lineReader) withoutMark(line string) string {
	if l.begun {
		return line
	}
	l.begun = true
	return strings.TrimPrefix(line, "\ufeff")
}

// sseEvent is one event of a stream.
type sseEvent struct {
	name string // "" = not named
	data string // its data lines, joined with line feeds
}

// parts are the data lines of an event of which each is a JSON object of its own, as events: some
// servers spare the empty lines between them. The name is the last one's, since it was kept as the
// last. nil = this is one event.
func (e sseEvent) parts() []sseEvent {
	if !strings.Contains(e.data, "\n") {
		return nil
	}
	var all []sseEvent
	for line := range strings.Lines(e.data) {
		line = strings.TrimSpace(line)
		if line != "[DONE]" && (!strings.HasPrefix(line, "{") || !json.Valid([]byte(line))) {
			return nil
		}
		all = append(all, sseEvent{data: line})
	}
	all[len(all)-1].name = e.name
	return all
}

// sseKind says what a line of a stream is.
type sseKind int

const (
	sseEnd     sseKind = iota // empty: ends an event
	sseComment                // begins with a colon
	sseField                  // data, event, id, retry
	sseError                  // a field named error, which some servers use instead of data
	sseBare                   // anything else
)

// cutField cuts a line into field name and value and says what it is.
func cutField(line string) (kind sseKind, name, value string) {
	if line == "" {
		return sseEnd, "", ""
	}
	name, value, _ = strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "":
		return sseComment, "", value
	case "data", "event", "id", "retry":
		return sseField, name, value
	case "error":
		return sseError, name, value
	}
	return sseBare, "", line
}

// sseAssembler joins lines to events. The zero value is ready.
type sseAssembler struct {
	event sseEvent
	data  []string
}

// take reads one line; whole is true when it ended an event that has data.
func (a *sseAssembler) take(line string) (e sseEvent, whole bool) {
	kind, name, value := cutField(line)
	switch {
	case kind == sseEnd:
		return a.flush()
	case kind == sseField && name == "data":
		a.data = append(a.data, value)
	case kind == sseField && name == "event":
		a.event.name = value
	}
	return sseEvent{}, false
}

// flush gives the event that is begun, if it has data: at an empty line, and at the end of a
// stream that spares the last empty line.
func (a *sseAssembler) flush() (e sseEvent, whole bool) {
	e, whole = a.event, len(a.data) > 0
	if len(a.data) == 1 {
		e.data = a.data[0]
	} else {
		e.data = strings.Join(a.data, "\n")
	}
	a.event, a.data = sseEvent{}, a.data[:0]
	return e, whole
}
