package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// testPlace is a machine with nothing but the given variables.
func testPlace(vars map[string]string) place {
	return place{home: "/home/ada", env: func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}}
}

// problems reads a text and returns what is wrong with it.
func problems(t *testing.T, text string, vars map[string]string) (lines []string) {
	t.Helper()
	for _, p := range testPlace(vars).read("holdfast.toml", text, t.TempDir()).Problems {
		lines = append(lines, p.String())
	}
	return lines
}

// TestCommonestConfig is the three lines of the README.
func TestCommonestConfig(t *testing.T) {
	l := testPlace(map[string]string{"OPENROUTER_API_KEY": "k1", "DISCORD_TOKEN": "k2"}).read("holdfast.toml",
		"[[bot]]\nmodels = [\"openrouter/meta-llama/llama-3.3-70b-instruct:free\"]\n[[discord]]\n", t.TempDir())
	if len(l.Problems) > 0 {
		t.Fatal(l.Problems)
	}
	d := l.Discord[0]
	if d.Bot != "bot" || d.Name != "bot" || d.Token != "k2" || d.CatchUp != 6*time.Hour || l.Providers["openrouter"].APIKey != "k1" {
		t.Errorf("%+v %+v", d, l.Providers)
	}
	if l.Store.Dir != store.Default().Dir {
		t.Error(l.Store.Dir)
	}
	if names := l.usedProviders(); !reflect.DeepEqual(names, []string{"openrouter"}) {
		t.Error(names)
	}
}

func TestNoConfigIsFine(t *testing.T) {
	l := testPlace(nil).read("", "", "")
	if len(l.Problems) > 0 || len(l.Bots) > 0 || l.Web.Listen != "127.0.0.1:8420" {
		t.Error(l.Problems, l.Bots, l.Web)
	}
}

