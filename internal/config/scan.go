package config

import (
	"fmt"
	"strconv"
	"strings"
)

// deepest is how far values may be nested before the scan no longer looks inside.
const deepest = 64

// scanner walks through text that the TOML library has accepted and notes where keys stand. On
// anything it does not understand it goes on at the next character: lines are a service, not a check.
type scanner struct {
	text   string
	pos    int
	line   int
	lines  map[string]int
	keys   []string
	tables map[string]int // list of tables → how many so far
}

// scan gives the line of every key, section and element of a list, and the paths of the keys and
// sections in order.
func scan(text string) (lines map[string]int, keys []string) {
	s := &scanner{text: text, line: 1, lines: map[string]int{}, tables: map[string]int{}}
	section := ""
	for {
		s.skip(" \t\r\n,")
		if s.pos >= len(s.text) {
			return s.lines, s.keys
		}
		if s.peek() == '[' {
			section = s.header()
			continue
		}
		s.pair(section, 0)
	}
}

// header reads [a.b] or [[a.b]] and returns the path of the section it begins.
func (s *scanner) header() string {
	line, list := s.line, strings.HasPrefix(s.text[s.pos:], "[[")
	s.next()
	if list {
		s.next()
	}
	parts := s.key()
	path := ""
	for i, part := range parts {
		path = join(path, quoted(part))
		last := i == len(parts)-1
		if last && list {
			s.note(path, line)
			s.tables[path]++
		}
		if n := s.tables[path]; n > 0 {
			path += fmt.Sprintf("[%d]", n-1)
		}
	}
	s.note(path, line)
	s.skip(" \t]")
	return path
}

// pair reads key = value inside section.
func (s *scanner) pair(section string, depth int) {
	line, start := s.line, s.pos
	path := section
	for _, part := range s.key() {
		path = join(path, quoted(part))
		s.note(path, line)
	}
	s.skip(" \t=")
	s.value(path, depth)
	if s.pos == start {
		s.next()
	}
}

// key reads the parts of a dotted key, up to its end.
func (s *scanner) key() (parts []string) {
	for s.pos < len(s.text) {
		s.skip(" \t")
		switch c := s.peek(); {
		case c == '"' || c == '\'':
			parts = append(parts, s.quotedText())
		case bareByte(c):
			start := s.pos
			for s.pos < len(s.text) && bareByte(s.text[s.pos]) {
				s.next()
			}
			parts = append(parts, s.text[start:s.pos])
		case c == '.':
			s.next()
		default:
			return parts
		}
	}
	return parts
}

// value passes over a value and notes the keys of tables inside.
func (s *scanner) value(path string, depth int) {
	switch c := s.peek(); {
	case c == '"' || c == '\'':
		s.quotedText()
	case c == '[' && depth < deepest:
		s.next()
		for i := 0; s.inside(']'); i++ {
			item := path + fmt.Sprintf("[%d]", i)
			s.lines[item] = s.line
			s.value(item, depth+1)
		}
	case c == '{' && depth < deepest:
		s.next()
		for s.inside('}') {
			s.pair(path, depth+1)
		}
	default:
		for s.pos < len(s.text) && !strings.ContainsRune(",]}#\n", rune(s.text[s.pos])) {
			s.next()
		}
	}
}

// inside moves to the next element and tells whether there is one; the closing byte is consumed.
func (s *scanner) inside(closing byte) bool {
	s.skip(" \t\r\n,")
	if s.pos >= len(s.text) {
		return false
	}
	if c := s.peek(); c == closing || c == ']' || c == '}' {
		s.next()
		return false
	}
	return true
}

// quotedText reads a string of any of TOML's four kinds.
func (s *scanner) quotedText() string {
	quote := s.text[s.pos : s.pos+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.pos:], long) {
		quote = long
	}
	s.advance(len(quote))
	start := s.pos
	for s.pos < len(s.text) && !strings.HasPrefix(s.text[s.pos:], quote) {
		if s.text[s.pos] == '\\' && quote[0] == '"' {
			s.next()
		}
		s.next()
	}
	body := s.text[start:min(s.pos, len(s.text))]
	s.advance(len(quote))
	for len(quote) == 3 && s.peek() == quote[0] { // a long string may end in up to five quotes
		s.next()
	}
	if plain, err := strconv.Unquote(`"` + body + `"`); quote == `"` && err == nil {
		return plain
	}
	return body
}

// skip passes over the given bytes and over comments.
func (s *scanner) skip(bytes string) {
	for s.pos < len(s.text) {
		if s.text[s.pos] == '#' {
			for s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.next()
			}
			continue
		}
		if !strings.ContainsRune(bytes, rune(s.text[s.pos])) {
			return
		}
		s.next()
	}
}

func (s *scanner) note(path string, line int) {
	if _, known := s.lines[path]; !known && path != "" {
		s.lines[path] = line
		s.keys = append(s.keys, path)
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) next() { s.advance(1) }

func (s *scanner) advance(n int) {
	for range n {
		if s.peek() == '\n' {
			s.line++
		}
		s.pos = min(s.pos+1, len(s.text))
	}
}

func bareByte(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
