// Package cli reads a command line into a struct. The struct is the grammar: a field with the tag cmd
// is a command, a struct again; one with arg is a word that stands by itself; every other exported
// field is a flag, named as the field is (OlderThan is --older-than). Embedded structs lend their
// fields. Tags:
//
//	cmd          a command; with default:"1" the one that is meant if none is named
//	arg          a word; the last may be a list; with optional it may be missing
//	help         what it does, one sentence; ${default} in it is the default
//	name, short  another name; one letter for -x
//	default      the value if it is not given
//	placeholder  what stands for a value in the help
//
// Values are strings, whole numbers, yes or no, lists of strings, and whatever reads itself from a text
// (encoding.TextUnmarshaler). Why not a library: those at hand call methods by names that only exist at
// run time, and then the linker keeps every method of every type of the program, which here is a
// sixth of the binary and of the memory that an idle daemon holds.
package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/internal/config"
)

// Line is what a command line says.
type Line[C any] struct {
	Command C      // the command's struct, filled; the zero value if help was asked for
	Help    string // what --help prints; "" if it was not asked for
}

// Parse reads args into grammar, a pointer to a struct whose commands all implement C. A command with
// a Validate() error is asked at the end. Errors are about the line, or about a grammar that is wrong.
func Parse[C any](program, about string, grammar any, args []string) (Line[C], error) {
	var line Line[C]
	root, err := read[C](program, about, grammar)
	if err != nil {
		return line, err
	}
	p := parsing{at: root, rest: args}
	if err := p.all(); err != nil {
		return line, err
	}
	if p.help {
		line.Help = p.at.helpText()
		return line, nil
	}
	if err := p.complete(); err != nil {
		return line, err
	}
	chosen := p.at.value.Addr().Interface()
	if v, ok := chosen.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return line, err
		}
	}
	line.Command = chosen.(C) // read has seen to it
	return line, nil
}

// parsing is how far a line has been read.
type parsing struct {
	at    *node
	rest  []string
	words int  // that stand by themselves, taken by at
	plain bool // behind "--": no flags any more
	help  bool
}

// all takes every word of the line.
func (p *parsing) all() error {
	for len(p.rest) > 0 {
		word := p.rest[0]
		p.rest = p.rest[1:]
		var err error
		switch {
		case p.plain || word == "-" || !strings.HasPrefix(word, "-"):
			err = p.word(word)
		case word == "--":
			p.plain = true
		case strings.HasPrefix(word, "--"):
			name, value, given := strings.Cut(word[2:], "=")
			err = p.flag("--"+name, p.at.long(name), value, given)
		default: // -x, -xVALUE or -x=VALUE
			value := strings.TrimPrefix(word[2:], "=")
			err = p.flag(word[:2], p.at.short(word[1:2]), value, len(word) > 2)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// word takes a command or a word that stands by itself.
func (p *parsing) word(word string) error {
	if len(p.at.commands) > 0 {
		next := p.at.command(word)
		if next == nil {
			return fmt.Errorf("unexpected argument %s%s", word, meant("", config.Nearest(word, p.at.names())))
		}
		p.at, p.words = next, 0
		return nil
	}
	if len(p.at.args) == 0 {
		return fmt.Errorf("unexpected argument %s", word)
	}
	a := p.at.args[min(p.words, len(p.at.args)-1)]
	if p.words >= len(p.at.args) && !a.list() {
		return fmt.Errorf("unexpected argument %s", word)
	}
	p.words++
	if err := a.set(word); err != nil {
		return fmt.Errorf("<%s>: %w", a.name, err)
	}
	return nil
}

// flag takes a flag, and its value where it needs one.
func (p *parsing) flag(written string, f *field, value string, given bool) error {
	switch {
	case f == nil && (written == "--help" || written == "-h"):
		p.help = true
		return nil
	case f == nil:
		return fmt.Errorf("unknown flag %s%s", written, meant("--", config.Nearest(strings.TrimPrefix(written, "--"), p.at.flagNames())))
	case f.switches() && !given:
		value = "true"
	case !given:
		if len(p.rest) == 0 || strings.HasPrefix(p.rest[0], "-") && len(p.rest[0]) > 1 {
			return fmt.Errorf("%s: there is no value; one that begins with - is written %s=VALUE", written, written)
		}
		value, p.rest = p.rest[0], p.rest[1:]
	}
	values := []string{value}
	if f.list() {
		values = strings.Split(value, ",")
	}
	for _, v := range values {
		if err := f.set(v); err != nil {
			return fmt.Errorf("%s: %w", written, err)
		}
	}
	return nil
}

// complete chooses the command that is meant if none was named, and misses what must be there.
func (p *parsing) complete() error {
	for len(p.at.commands) > 0 {
		next := p.at.byDefault
		if next == nil {
			return errors.New(`expected "` + strings.Join(p.at.names(), `" or "`) + `"`)
		}
		p.at, p.words = next, 0
	}
	if missing := slices.DeleteFunc(slices.Clone(p.at.args[min(p.words, len(p.at.args)):]), func(a *field) bool { return a.optional }); len(missing) > 0 {
		return fmt.Errorf("expected %q", missing[0].shown())
	}
	return nil
}

// meant asks after the nearest known word; "" if none is near.
func meant(before, word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", before+word)
}