// TestWholeFileProblems are those that no room can see alone.
func TestWholeFileProblems(t *testing.T) {
	const bot = "[[bot]]\nmodels = [\"demo/demo\"]\n"
	const two = bot + "[[bot]]\nname = \"ada\"\nmodels = [\"demo/demo\"]\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no models", "[[bot]]\nname = \"ada\"", []string{`holdfast.toml:1: bot.models: is missing; write for example models = ["openai/gpt-5-mini"]`}},
		{"provider mistyped", "[[bot]]\nmodels = [\"opnai/gpt-5-mini\"]", []string{`holdfast.toml:2: bot.models: "opnai/gpt-5-mini" names no known provider; did you mean openai/gpt-5-mini?`}},
		{"provider unknown", "[[bot]]\nmodels = [\"housemade/x\"]", []string{`holdfast.toml:2: bot.models: "housemade/x" names no known provider; write a section [provider.housemade] with its base_url`}},
		{"base_url missing", "[provider.mine]\n[[bot]]\nmodels = [\"mine/x\"]", []string{`holdfast.toml:1: provider.mine.base_url: is missing; write where the service is, for example "http://127.0.0.1:8000/v1"`}},
		{"provider name", "[provider.\"a b\"]\nbase_url = \"http://x\"", []string{`holdfast.toml:1: provider."a b": "a b" is no name; use 1 to 64 of A-Z a-z 0-9 _ . -`}},
		{"bot name", bot + "name = \"a b\"", []string{`holdfast.toml:3: bot.name: "a b" is no name; use 1 to 64 of A-Z a-z 0-9 _ . -`}},
		{"bots of one name", bot + bot, []string{`holdfast.toml:3: bot.name: "bot" is taken by another [[bot]]; write another name`}},
		{"price of nothing", bot + "[[price]]\nmodel = \"openai/x\"\ninput = 0\n[[price]]\nmodel = \"openai/y\"", []string{
			"holdfast.toml:3: price.output: is missing; write what a million tokens cost, 0 if they are free",
			"holdfast.toml:6: price.input: is missing; write what a million tokens cost, 0 if they are free",
			"holdfast.toml:6: price.output: is missing; write what a million tokens cost, 0 if they are free"}},
		{"price on one line", "price = [{ model = \"openai/x\", input = 0, output = 1.5 }]\n" + bot, nil},
		{"wire's own field", bot + "params = { temperature = 1, tools = [] }\n", []string{"holdfast.toml:3: bot.params.tools: is written by Holdfast itself; take it out"}},
		{"no such bot", bot + "[[discord]]\ntoken = \"x\"\nbot = \"eve\"", []string{`holdfast.toml:5: discord.bot: "eve" is no bot's name; write bot = "bot"`}},
		{"which bot", two + "[[slack]]\napp_token = \"x\"\nbot_token = \"y\"", []string{`holdfast.toml:6: slack.bot: is missing, since there are 2 bots; write bot = "bot" or bot = "ada"`}},
		{"surface without a bot", "[[telegram]]\ntoken = \"x\"", []string{`holdfast.toml:1: telegram.bot: is missing; write a [[bot]] section with models = ["PROVIDER/MODEL"]`}},
		{"two of a kind", bot + "[[discord]]\ntoken = \"x\"\n[[discord]]\ntoken = \"y\"", []string{`holdfast.toml:5: discord.name: "bot" is taken by another [[discord]]; write another name`}},
		{"tokens", bot + "[[slack]]\n[[discord]]\n[[telegram]]", []string{
			`holdfast.toml:3: slack.app_token: is missing; write the app-level token (xapp-…), or set SLACK_APP_TOKEN`,
			`holdfast.toml:3: slack.bot_token: is missing; write the bot token (xoxb-…), or set SLACK_BOT_TOKEN`,
			`holdfast.toml:4: discord.token: is missing; write the bot's token, or set DISCORD_TOKEN`,
			`holdfast.toml:5: telegram.token: is missing; write the bot's token, or set TELEGRAM_TOKEN`,
		}},
		{"tokens swapped", bot + "[[slack]]\napp_token = \"xoxb-1\"\nbot_token = \"xapp-1\"\napi_url = \"x\"", []string{
			`holdfast.toml:4: slack.app_token: is a bot token; write the app-level token (xapp-…) here`,
			`holdfast.toml:5: slack.bot_token: is an app-level token; write the bot token (xoxb-…) here`,
			`holdfast.toml:6: slack.api_url: is no address; write "https://slack.com/api/"`,
		}},
		{"tool servers", bot + "[[mcp]]\n[[mcp]]\nname = \"a\"\ncommand = [\"x\"]\nurl = \"http://x\"\n[[mcp]]\nname = \"a\"\nurl = \"x\"\nenv = {A = \"b\"}\napprove = \"maybe\"", []string{
			`holdfast.toml:3: mcp.command: is missing; write the program and its arguments as a list, or url = "https://…"`,
			`holdfast.toml:3: mcp.name: is missing; write for example name = "notes"`,
			`holdfast.toml:7: mcp.url: stands beside command; write one of the two`,
			`holdfast.toml:9: mcp.name: "a" is taken by another [[mcp]]; write another name`,
			`holdfast.toml:10: mcp.url: is no address; write a URL like "https://example.org/mcp"`,
			`holdfast.toml:11: mcp.env: has no program to go to; take it out, or write command`,
			`holdfast.toml:12: mcp.approve: "maybe" is not known here; write one of: never, writes, always`,
		}},
		{"schedules", two + "[[schedule]]\ncron = \"@every 1h\"\nprompt = \"go\"\nto = \"slack:ada/C1\"", []string{
			`holdfast.toml:6: schedule.bot: is missing, since there are 2 bots; write bot = "bot" or bot = "ada"`,
			`holdfast.toml:6: schedule.name: is missing; write for example name = "standup"`,
			`holdfast.toml:9: schedule.to: no [[slack]] section is named "ada"; write the name of one`,
		}},
		{"alerts", "[alerts]\nto = \"slack:ada/C1\"", []string{`holdfast.toml:2: alerts.to: no [[slack]] section is named "ada"; write the name of one`}},
		{"public bot", bot + "[web]\npublic = \"eve\"", []string{`holdfast.toml:4: web.public: "eve" is no bot's name; write public = "bot"`}},
		{"log", "[log]\nlevel = \"loud\"\nformat = \"xml\"", []string{
			`holdfast.toml:2: log.level: "loud" is not known here; write one of: debug, info, warn, error`,
			`holdfast.toml:3: log.format: "xml" is not known here; write one of: text, json`,
		}},
		{"timezone", "timezone = \"Mars/Base\"", []string{`holdfast.toml:1: timezone: "Mars/Base" is no time zone; write a name like "Europe/Berlin"`}},
		{"tools", bot + "tools = [\"fetsh\", \"time\", \"time\", \"zzzzzzzz\", \"note\"]\n[[mcp]]\nname = \"notes\"\ncommand = [\"x\"]", []string{
			`holdfast.toml:3: bot.tools: "fetsh" is no tool; did you mean "fetch"?`,
			`holdfast.toml:3: bot.tools: "time" stands there twice; take one out`,
			`holdfast.toml:3: bot.tools: "zzzzzzzz" is no tool; write a section [[mcp]] with name = "zzzzzzzz", or one of: fetch, files, memory, schedule, send, time, notes`,
			`holdfast.toml:3: bot.tools: "note" is no tool; did you mean "notes"?`,
		}},
		{"names of tool servers", bot + "[[mcp]]\nname = \"files\"\ncommand = [\"x\"]\n[[mcp]]\nname = \"a.b\"\ncommand = [\"x\"]\n[[mcp]]\nname = \"a_b\"\ncommand = [\"x\"]", []string{
			`holdfast.toml:4: mcp.name: "files" is a built-in tool; write another name`,
			`holdfast.toml:10: mcp.name: "a_b" and "a.b" begin the names of tools alike, since a dot becomes _ there; write another name`,
		}},
		{"visitors' tools", bot + "[web]\npublic = \"bot\"\npublic_tools = [\"timme\"]", []string{`holdfast.toml:5: web.public_tools: "timme" is no tool; did you mean "time"?`}},
		{"files", bot + "tools = [\"files\"]", []string{
			`holdfast.toml:1: bot.files_dir: is missing, since "files" stands in tools; write the path of a directory, which is made if it is not there`,
		}},
		{"instructions", bot + "instructions_file = \"nowhere\"\ninstructions = \"x\"", []string{`holdfast.toml:3: bot.instructions_file: stands beside instructions; write one of the two`}},
		{"rate", "[web]\nvisitor = \"20\"", []string{`holdfast.toml:2: web.visitor: "20" is not a rate; write a count per hour or day, for example "20/h" or "500/d"`}},
		{"all rooms at once, in the order of the file", "[engine]\nworkers = 0\n[log]\nlevel = \"x\"\n[[bot]]\nmodels = [\"x\"]\n[zoo]\n", []string{
			`holdfast.toml:2: engine.workers: must be at least 1`,
			`holdfast.toml:4: log.level: "x" is not known here; write one of: debug, info, warn, error`,
			`holdfast.toml:6: bot.models: "x" names no model; write PROVIDER/MODEL, for example "openai/gpt-5-mini"`,
			`holdfast.toml:7: zoo: is no known section; did you mean log?`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, c.text, nil); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

func TestFilesOfAConfig(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"who.md": "You are Ada.\n", "key": "sk-1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := testPlace(nil).read("holdfast.toml", "[store]\ndir = \"data\"\n[provider.openai]\napi_key_file = \"key\"\n[[bot]]\nmodels = [\"openai/x\"]\ninstructions_file = \"who.md\"\n", dir)
	if len(l.Problems) > 0 {
		t.Fatal(l.Problems)
	}
	if l.Store.Dir != filepath.Join(dir, "data") || l.Providers["openai"].APIKey != "sk-1" || l.Bots[0].Instructions != "You are Ada." {
		t.Errorf("%+v", l.Config)
	}
	l = testPlace(nil).read("holdfast.toml", "[[bot]]\nmodels = [\"openai/x\"]\ninstructions_file = \"nowhere\"\n", dir)
	if len(l.Problems) != 1 || !strings.HasPrefix(l.Problems[0].String(), "holdfast.toml:3: bot.instructions_file: cannot be read: ") {
		t.Error(l.Problems)
	}
}

