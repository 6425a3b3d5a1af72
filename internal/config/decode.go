package config

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

var (
	durationType  = reflect.TypeFor[time.Duration]()
	durationsType = reflect.TypeFor[[]time.Duration]()
)

// field is a struct's field as the text knows it.
type field struct {
	key    string
	secret bool
	value  reflect.Value
}

// fields lists the tagged fields of a struct in their order.
func fields(of reflect.Value) (list []field) {
	for sf, v := range of.Fields() {
		if key := sf.Tag.Get("toml"); key != "" && key != "-" {
			list = append(list, field{key: key, secret: sf.Tag.Get("secret") == "true", value: v})
		}
	}
	return list
}

// table lays a TOML table onto a struct.
func (d *Document) table(path string, tree map[string]any, out reflect.Value) {
	known := map[string]bool{}
	var names []string
	for _, f := range fields(out) {
		at := join(path, f.key)
		known[f.key] = true
		names = append(names, f.key)
		in, given := tree[f.key]
		if given {
			d.value(at, in, f.value, f.secret)
		}
		if f.secret && f.value.Kind() == reflect.String {
			known[f.key+"_file"] = true
			if file, ok := tree[f.key+"_file"]; ok {
				d.secretFile(at, file, given, f.value)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		if !known[key] {
			d.unknown(path, key, kind(tree[key]), names)
		}
	}
}

// value lays one TOML value onto a field.
func (d *Document) value(path string, in any, out reflect.Value, secret bool) {
	text, _ := reflect.TypeAssert[encoding.TextUnmarshaler](out.Addr())
	switch {
	case text != nil:
		d.text(path, in, text)
	case out.Type() == durationType:
		d.duration(path, in, out)
	case out.Type() == durationsType:
		d.durations(path, in, out)
	case out.Kind() == reflect.String:
		if s, ok := in.(string); ok {
			out.SetString(d.expand(path, s))
			return
		}
		d.wrong(path, in, `write a text in quotes: "…"`)
	case out.Kind() == reflect.Bool:
		if b, ok := in.(bool); ok {
			out.SetBool(b)
			return
		}
		d.wrong(path, in, "write true or false, without quotes")
	case out.Kind() == reflect.Int:
		n, ok := in.(int64)
		if ok && !out.OverflowInt(n) {
			out.SetInt(n)
			return
		}
		d.wrong(path, in, "write a whole number, without quotes")
	case out.Kind() == reflect.Float64:
		d.number(path, in, out)
	case out.Kind() == reflect.Struct:
		if tree, ok := in.(map[string]any); ok {
			d.table(path, tree, out)
			return
		}
		d.wrong(path, in, fmt.Sprintf("write a section: [%s]", Shown(path)))
	case out.Kind() == reflect.Slice && out.Type().Elem().Kind() == reflect.Struct:
		d.tables(path, in, out)
	case out.Kind() == reflect.Slice:
		d.list(path, in, out, secret)
	case out.Kind() == reflect.Map:
		d.named(path, in, out, secret)
	default:
		panic("config: no rule for a field of type " + out.Type().String())
	}
}

// text lays a text onto a type that reads itself; what it says of a wrong one is for people.
func (d *Document) text(path string, in any, out encoding.TextUnmarshaler) {
	s, ok := in.(string)
	if !ok {
		d.wrong(path, in, `write a text in quotes: "…"`)
		return
	}
	if s = d.expand(path, s); d.failed[path] {
		return
	}
	if err := out.UnmarshalText([]byte(s)); err != nil {
		d.fail(path, err.Error())
	}
}

// number lays a number, whole or not, onto a float64; nan and inf are none.
func (d *Document) number(path string, in any, out reflect.Value) {
	switch n := in.(type) {
	case int64:
		out.SetFloat(float64(n))
		return
	case float64:
		if !math.IsNaN(n) && !math.IsInf(n, 0) {
			out.SetFloat(n)
			return
		}
	}
	d.wrong(path, in, "write a number, without quotes")
}

// tables lays [[x]] sections onto a slice of structs, each over fresh defaults.
func (d *Document) tables(path string, in any, out reflect.Value) {
	trees, ok := in.([]map[string]any)
	if list, isList := in.([]any); isList {
		for _, item := range list {
			if tree, isTable := item.(map[string]any); isTable {
				trees = append(trees, tree)
			}
		}
		ok = len(trees) == len(list)
	}
	if !ok {
		d.wrong(path, in, fmt.Sprintf("write it with two brackets: [[%s]]", Shown(path)))
		return
	}
	for i, tree := range trees {
		item := reflect.New(out.Type().Elem()).Elem()
		d.fresh(path, "", item)
		d.table(path+fmt.Sprintf("[%d]", i), tree, item)
		out.Set(reflect.Append(out, item))
	}
}

// named lays a table with free keys onto a map: of texts, of anything, or of sections.
func (d *Document) named(path string, in any, out reflect.Value, secret bool) {
	tree, ok := in.(map[string]any)
	if !ok {
		d.wrong(path, in, fmt.Sprintf("write a section: [%s]", Shown(path)))
		return
	}
	if out.IsNil() {
		out.Set(reflect.MakeMap(out.Type()))
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		at := join(path, quoted(key))
		item := reflect.New(out.Type().Elem()).Elem()
		switch item.Kind() {
		case reflect.Interface:
			item.Set(reflect.ValueOf(d.free(at, tree[key])))
		case reflect.Struct:
			d.fresh(path, key, item)
			d.value(at, tree[key], item, secret)
		default:
			d.value(at, tree[key], item, secret)
		}
		out.SetMapIndex(reflect.ValueOf(key), item)
	}
}

// fresh gives a new element its defaults.
func (d *Document) fresh(section, name string, item reflect.Value) {
	if d.src.Fresh == nil {
		return
	}
	if v, ok := d.src.Fresh(section, name); ok {
		item.Set(reflect.ValueOf(v))
	}
}

// list lays a TOML list onto a slice of texts.
func (d *Document) list(path string, in any, out reflect.Value, secret bool) {
	items, ok := in.([]any)
	if !ok {
		d.wrong(path, in, `write a list: ["…"]`)
		return
	}
	list := reflect.MakeSlice(out.Type(), len(items), len(items))
	for i, item := range items {
		d.value(path+fmt.Sprintf("[%d]", i), item, list.Index(i), secret)
	}
	out.Set(list)
}

// free is a value that is handed on as it is, its texts expanded.
func (d *Document) free(path string, in any) any {
	switch in := in.(type) {
	case string:
		return d.expand(path, in)
	case []any:
		list := make([]any, len(in))
		for i, item := range in {
			list[i] = d.free(path+fmt.Sprintf("[%d]", i), item)
		}
		return list
	case []map[string]any:
		list := make([]any, len(in))
		for i, item := range in {
			list[i] = d.free(path+fmt.Sprintf("[%d]", i), item)
		}
		return list
	case map[string]any:
		tree := make(map[string]any, len(in))
		for key, item := range in {
			tree[key] = d.free(join(path, quoted(key)), item)
		}
		return tree
	}
	return in
}

// wrong reports a value of the wrong kind; it says what kind it is, never the value.
func (d *Document) wrong(path string, in any, write string) {
	d.fail(path, "is "+kind(in)+"; "+write)
}

// kind is what a TOML value is, for people.
func kind(in any) string {
	switch in := in.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64:
		return "a number"
	case float64:
		return "a number with a point"
	case time.Time:
		return "a date"
	case []any:
		return "a list"
	case map[string]any:
		return "a section"
	case []map[string]any:
		return "a list of sections"
	default:
		return strings.ToLower(fmt.Sprintf("a %T", in))
	}
}
