// Package config reads a TOML file strictly into typed structs and reports everything that is
// wrong with it at once.
//
// The TOML library stops at the first wrong type and gives no line for a key. So the text is
// decoded into plain maps, lines come from a small scan of the text, and the maps are laid onto
// structs by reflection:
//
//	text ── toml ──▶ map ── Decode ──▶ structs with defaults ── Validate of each room ──▶ problems
//	  └──── scan ──▶ lines of keys ───────────────┴──────────────────────┘
//
// A field takes part by its tag `toml:"key"`. Strings take ${NAME} from the environment; a field
// tagged `secret:"true"` may also be written KEY_file = "path". Durations are strings. A value never
// stands in a problem, so a secret in the wrong place is not printed.
package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Source is a text and what it may refer to.
type Source struct {
	Name     string                                 // of the file, as problems say it
	Text     string                                 //
	Env      func(name string) (string, bool)       // like os.LookupEnv
	ReadFile func(path string) ([]byte, error)      // of KEY_file; path as written
	Fresh    func(section, name string) (any, bool) // the defaults of a new element of a list of tables (name "") or a table of tables
}

// Problem is one thing wrong with a text.
type Problem struct {
	File string
	Line int // 0 = not known
	Key  string
	What string // what is wrong; what to write
}

// String is the problem as one line: FILE:LINE: key: what.
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Key == "" {
		return fmt.Sprintf("%s: %s", at, p.What)
	}
	return fmt.Sprintf("%s: %s: %s", at, p.Key, p.What)
}

// Document is a decoded text: its keys, their lines, and the problems found so far.
type Document struct {
	src      Source
	lines    map[string]int // path → line
	keys     []string       // paths in the order of the text
	failed   map[string]bool
	problems []Problem
}

// Decode lays the text onto into, a pointer to a struct that holds the defaults. Keys that are
// wrong leave their default. The document is never nil.
func Decode(src Source, into any) *Document {
	d := &Document{src: src, failed: map[string]bool{}}
	var tree map[string]any
	if _, err := toml.Decode(src.Text, &tree); err != nil {
		d.broken(err)
		return d
	}
	d.lines, d.keys = scan(src.Text)
	d.table("", tree, reflect.ValueOf(into).Elem())
	return d
}

// broken reports text that is no TOML.
func (d *Document) broken(err error) {
	p := Problem{File: d.src.Name, What: "is not TOML"}
	if e, ok := errors.AsType[toml.ParseError](err); ok {
		p.Line, p.Key = e.Position.Line, e.LastKey
		if strings.Contains(e.Message, "table") && strings.Contains(e.Message, `'\n'`) { // a header's end, which counts as the next line
			p.Line--
		}
		if line := lineOf(d.src.Text, p.Line); strings.HasPrefix(strings.TrimSpace(line), "[") {
			p.Key = "" // of the line before
		}
		p.What = "is not TOML: " + harmless(e.Message)
	}
	d.problems = append(d.problems, p)
}

// quotation is what the library quotes from the text.
var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)

// lineOf is a line of a text, from 1; "" if there is none.
func lineOf(text string, n int) string {
	lines := strings.Split(text, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}

// harmless is the library's message without what it quotes from values.
func harmless(message string) string {
	if strings.HasPrefix(message, "Key '") {
		return message
	}
	if strings.HasPrefix(message, "expected value but found") {
		return "expected a value; write texts in quotes"
	}
	return quotation.ReplaceAllStringFunc(message, func(quoted string) string {
		if in := quoted[1 : len(quoted)-1]; utf8.RuneCountInString(in) <= 1 || len(in) == 2 && in[0] == '\\' {
			return quoted
		}
		return "(…)" // more than one character may be a secret
	})
}

// Section gives the function that a room's Validate reports to: keys are relative to the section,
// which is named by strings and, within a list of tables, by its index.
func (d *Document) Section(parts ...any) func(key, what string) {
	path := Path(parts...)
	return func(key, what string) { d.Problem(join(path, key), what) }
}

// Problem adds one at a path made by Path. A key that could not be decoded is not judged again.
func (d *Document) Problem(path, what string) {
	if !d.failed[path] {
		d.problems = append(d.problems, d.About(path, what))
	}
}

// About says something about a path that is no problem.
func (d *Document) About(path, what string) Problem {
	return Problem{File: d.src.Name, Line: d.Line(path), Key: Shown(path), What: what}
}

// fail adds a problem of decoding.
func (d *Document) fail(path, what string) {
	d.Problem(path, what)
	d.failed[path] = true
	for strings.HasSuffix(path, "]") { // a list with a wrong element is not judged again either
		path = path[:strings.LastIndex(path, "[")]
		d.failed[path] = true
	}
}

// Problems are all found so far, in the order of the text.
func (d *Document) Problems() []Problem {
	sorted := slices.Clone(d.problems)
	slices.SortStableFunc(sorted, func(a, b Problem) int { return a.Line - b.Line })
	return sorted
}

// Has tells whether the text holds a key or a section.
func (d *Document) Has(path string) bool { return d.lines[path] > 0 }

// Keys are the paths of all keys and sections in the order of the text.
func (d *Document) Keys() []string { return d.keys }

// Line is the line of a key, or of the nearest section around it; 0 if there is none.
func (d *Document) Line(path string) int {
	for path != "" {
		if line := d.lines[path]; line > 0 {
			return line
		}
		path = parent(path)
	}
	return 0
}