func TestNotes(t *testing.T) {
	l := testPlace(map[string]string{"DISCORD_TOKEN": "x"}).read("holdfast.toml",
		"[[bot]]\nmodels = [\"openai/x\", \"openai/y\", \"demo/demo\"]\n[[discord]]\n", t.TempDir())
	want := []string{"openai has no key: set OPENAI_API_KEY, or write api_key in [provider.openai]", "alerts reach nobody: write to or webhook in [alerts]"}
	if !reflect.DeepEqual(l.Notes, want) {
		t.Errorf("got %q, want %q", l.Notes, want)
	}
}

func TestFindConfig(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	user := filepath.Join(dir, "conf")
	if err := os.MkdirAll(filepath.Join(user, "holdfast"), 0o700); err != nil {
		t.Fatal(err)
	}
	expect := func(asked string, vars map[string]string, want string) {
		t.Helper()
		if got, err := testPlace(vars).find(asked); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	expect("", map[string]string{"XDG_CONFIG_HOME": user}, "")
	write := func(path string) string {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	users := write(filepath.Join(user, "holdfast", "config.toml"))
	expect("", map[string]string{"XDG_CONFIG_HOME": user}, users)
	write("holdfast.toml")
	expect("", map[string]string{"XDG_CONFIG_HOME": user}, "holdfast.toml")
	other := write("other.toml")
	expect("", map[string]string{"HOLDFAST_CONFIG": other}, other)
	expect(users, map[string]string{"HOLDFAST_CONFIG": other}, users)
	if _, err := testPlace(nil).find("nowhere.toml"); err == nil || err.Error() != "the config nowhere.toml cannot be read: no such file or directory" {
		t.Error(err)
	}
}
