package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"holdfast/surfaces/slack"
)

// initCmd writes the shortest config that works. On a terminal it asks for what the flags leave open.
type initCmd struct {
	Provider string   `placeholder:"NAME" help:"Who answers: openai, anthropic, openrouter, groq, gemini, mistral, deepseek, ollama, lmstudio, demo; or a name of your own with --base-url."`
	Model    string   `placeholder:"MODEL" help:"Which of its models, as the provider names it."`
	KeyEnv   string   `placeholder:"VARIABLE" help:"The environment variable of its key, if it is not the usual one."`
	BaseURL  string   `name:"base-url" placeholder:"URL" help:"Where a provider is that is not known; ends before /chat/completions."`
	Surface  []string `placeholder:"NAME" help:"Where people talk besides the page: slack, discord or telegram; may be given several times."`
	Manifest string   `name:"slack-manifest" placeholder:"FILE" help:"Write a manifest there, from which Slack makes the app."`
	Yes      bool     `short:"y" help:"Ask nothing; what is not given is found or left out."`
}

// Validate refuses surfaces that do not exist.
func (i *initCmd) Validate() error {
	for _, s := range i.Surface {
		if !slices.Contains(chatPlatforms(), s) {
			return fmt.Errorf("%q is no surface; use slack, discord or telegram", s)
		}
	}
	return nil
}

func (i *initCmd) Run(c *call) error {
	path, err := c.freshConfig()
	if err != nil {
		return err
	}
	ctx, cancel := untilSignal()
	defer cancel()
	if err := i.complete(ctx, c); err != nil {
		return err
	}
	text := i.text()
	l, missing := i.judge(c.place, path, text)
	if len(l.Problems) > 0 {
		printProblems(c.err, l)
		return errors.New("so nothing was written")
	}
	if err := writeNew(path, text); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s is written:\n\n    %s\n\n", path, strings.Join(strings.Split(strings.TrimSpace(text), "\n"), "\n    "))
	if i.Manifest != "" {
		if err := writeNew(i.Manifest, slack.Manifest("Holdfast")); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s is written: https://api.slack.com/apps → Create New App → From a manifest\n", i.Manifest)
	}
	i.sayNext(c, path, missing)
	return nil
}

// freshConfig is where a new config would be found first; an error if one is there, or if it would
// hide another.
func (c *call) freshConfig() (string, error) {
	if c.demo {
		return "", errors.New("the demo needs no config; start it with: holdfast demo")
	}
	asked := c.config
	if asked == "" {
		asked = c.place.get("HOLDFAST_CONFIG")
	}
	path, err := asked, error(nil)
	if asked == "" {
		path, err = c.place.find("")
	} else if _, stat := os.Stat(asked); errors.Is(stat, fs.ErrNotExist) {
		return asked, nil
	}
	if err != nil || path == "" {
		return "holdfast.toml", err
	}
	return "", fmt.Errorf("there is a config already, and nothing is overwritten: %s\nEdit it, and see what %s says; or write another: holdfast --config FILE init", path, c.line("check"))
}

// complete asks, finds or assumes what the flags have left open.
func (i *initCmd) complete(ctx context.Context, c *call) error {
	return i.answer(ctx, &questions{place: c.place, in: bufio.NewReader(c.in), out: c.out, ask: !i.Yes && isInteractive(c.in)})
}

// answer fills in one part after the other.
func (i *initCmd) answer(ctx context.Context, q *questions) error {
	for _, part := range []func(context.Context, *questions) error{i.askProvider, i.askModel, i.askSurfaces, i.askManifest} {
		if err := part(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// isInteractive tells whether somebody can be asked.
func isInteractive(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && isTerminal(f)
}

// text is the config.
func (i *initCmd) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[[bot]]\nmodels = [%q]\n", i.Provider+"/"+i.Model)
	if i.BaseURL != "" || i.KeyEnv != "" {
		fmt.Fprintf(&b, "[provider.%s]\n", i.Provider)
	}
	if i.BaseURL != "" {
		fmt.Fprintf(&b, "base_url = %q\n", i.BaseURL)
	}
	if i.KeyEnv != "" {
		fmt.Fprintf(&b, "api_key = \"${%s}\"\n", i.KeyEnv)
	}
	for _, s := range i.Surface {
		fmt.Fprintf(&b, "[[%s]]\n", s)
	}
	return b.String()
}

// judge lets the one validator look at the text as it will be once every variable that it needs is
// set, and tells which are not set yet.
func (i *initCmd) judge(p place, path, text string) (l *loaded, missing []variable) {
	needed := i.variables()
	real := p.env
	p.env = func(name string) (string, bool) {
		v, ok := real(name)
		if v == "" && slices.ContainsFunc(needed, func(n variable) bool { return n.name == name }) {
			return "set-later", true
		}
		return v, ok
	}
	for _, n := range needed {
		if v, _ := real(n.name); v == "" {
			missing = append(missing, n)
		}
	}
	return p.read(path, text, filepath.Dir(path)), missing
}

// sayNext tells what is left to do.
func (i *initCmd) sayNext(c *call, path string, missing []variable) {
	if len(missing) == 0 {
		fmt.Fprintf(c.out, "It is fine. Start it with: %s\n", c.line("run"))
		return
	}
	fmt.Fprintln(c.out, "It is fine. Before the start set in the environment:")
	var rows [][]string
	for _, m := range missing {
		rows = append(rows, []string{"  " + m.name, m.from})
	}
	table(c.out, rows)
	fmt.Fprintf(c.out, "Then start it with: %s\n%s looks whether everything is reached.\n", c.line("run"), c.line("doctor"))
}

// writeNew writes a file that must not be there yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and nothing is overwritten", path)
	} else if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
