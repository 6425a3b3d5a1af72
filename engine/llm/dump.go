package llm

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// findDump looks for an object or list of objects written out inside a text: JSON, JSON escaped
// once more, or the way Python prints a dict. before is the text in front of it. A dump that was
// cut at the text's end counts as far as it goes.
func findDump(text string) (v any, before string, ok bool) {
	at, tries := 0, 0
	for tries < 8 {
		i := strings.IndexAny(text[at:], "{[")
		if i < 0 {
			return nil, "", false
		}
		at += i
		tries++
		for _, s := range []string{text[at:], unescape(text[at:])} {
			p := dumpParser{text: s}
			if v, ok := p.value(0); ok && isObject(v) {
				before := strings.TrimSuffix(strings.TrimRight(text[:at], "'\""), "b")
				return v, strings.TrimRight(before, " \t\r\n-:,"), true
			}
		}
		at++
	}
	return nil, "", false
}

// unescape takes one level of backslashes away.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(s)
}

// isObject reports whether a dump is worth reading.
func isObject(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0 && isObject(v[0])
	}
	return false
}

// dumpParser reads JSON and Python's literals, forgiving what is cut off at the end.
type dumpParser struct {
	text string
	at   int
}

// value reads one value; ok is false if there is none.
func (p *dumpParser) value(depth int) (v any, ok bool) {
	p.space()
	if depth > maxDepth || p.at >= len(p.text) {
		return nil, false
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[', c == '(':
		return p.list(depth)
	case c == '"', c == '\'':
		return p.quoted(), true
	}
	return p.word()
}

func (p *dumpParser) object(depth int) (any, bool) {
	m := map[string]any{}
	p.at++
	for {
		p.space()
		if p.skip('}') || p.at >= len(p.text) {
			return m, true
		}
		if c := p.text[p.at]; c != '"' && c != '\'' {
			return nil, false
		}
		key := p.quoted()
		p.space()
		if p.at >= len(p.text) {
			return m, true
		}
		if !p.skip(':') {
			return nil, false
		}
		v, ok := p.value(depth + 1)
		if !ok {
			return m, p.at >= len(p.text)
		}
		m[key] = v
		p.space()
		p.skip(',')
	}
}

func (p *dumpParser) list(depth int) (any, bool) {
	l := []any{}
	p.at++
	for {
		p.space()
		if p.skip(']') || p.skip(')') || p.at >= len(p.text) {
			return l, true
		}
		v, ok := p.value(depth + 1)
		if !ok {
			return l, p.at >= len(p.text)
		}
		l = append(l, v)
		p.space()
		p.skip(',')
	}
}

// quoted reads a string in either kind of quotes, up to the text's end if it is cut.
func (p *dumpParser) quoted() string {
	quote := p.text[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == quote:
			return b.String()
		case c == '\\' && p.at < len(p.text):
			p.escape(&b)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escape reads what follows a backslash.
func (p *dumpParser) escape(b *strings.Builder) {
	c := p.text[p.at]
	p.at++
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'u':
		if p.at+4 <= len(p.text) {
			if n, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 32); err == nil {
				p.at += 4
				if r := rune(n); utf8.ValidRune(r) {
					b.WriteRune(r)
				}
			}
		}
	default:
		b.WriteByte(c)
	}
}

// word reads a number or a name; an unknown name is no value.
func (p *dumpParser) word() (any, bool) {
	start := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" \t\r\n,:{}[]()\"'", rune(p.text[p.at])) {
		p.at++
	}
	switch w := p.text[start:p.at]; w {
	case "":
		return nil, false
	case "null", "None", "undefined":
		return nil, true
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	case "b", "u": // a quoted string follows: b'…'
		if p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
			return p.quoted(), true
		}
		return nil, false
	default:
		n, err := strconv.ParseFloat(w, 64)
		return n, err == nil
	}
}

// space skips white space.
func (p *dumpParser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

func (p *dumpParser) skip(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}
