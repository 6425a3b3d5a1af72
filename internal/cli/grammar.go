package cli

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// node is the program or a command.
type node struct {
	name      string
	help      string
	parent    *node         // nil = the program
	value     reflect.Value // its struct
	flags     []*field
	args      []*field
	commands  []*node
	byDefault *node
}

// field is a flag or a word that stands by itself.
type field struct {
	name, letter, help, placeholder string
	optional                        bool
	value                           reflect.Value
}

// read makes the grammar of a pointer to a struct. Every command without further ones implements C.
func read[C any](program, about string, grammar any) (*node, error) {
	root := &node{name: program, help: about, value: reflect.ValueOf(grammar).Elem()}
	if err := root.read(root.value); err != nil {
		return nil, err
	}
	for leaf := range root.leaves() {
		if _, ok := leaf.value.Addr().Interface().(C); !ok {
			return nil, fmt.Errorf("the command %s does nothing", leaf.path())
		}
	}
	return root, nil
}

// read takes the fields of v, which is n's struct or is embedded in it.
func (n *node) read(v reflect.Value) error {
	for i := range v.NumField() {
		t := v.Type().Field(i)
		name := t.Tag.Get("name")
		if name == "" {
			name = kebab(t.Name)
		}
		_, isCommand := t.Tag.Lookup("cmd")
		_, isArg := t.Tag.Lookup("arg")
		var err error
		switch {
		case t.Anonymous:
			err = n.read(v.Field(i))
		case !t.IsExported():
		case isCommand:
			c := &node{name: name, help: t.Tag.Get("help"), parent: n, value: v.Field(i)}
			n.commands = append(n.commands, c)
			if t.Tag.Get("default") != "" {
				n.byDefault = c
			}
			err = c.read(c.value)
		default:
			_, optional := t.Tag.Lookup("optional")
			f := &field{name: name, letter: t.Tag.Get("short"), placeholder: t.Tag.Get("placeholder"), optional: optional, value: v.Field(i)}
			f.help = strings.ReplaceAll(t.Tag.Get("help"), "${default}", t.Tag.Get("default"))
			if preset := t.Tag.Get("default"); preset != "" {
				err = f.set(preset)
			}
			if isArg {
				n.args = append(n.args, f)
			} else {
				n.flags = append(n.flags, f)
			}
		}
		if err != nil {
			return fmt.Errorf("the grammar of %s at %s: %w", n.name, t.Name, err)
		}
	}
	return nil
}

// kebab is a field's name as a flag's: OlderThan is older-than, JSON is json.
func kebab(name string) string {
	var b strings.Builder
	was := 'A'
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(was) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
		was = r
	}
	return b.String()
}

// set takes one value; a list gets it added.
func (f *field) set(text string) error {
	if u, ok := f.value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch f.value.Kind() {
	case reflect.String:
		f.value.SetString(text)
	case reflect.Bool:
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		f.value.SetBool(yes)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		f.value.SetInt(int64(n))
	case reflect.Slice:
		f.value.Set(reflect.Append(f.value, reflect.ValueOf(text)))
	default:
		return fmt.Errorf("nothing is known of a %s", f.value.Type())
	}
	return nil
}

func (f *field) list() bool     { return f.value.Kind() == reflect.Slice }
func (f *field) switches() bool { return f.value.Kind() == reflect.Bool }

// shown is a word as the help names it.
func (f *field) shown() string {
	name := "<" + f.name + ">"
	if f.list() {
		name += " ..."
	}
	return name
}

// all are the flags of a command and of what it belongs to, the program's first.
func (n *node) all() []*field {
	if n.parent == nil {
		return n.flags
	}
	return append(append([]*field(nil), n.parent.all()...), n.flags...)
}

// long finds a flag by its name; nil if there is none.
func (n *node) long(name string) *field {
	for _, f := range n.all() {
		if f.name == name {
			return f
		}
	}
	return nil
}

// short finds a flag by its letter; nil if there is none.
func (n *node) short(letter string) *field {
	for _, f := range n.all() {
		if f.letter == letter {
			return f
		}
	}
	return nil
}

func (n *node) flagNames() (names []string) {
	for _, f := range n.all() {
		names = append(names, f.name)
	}
	return append(names, "help")
}

// command finds one by its name; nil if there is none.
func (n *node) command(name string) *node {
	for _, c := range n.commands {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (n *node) names() (names []string) {
	for _, c := range n.commands {
		names = append(names, c.name)
	}
	return names
}

// path is a command as it is typed behind the program's name.
func (n *node) path() string {
	if n.parent == nil || n.parent.parent == nil {
		return n.name
	}
	return n.parent.path() + " " + n.name
}

// leaves are the commands that have no further ones.
func (n *node) leaves() func(func(*node) bool) {
	return func(yield func(*node) bool) { n.each(yield) }
}

func (n *node) each(yield func(*node) bool) bool {
	if len(n.commands) == 0 {
		return yield(n)
	}
	for _, c := range n.commands {
		if !c.each(yield) {
			return false
		}
	}
	return true
}
