package llm

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll reads a stream to its end.
func readAll(r io.Reader) (lines []string, events []sseEvent, err error) {
	l := newLineReader(r)
	var a sseAssembler
	for {
		line, _, err := l.next()
		if err != nil {
			if e, whole := a.flush(); whole {
				events = append(events, e)
			}
			return lines, events, err
		}
		lines = append(lines, line)
		if e, whole := a.take(line); whole {
			events = append(events, e)
		}
	}
}

func TestSSE(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []sseEvent
	}{
		"lf":                {"data: a\n\ndata: b\n\n", []sseEvent{{"", "a"}, {"", "b"}}},
		"crlf":              {"data: a\r\n\r\ndata: b\r\n\r\n", []sseEvent{{"", "a"}, {"", "b"}}},
		"cr":                {"data: a\r\rdata: b\r\r", []sseEvent{{"", "a"}, {"", "b"}}},
		"mixed":             {"data: a\r\n\ndata: b\r\r\n", []sseEvent{{"", "a"}, {"", "b"}}},
		"byte order mark":   {"\ufeffdata: a\n\n", []sseEvent{{"", "a"}}},
		"name":              {"event: ping\ndata: {}\n\ndata: x\n\n", []sseEvent{{"ping", "{}"}, {"", "x"}}},
		"no space":          {"data:a\n\n", []sseEvent{{"", "a"}}},
		"two spaces":        {"data:  a\n\n", []sseEvent{{"", " a"}}},
		"multi-line":        {"data: a\ndata:\ndata: c\n\n", []sseEvent{{"", "a\n\nc"}}},
		"comments":          {": ping\n\n:\ndata: a\n: x\n\n", []sseEvent{{"", "a"}}},
		"retry and id":      {"retry: 15000\nid: 7\n\ndata: a\n\n", []sseEvent{{"", "a"}}},
		"name without data": {"event: x\n\ndata: a\n\n", []sseEvent{{"", "a"}}},
		"no last empty":     {"data: a\n\ndata: b\n", []sseEvent{{"", "a"}, {"", "b"}}},
		"no last end":       {"data: a\n\ndata: b", []sseEvent{{"", "a"}, {"", "b"}}},
		"field alone":       {"data\n\n", []sseEvent{{"", ""}}},
		"colon in data":     {"data: a: b\n\n", []sseEvent{{"", "a: b"}}},
		"other fields":      {"error: x\nfoo: y\ndata: a\n\n", []sseEvent{{"", "a"}}},
		"empty":             {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				_, got, err := readAll(r)
				if err != io.EOF || len(got) != len(c.want) {
					t.Fatalf("%q %v, want %q", got, err, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Errorf("event %d: %q, want %q", i, got[i], c.want[i])
					}
				}
			}
		})
	}
}

func TestSSELineLimit(t *testing.T) {
	_, events, err := readAll(strings.NewReader("data: a\n\ndata: " + strings.Repeat("x", maxLine+100) + "\n\n"))
	if !errors.Is(err, errLineTooLong) || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
	long := strings.Repeat("x", maxLine-100)
	if _, events, err := readAll(strings.NewReader("data: " + long + "\n\n")); err != io.EOF || len(events) != 1 || events[0].data != long {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// A line ended by CR is given without waiting for the byte after it.
func TestSSEDoesNotWait(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	l := newLineReader(r)
	go func() { _, _ = w.Write([]byte("data: a\r")) }()
	if line, partial, err := l.next(); line != "data: a" || partial || err != nil {
		t.Errorf("%q %v %v", line, partial, err)
	}
}

func FuzzSSE(f *testing.F) {
	for _, s := range []string{"data: a\r\n\r\n", "\ufeffevent: x\rdata:b\r\r", ": c\n\ndata\ndata:\n\n", "error: {}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines, events, err := readAll(strings.NewReader(s))
		again, events1, err1 := readAll(iotest.OneByteReader(strings.NewReader(s)))
		if err != io.EOF || err1 != io.EOF || strings.Join(lines, "\x00") != strings.Join(again, "\x00") || len(events) != len(events1) {
			t.Fatalf("cut in pieces it reads otherwise: %q %q", lines, again)
		}
		for _, line := range lines {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("a line with an end in it: %q", line)
			}
		}
		// The same text with other line ends is the same stream, unless it has carriage returns of its own.
		if !strings.Contains(s, "\r") {
			crlf, _, _ := readAll(strings.NewReader(strings.ReplaceAll(s, "\n", "\r\n")))
			if strings.Join(crlf, "\x00") != strings.Join(lines, "\x00") {
				t.Errorf("CRLF reads otherwise: %q %q", lines, crlf)
			}
		}
	})
}
