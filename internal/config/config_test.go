package config

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
)

// house is a config like the daemon's, with every kind of field.
type house struct {
	Timezone string          `toml:"timezone"`
	Engine   engine          `toml:"engine"`
	Retry    retry           `toml:"retry"`
	Web      web             `toml:"web"`
	Provider map[string]wire `toml:"provider"`
	Bots     []bot           `toml:"bot"`
}

type engine struct {
	Workers  int           `toml:"workers"`
	Durable  bool          `toml:"durable"`
	Deadline time.Duration `toml:"turn_deadline"`
}

type retry struct {
	Rearm    []time.Duration `toml:"rearm"`
	Cooldown struct {
		RateLimit time.Duration `toml:"rate_limit"`
	} `toml:"cooldown"`
}

type web struct {
	Token string            `toml:"token" secret:"true"`
	Codes map[string]string `toml:"codes" secret:"true"`
	Level slog.Level        `toml:"level"`
	Price float64           `toml:"price"`
}

type wire struct {
	BaseURL string `toml:"base_url"`
	APIKey  string `toml:"api_key" secret:"true"`
}

type bot struct {
	Name   string         `toml:"name"`
	Models []string       `toml:"models"`
	Params map[string]any `toml:"params"`
}

func source(text string) Source {
	return Source{
		Name: "h.toml", Text: text,
		Env: func(name string) (string, bool) {
			v, ok := map[string]string{"KEY": "s3cret", "EMPTY": ""}[name]
			return v, ok
		},
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := map[string]string{"key.txt": "from file\n", "empty": "\n"}[path]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("open " + path + ": no such file")
		},
		Fresh: func(section, name string) (any, bool) {
			switch section {
			case "bot":
				return bot{Name: "bot"}, true
			case "provider":
				return wire{BaseURL: "http://" + name}, true
			}
			return nil, false
		},
	}
}

func decode(text string) (house, *Document) {
	h := house{Engine: engine{Workers: 32, Durable: true, Deadline: 30 * time.Minute},
		Retry: retry{Rearm: []time.Duration{2 * time.Minute}}}
	return h, Decode(source(text), &h)
}

func TestValues(t *testing.T) {
	h := house{Engine: engine{Workers: 32, Durable: true}}
	d := Decode(source(`
timezone = "Europe/${KEY}$$ $5"
[engine]
workers = 4
turn_deadline = "1d12h"
[retry]
rearm = ["1m", "90d"]
cooldown = { rate_limit = "30s" }
[web]
token_file = "key.txt"
level = "WARN"
[web.codes]
alice = "${KEY}"
[provider.openai]
api_key = "${KEY}"
[provider."my one"]
base_url = "x"
[[bot]]
models = ["a/b", "${KEY}/c"]
[bot.params]
temperature = 0.5
stop = ["${KEY}"]
nested = { list = [{ a = 1 }] }
[[bot]]
name = "second"
`), &h)
	if p := d.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	want := house{
		Timezone: "Europe/s3cret$ $5",
		Engine:   engine{Workers: 4, Durable: true, Deadline: 36 * time.Hour},
		Retry:    retry{Rearm: []time.Duration{time.Minute, 90 * 24 * time.Hour}},
		Web:      web{Token: "from file", Level: slog.LevelWarn, Codes: map[string]string{"alice": "s3cret"}},
		Provider: map[string]wire{"openai": {BaseURL: "http://openai", APIKey: "s3cret"}, "my one": {BaseURL: "x"}},
		Bots: []bot{
			{Name: "bot", Models: []string{"a/b", "s3cret/c"}, Params: map[string]any{
				"temperature": 0.5, "stop": []any{"s3cret"}, "nested": map[string]any{"list": []any{map[string]any{"a": int64(1)}}}}},
			{Name: "second"},
		},
	}
	want.Retry.Cooldown.RateLimit = 30 * time.Second
	if !reflect.DeepEqual(h, want) {
		t.Errorf("got  %+v\nwant %+v", h, want)
	}
}

