package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const durationHint = `write a duration in quotes, for example "30s", "5m", "1h30m" or "90d"`

// duration lays a text onto a time.Duration.
func (d *Document) duration(path string, in any, out reflect.Value) {
	s, ok := in.(string)
	if !ok {
		d.wrong(path, in, durationHint)
		return
	}
	v, err := ParseDuration(d.expand(path, s))
	switch {
	case d.failed[path]:
	case err != nil:
		d.fail(path, "is no duration; "+durationHint)
	case v < 0:
		d.fail(path, "is negative; "+durationHint)
	default:
		out.SetInt(int64(v))
	}
}

// durations lays a list of durations, or false for none, onto a slice. Each must be longer than 0,
// since a list that is there to be worked through has no use for anything else.
func (d *Document) durations(path string, in any, out reflect.Value) {
	const write = `write a list of durations like ["2m", "8m", "32m"], or false`
	items, ok := in.([]any)
	switch {
	case in == false:
		out.SetZero()
		return
	case in == true:
		d.fail(path, "is true; "+write)
		return
	case !ok:
		d.wrong(path, in, write)
		return
	case len(items) == 0:
		d.fail(path, "is an empty list; "+write)
		return
	}
	list := make([]time.Duration, len(items))
	for i, item := range items {
		at := path + fmt.Sprintf("[%d]", i)
		d.duration(at, item, reflect.ValueOf(&list[i]).Elem())
		if list[i] == 0 && !d.failed[at] {
			d.fail(at, "is no positive duration; "+write)
		}
	}
	if !d.failed[path] {
		out.Set(reflect.ValueOf(list))
	}
}

// days is what Go's durations lack: "90d", "1d12h".
var days = regexp.MustCompile(`^([+-]?)(\d+)d(.*)$`)

// ParseDuration reads Go's durations, with d for days in front.
func ParseDuration(s string) (time.Duration, error) {
	m := days.FindStringSubmatch(s)
	if m == nil {
		return time.ParseDuration(s)
	}
	const day, longest = 24 * time.Hour, 36500
	n, err := strconv.Atoi(m[2])
	if err != nil || n > longest {
		return 0, fmt.Errorf("more than %d days", longest)
	}
	total := time.Duration(n) * day
	if m[3] != "" {
		rest, err := time.ParseDuration(m[3])
		if err != nil || rest < 0 || rest > longest*day {
			return 0, fmt.Errorf("no duration behind the days")
		}
		total += rest
	}
	if m[1] == "-" {
		total = -total
	}
	return total, nil
}

// expand replaces ${NAME} from the environment and $$ by a dollar. Any other dollar stays.
func (d *Document) expand(path, s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		switch {
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			s = after[1:]
		case strings.HasPrefix(after, "{"):
			name, rest, closed := strings.Cut(after[1:], "}")
			if !closed || name == "" {
				d.fail(path, "has a ${ that names no variable; write ${NAME}, or $$ for a dollar")
				return b.String()
			}
			b.WriteString(d.variable(path, name))
			s = rest
		default:
			b.WriteByte('$')
			s = after
		}
	}
}

// variable reads one variable of the environment.
func (d *Document) variable(path, name string) string {
	if d.src.Env != nil {
		if v, ok := d.src.Env(name); ok {
			return v
		}
	}
	d.fail(path, fmt.Sprintf("the environment has no %s; set it, or write $$ for a dollar", name))
	return ""
}

// secretFile lays the content of KEY_file onto the field of KEY, without the line end.
func (d *Document) secretFile(path string, in any, both bool, out reflect.Value) {
	file := path + "_file"
	defer func() { d.failed[path] = d.failed[path] || d.failed[file] }()
	name, ok := in.(string)
	if !ok {
		d.wrong(file, in, "write a path in quotes")
		return
	}
	if both {
		d.fail(file, fmt.Sprintf("stands beside %s; write one of the two", Shown(path)))
		return
	}
	name = d.expand(file, name)
	if d.failed[file] {
		return
	}
	text, err := d.src.ReadFile(name)
	if err != nil {
		d.fail(file, fmt.Sprintf("cannot be read: %v; write the path of a file that holds the secret", err))
		return
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		d.fail(file, "is an empty file; put the secret into it")
		return
	}
	out.SetString(secret)
}
