package mcp

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"sync"

	"holdfast/engine/tool"
)

// longestLine is how much of a line that a program writes is kept, in bytes.
const longestLine = 2 << 10

// lastWords takes a program's standard error line by line to the log, at debug, and keeps the last
// line, which often says why the program has ended.
type lastWords struct {
	hide hider
	log  *slog.Logger

	mu   sync.Mutex
	part []byte // a line without its end yet
	line string
}

// Write takes any part of lines; it never fails.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		w.part = append(w.part, line[:min(len(line), longestLine-len(w.part))]...)
		if whole {
			w.flush()
		}
		rest = after
	}
	return len(p), nil
}

func (w *lastWords) flush() {
	text := w.hide.from(tool.OneLine(string(w.part), longestLine))
	w.part = w.part[:0]
	if text == "" {
		return
	}
	w.line = text
	w.log.Debug("tool server says", "text", text)
}

// last is the last line, whole or not.
func (w *lastWords) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		w.flush()
	}
	return w.line
}

// messages gives only those lines of a program's standard output that can be messages of the protocol.
// Programs that print a greeting there break the protocol; here that goes to the log instead.
type messages struct {
	in     *bufio.Reader
	stray  io.Writer
	inside bool // in the middle of a line that is handed on
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for !m.inside {
		first, err := m.in.Peek(1)
		if err != nil {
			return 0, err
		}
		if first[0] == '{' || first[0] == '[' {
			m.inside = true
			break
		}
		line, err := m.in.ReadSlice('\n')
		m.stray.Write(line)
		for err == bufio.ErrBufferFull {
			_, err = m.in.ReadSlice('\n')
		}
		if err != nil {
			return 0, err
		}
		m.stray.Write([]byte("\n")) // which the first part of a long line has not
	}
	if m.in.Buffered() == 0 {
		if _, err := m.in.Peek(1); err != nil {
			return 0, err
		}
	}
	ready, _ := m.in.Peek(min(m.in.Buffered(), len(p)))
	if end := bytes.IndexByte(ready, '\n'); end >= 0 {
		ready = ready[:end+1]
		m.inside = false
	}
	n := copy(p, ready)
	m.in.Discard(n)
	return n, nil
}