// TestRearmOffR7: false is the empty list, and nothing else is.
func TestRearmOffR7(t *testing.T) {
	h := house{Retry: retry{Rearm: []time.Duration{time.Minute}}}
	if p := Decode(source("[retry]\nrearm = false"), &h).Problems(); len(p) > 0 || h.Retry.Rearm != nil {
		t.Error(p, h.Retry.Rearm)
	}
}

func TestProblems(t *testing.T) {
	const list = `; write a list of durations like ["2m", "8m", "32m"], or false`
	const duration = `; write a duration in quotes, for example "30s", "5m", "1h30m" or "90d"`
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"unknown key near", "[engine]\n\nworker = 3", []string{`h.toml:3: engine.worker: is no known key; did you mean workers?`}},
		{"unknown key far", "[engine]\nzzz = 3", []string{`h.toml:2: engine.zzz: is no known key; known here: workers, durable, turn_deadline`}},
		{"unknown section", "[engin]\nworkers = 3", []string{`h.toml:1: engin: is no known section; did you mean engine?`}},
		{"unknown quoted key", "[engine]\n'wor ker' = 3", []string{`h.toml:2: engine."wor ker": is no known key; did you mean workers?`}},
		{"text for a price", "[web]\nprice = \"3\"", []string{`h.toml:2: web.price: is a text; write a number, without quotes`}},
		{"no number for a price", "[web]\nprice = nan", []string{`h.toml:2: web.price: is a number with a point; write a number, without quotes`}},
		{"text for a number", "[engine]\nworkers = \"3\"", []string{`h.toml:2: engine.workers: is a text; write a whole number, without quotes`}},
		{"point for a whole number", "[engine]\nworkers = 3.5", []string{`h.toml:2: engine.workers: is a number with a point; write a whole number, without quotes`}},
		{"text for a switch", "[engine]\ndurable = \"yes\"", []string{`h.toml:2: engine.durable: is a text; write true or false, without quotes`}},
		{"number for a text", "timezone = 3", []string{`h.toml:1: timezone: is a number; write a text in quotes: "…"`}},
		{"number for a duration", "[engine]\nturn_deadline = 30", []string{`h.toml:2: engine.turn_deadline: is a number` + duration}},
		{"no duration", "[engine]\nturn_deadline = \"30 min\"", []string{`h.toml:2: engine.turn_deadline: is no duration` + duration}},
		{"negative duration", "[engine]\nturn_deadline = \"-1d\"", []string{`h.toml:2: engine.turn_deadline: is negative` + duration}},
		{"text for a list", "[[bot]]\nmodels = \"a/b\"", []string{`h.toml:2: bot.models: is a text; write a list: ["…"]`}},
		{"number in a list", "[[bot]]\nmodels = [\n  \"a/b\",\n  3,\n]", []string{`h.toml:4: bot.models: is a number; write a text in quotes: "…"`}},
		{"one bracket", "[bot]\nmodels = [\"a/b\"]", []string{`h.toml:1: bot: is a section; write it with two brackets: [[bot]]`}},
		{"two brackets", "[[engine]]\nworkers = 3", []string{`h.toml:1: engine: is a list of sections; write a section: [engine]`}},
		{"value for a section", "engine = 3", []string{`h.toml:1: engine: is a number; write a section: [engine]`}},
		{"value for a provider", "provider.openai = 3", []string{`h.toml:1: provider.openai: is a number; write a section: [provider.openai]`}},
		{"date", "timezone = 2020-01-01", []string{`h.toml:1: timezone: is a date; write a text in quotes: "…"`}},
		{"rearm true", "[retry]\nrearm = true", []string{`h.toml:2: retry.rearm: is true` + list}},
		{"rearm empty", "[retry]\nrearm = []", []string{`h.toml:2: retry.rearm: is an empty list` + list}},
		{"rearm zero", "[retry]\nrearm = [\"0\", \"2m\"]", []string{`h.toml:2: retry.rearm: is no positive duration` + list}},
		{"rearm text", "[retry]\nrearm = \"2m\"", []string{`h.toml:2: retry.rearm: is a text` + list}},
		{"rearm negative", "[retry]\nrearm = [\"-2m\"]", []string{`h.toml:2: retry.rearm: is negative` + duration}},
		{"key in an inline table", "[retry]\ncooldown = { rate_limit = \"1s\",\n  ratelimit = 3 }", []string{`h.toml:3: retry.cooldown.ratelimit: is no known key; did you mean rate_limit?`}},
		{"a type that reads itself", "[web]\nlevel = \"loud\"", []string{`h.toml:2: web.level: slog: level string "loud": unknown name`}},
		{"number for it", "[web]\nlevel = 3", []string{`h.toml:2: web.level: is a number; write a text in quotes: "…"`}},
		{"no variable", "timezone = \"${NO_SUCH}\"", []string{`h.toml:1: timezone: the environment has no NO_SUCH; set it, or write $$ for a dollar`}},
		{"open variable", "timezone = \"${KEY\"", []string{`h.toml:1: timezone: has a ${ that names no variable; write ${NAME}, or $$ for a dollar`}},
		{"no secret file", "[web]\ntoken_file = \"nowhere\"", []string{`h.toml:2: web.token_file: cannot be read: open nowhere: no such file; write the path of a file that holds the secret`}},
		{"empty secret file", "[web]\ntoken_file = \"empty\"", []string{`h.toml:2: web.token_file: is an empty file; put the secret into it`}},
		{"secret twice", "[web]\ntoken = \"a\"\ntoken_file = \"key.txt\"", []string{`h.toml:3: web.token_file: stands beside web.token; write one of the two`}},
		{"no file for plain keys", "timezone_file = \"key.txt\"", []string{`h.toml:1: timezone_file: is no known key; known here: timezone, engine, retry, web, provider, bot`}},
		{"header not closed", "[store]\ndir = \"secret\"\n[web\n", []string{`h.toml:3: is not TOML: expected '.' or ']' to end table name, but got '\n' instead`}},
		{"no value", "[store]\ndir =\n", []string{`h.toml:2: store.dir: is not TOML: expected a value; write texts in quotes`}},
		{"key twice", "timezone = \"a\"\ntimezone = \"b\"", []string{`h.toml:2: timezone: is not TOML: Key 'timezone' has already been defined.`}},
		{"all at once, in the order of the text", "zz = 1\n[engine]\nworkers = \"x\"\ndurable = 1\n[[bot]]\nnam = \"a\"\n[[bot]]\nname = 3", []string{
			`h.toml:1: zz: is no known key; known here: timezone, engine, retry, web, provider, bot`,
			`h.toml:3: engine.workers: is a text; write a whole number, without quotes`,
			`h.toml:4: engine.durable: is a number; write true or false, without quotes`,
			`h.toml:6: bot.nam: is no known key; did you mean name?`,
			`h.toml:8: bot.name: is a number; write a text in quotes: "…"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, d := decode(c.text)
			var got []string
			for _, p := range d.Problems() {
				got = append(got, p.String())
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestNoSecretInProblemsS5: whatever is wrong, the value is not shown.
func TestNoSecretInProblemsS5(t *testing.T) {
	for _, text := range []string{
		"[web]\ntoken = sk-verysecret",
		"[web]\ntoken = 'sk-verysecret",
		"[web]\ntoken = \"sk-verysecret\nx",
		"[web]\ntoken = [\"sk-verysecret\"]",
		"[web]\ntoken = \"sk-verysecret${NO}\"",
		"[web]\ntokn = \"sk-verysecret\"",
		"[web]\ncodes = \"sk-verysecret\"",
		"[web.codes]\nalice = [\"sk-verysecret\"]",
		"[web]\ntoken = 0123_verysecret",
		"[web]\ntoken = \"sk-verysecret\" x",
		"[engine]\nturn_deadline = \"sk-verysecret\"",
	} {
		_, d := decode(text)
		if len(d.Problems()) == 0 {
			t.Errorf("no problem in %q", text)
		}
		for _, p := range d.Problems() {
			if strings.Contains(p.String(), "verysecret") {
				t.Error(p)
			}
		}
	}
}

// TestSectionReports: what a room says gets its key and line, unless decoding has failed there.
func TestSectionReports(t *testing.T) {
	_, d := decode("[engine]\nworkers = 0\nturn_deadline = \"x\"\n[[bot]]\n[[bot]]\nname = \"b\"\nmodels = [\"${NO}\"]\n")
	d.Section("engine")("workers", "must be at least 1")
	d.Section("engine")("durable", "is missing")
	d.Section("engine")("turn_deadline", "not said twice")
	d.Section("bot", 1)("name", "is taken")
	d.Section("bot", 1)("models", "not said twice")
	d.Section("bot", 0)("models", "is missing")
	d.Section("provider", "a.b")("base_url", "is missing")
	var got []string
	for _, p := range d.Problems() {
		got = append(got, p.String())
	}
	want := []string{
		`h.toml: provider."a.b".base_url: is missing`,
		`h.toml:1: engine.durable: is missing`,
		`h.toml:2: engine.workers: must be at least 1`,
		`h.toml:3: engine.turn_deadline: is no duration; ` + durationHint,
		`h.toml:4: bot.models: is missing`,
		`h.toml:6: bot.name: is taken`,
		`h.toml:7: bot.models: the environment has no NO; set it, or write $$ for a dollar`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestScan(t *testing.T) {
	text := `# comment [x]
a = 1 # [b]
"c d".e = """
[not.a.section]
x = 1
""" # end
f = [ 1, # one
  "]",
  [2, 3], { g = 4, h.i = '}' },
]
[s."t.u"]
k = '''
v = 1
'''''
[[l]]
m = { n = 1,
  o = 2 }
[l.p]
q = true
[[l]]
m = 3
[[l.r]]
z = 1
`
	lines, keys := scan(text)
	want := map[string]int{
		"a": 2, `"c d"`: 3, `"c d".e`: 3, "f": 7, "f[3].g": 9, "f[3].h": 9, "f[3].h.i": 9, `s."t.u"`: 11, `s."t.u".k`: 12,
		"l": 15, "l[0]": 15, "l[0].m": 16, "l[0].m.n": 16, "l[0].m.o": 17, "l[0].p": 18, "l[0].p.q": 19, "l[1]": 20,
		"l[1].m": 21, "l[1].r": 22, "l[1].r[0]": 22, "l[1].r[0].z": 23,
	}
	for item, line := range map[string]int{"f[0]": 7, "f[1]": 8, "f[2]": 9, "f[2][0]": 9, "f[2][1]": 9, "f[3]": 9} {
		want[item] = line
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("got  %v\nwant %v", lines, want)
	}
	if len(keys) != len(want)-6 || keys[0] != "a" {
		t.Error(keys)
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "90d": 90 * 24 * time.Hour, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "1d1h": 25 * time.Hour, "400ms": 400 * time.Millisecond, "-1d": -24 * time.Hour,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "d", "1", "1.5d", "1d-1h", "99999d", "999999999999999999999d", "1d2d", "1dx"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("%q is %v", in, got)
		}
	}
}

func TestNearest(t *testing.T) {
	keys := []string{"workers", "turn_deadline", "stated_wait_max", "bot"}
	for in, want := range map[string]string{
		"worker": "workers", "Workers": "workers", "turndeadline": "turn_deadline", "statet_wiat_max": "stated_wait_max", "bots": "bot", "to": "bot", "xyzzy": "", "": "",
	} {
		if got := Nearest(in, keys); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
