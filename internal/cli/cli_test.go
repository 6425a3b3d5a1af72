package cli

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

type loud string

func (l *loud) UnmarshalText(text []byte) error {
	if string(text) == "quiet" {
		return errors.New("that is not loud")
	}
	*l = loud(strings.ToUpper(string(text)))
	return nil
}

type doer interface{ Do() string }

type shared struct {
	DryRun bool `help:"Only tell."`
	Says   loud `placeholder:"WORD" help:"A word."`
}

type sayCmd struct {
	shared
	Limit int      `default:"50" placeholder:"N" help:"How many (${default})."`
	To    []string `placeholder:"NAME" help:"Who hears it."`
	Words []string `arg:"" optional:"" name:"word" help:"What is said."`
}

func (s sayCmd) Do() string {
	return fmt.Sprintf("%v %s %d %q %q", s.DryRun, s.Says, s.Limit, s.To, s.Words)
}
func (s sayCmd) Validate() error {
	if len(s.Words) > 3 {
		return errors.New("too much is said")
	}
	return nil
}

type oneCmd struct {
	ID  string `arg:""`
	Now bool   `short:"n"`
}

func (o *oneCmd) Do() string { return fmt.Sprintf("%s %v", o.ID, o.Now) }

type homeCmd struct{}

func (homeCmd) Do() string { return "at home" }

type program struct {
	Config string  `short:"c" placeholder:"FILE" help:"A file."`
	Home   homeCmd `cmd:"" default:"1" help:"Stay."`
	Say    sayCmd  `cmd:"" help:"Say a word."`
	Deep   struct {
		One oneCmd `cmd:"" help:"Do one."`
	} `cmd:"" help:"Things below."`
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, want, config string }{
		{"", "at home", ""},
		{"--config a.toml", "at home", "a.toml"},
		{"-ca.toml say", `false  50 [] []`, "a.toml"},
		{"say -c=a.toml --dry-run --says hello", `true HELLO 50 [] []`, "a.toml"},
		{"say a b --limit=3 -c a --to x,y --to z c", `false  3 ["x" "y" "z"] ["a" "b" "c"]`, "a"},
		{"say --dry-run=false -- --limit -c", `false  50 [] ["--limit" "-c"]`, ""},
		{"say - --says=-x", `false -X 50 [] ["-"]`, ""},
		{"deep one id7 -n", "id7 true", ""},
		{"deep one --now id7", "id7 true", ""},
	} {
		var g program
		got, err := Parse[doer]("p", "About.", &g, strings.Fields(c.line))
		if err != nil || got.Help != "" {
			t.Errorf("%q: %v %q", c.line, err, got.Help)
			continue
		}
		if did := got.Command.Do(); did != c.want || g.Config != c.config {
			t.Errorf("%q: %s, config %q", c.line, did, g.Config)
		}
	}
}

func TestLinesThatAreWrong(t *testing.T) {
	for line, want := range map[string]string{
		"sya":               `unexpected argument sya, did you mean "say"?`,
		"say --limt 3":      `unknown flag --limt, did you mean "--limit"?`,
		"say -q":            `unknown flag -q`,
		"--limit 3 say":     `unknown flag --limit`,
		"say --limit many":  `--limit: "many" is no whole number`,
		"say --limit":       `--limit: there is no value; one that begins with - is written --limit=VALUE`,
		"say --says --to x": `--says: there is no value; one that begins with - is written --says=VALUE`,
		"say --says quiet":  `--says: that is not loud`,
		"say --dry-run=so":  `--dry-run: "so" is neither true nor false`,
		"say a b c d":       `too much is said`,
		"home now":          `unexpected argument now`,
		"deep":              `expected "one"`,
		"deep one":          `expected "<id>"`,
		"deep one a b":      `unexpected argument b`,
	} {
		var g program
		if got, err := Parse[doer]("p", "About.", &g, strings.Fields(line)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
}

func TestHelp(t *testing.T) {
	for line, want := range map[string]string{
		"--help": `Usage: p <command> [flags]

About.

Flags:
  -h, --help         Show this.
  -c, --config=FILE  A file.

Commands:
  home      Stay.
  say       Say a word.
  deep one  Do one.

p <command> --help tells more about one.
`,
		"say -h": `Usage: p say [<word> ...] [flags]

Say a word.

Arguments:
  [<word> ...]  What is said.

Flags:
  -h, --help         Show this.
  -c, --config=FILE  A file.
      --dry-run      Only tell.
      --says=WORD    A word.
      --limit=N      How many (50).
      --to=NAME,...  Who hears it.
`,
	} {
		var g program
		if got, err := Parse[doer]("p", "About.", &g, strings.Fields(line)); err != nil || got.Help != want {
			t.Errorf("%q: %v\n%s", line, err, got.Help)
		}
	}
}

func TestLongHelpIsFolded(t *testing.T) {
	got := table([][2]string{{"--a", strings.Repeat("word ", 40)}, {"--" + strings.Repeat("long", 10), "short"}})
	for line := range strings.Lines(got) {
		if len(line) > width+1 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	if n := strings.Count(got, "word"); n != 40 {
		t.Errorf("%d words in\n%s", n, got)
	}
}

func TestGrammarsThatAreWrong(t *testing.T) {
	for name, g := range map[string]any{
		"the command lost does nothing": &struct {
			Lost struct{} `cmd:""`
		}{},
		`the grammar of p at Limit: "x" is no whole number`: &struct {
			Limit int `default:"x"`
		}{},
	} {
		if _, err := Parse[doer]("p", "", g, nil); err == nil || err.Error() != name {
			t.Errorf("%v: %v", reflect.TypeOf(g), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"", "say a --limit 3", "deep one -n x", "--help", "-c", "--=", "say -- -x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var g program
		got, err := Parse[doer]("p", "About.", &g, strings.Split(line, " "))
		if (err == nil) != (got.Command != nil || got.Help != "") {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	})
}
