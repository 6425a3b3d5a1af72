package main

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"holdfast/engine"
	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/internal/config"
	"holdfast/surfaces/discord"
	"holdfast/surfaces/slack"
	"holdfast/surfaces/telegram"
)

// keyLine is a line of the example that is a key or a section at its default.
var keyLine = regexp.MustCompile(`(?m)^#([a-z\[].*)$`)

// TestExampleAsItIs: the file can be copied and started.
func TestExampleAsItIs(t *testing.T) {
	l := testPlace(nil).read("holdfast.toml", example, t.TempDir())
	if len(l.Problems) > 0 {
		t.Error(l.Problems)
	}
	if len(l.Bots) != 1 || l.Bots[0].Models[0] != "openai/gpt-5-mini" {
		t.Error(l.Bots)
	}
}

// TestExampleHoldsDefaults: with every comment sign taken away the file says what holds without it.
func TestExampleHoldsDefaults(t *testing.T) {
	got := defaults()
	doc := config.Decode(config.Source{Name: "example", Text: keyLine.ReplaceAllString(example, "$1"), Fresh: fresh}, &got)
	if p := doc.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	want := defaults()
	want.Store.Dir = "" // which stands for the default
	bot := engine.DefaultBot()
	bot.Models = []string{"openai/gpt-5-mini"}
	want.Bots = []engine.Bot{bot}
	want.Providers = map[string]llm.Config{"NAME": llm.Default()}
	want.Slack, want.Discord, want.Telegram = []slack.Config{slack.Default()}, []discord.Config{discord.Default()}, []telegram.Config{telegram.Default()}
	notes := tool.Default()
	notes.Name, notes.Command = "notes", []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv/notes"}
	want.MCP = []tool.Config{notes}
	want.Prices = []engine.Price{{Model: "openai/gpt-5-mini", Input: 0.25, Output: 2}}
	standup := engine.DefaultSchedule()
	standup.Name, standup.Cron, standup.Prompt = "standup", "0 9 * * 1-5", "Summarise what is open."
	want.Schedules = []engine.Schedule{standup}
	same(t, "", reflect.ValueOf(got), reflect.ValueOf(want))
}

// same compares two configs; an empty list is as good as none.
func same(t *testing.T, path string, got, want reflect.Value) {
	switch {
	case got.Kind() == reflect.Struct:
		for sf, v := range got.Fields() {
			same(t, path+"."+sf.Name, v, want.FieldByIndex(sf.Index))
		}
	case (got.Kind() == reflect.Slice || got.Kind() == reflect.Map) && got.Len() == 0 && want.Len() == 0:
	case got.Kind() == reflect.Slice && got.Len() == want.Len():
		for i := range got.Len() {
			same(t, path, got.Index(i), want.Index(i))
		}
	case got.Kind() == reflect.Map && got.Len() == want.Len():
		for _, key := range got.MapKeys() {
			same(t, path+"."+key.String(), got.MapIndex(key), want.MapIndex(key))
		}
	case !reflect.DeepEqual(got.Interface(), want.Interface()):
		t.Errorf("%s is %v in the example, %v by default", path, got.Interface(), want.Interface())
	}
}

// TestExampleHoldsEveryKey: no key of any section is missing.
func TestExampleHoldsEveryKey(t *testing.T) {
	var c Config
	doc := config.Decode(config.Source{Name: "example", Text: keyLine.ReplaceAllString(example, "$1"), Fresh: fresh}, &c)
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		for sf := range of.Fields() {
			key, typ := sf.Tag.Get("toml"), sf.Type
			if key == "" {
				continue
			}
			at := strings.TrimPrefix(path+"."+key, ".")
			if !doc.Has(at) && !doc.Has(at+".NAME") {
				t.Errorf("%s is not in config.example.toml", at)
			}
			switch {
			case typ.Kind() == reflect.Struct && hasKeys(typ):
				walk(at, typ)
			case typ.Kind() == reflect.Slice && hasKeys(typ.Elem()):
				walk(at+"[0]", typ.Elem())
			case typ.Kind() == reflect.Map && hasKeys(typ.Elem()):
				walk(at+".NAME", typ.Elem())
			}
		}
	}
	walk("", reflect.TypeFor[Config]())
}

func hasKeys(of reflect.Type) bool {
	if of.Kind() != reflect.Struct {
		return false
	}
	for sf := range of.Fields() {
		if sf.Tag.Get("toml") != "" {
			return true
		}
	}
	return false
}
