package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/internal/config"
	"holdfast/store"
	"holdfast/surfaces/discord"
	"holdfast/surfaces/slack"
	"holdfast/surfaces/telegram"
	"holdfast/web"
)

// Config is the whole file: its sections are the rooms, each of which owns its own.
type Config struct {
	Timezone  string                `toml:"timezone"`
	Store     store.Config          `toml:"store"`
	Web       web.Config            `toml:"web"`
	Log       Log                   `toml:"log"`
	Engine    engine.Config         `toml:"engine"`
	Retry     ladder.Config         `toml:"retry"`
	Alerts    engine.Alerts         `toml:"alerts"`
	Providers map[string]llm.Config `toml:"provider"`
	Bots      []engine.Bot          `toml:"bot"`
	Slack     []slack.Config        `toml:"slack"`
	Discord   []discord.Config      `toml:"discord"`
	Telegram  []telegram.Config     `toml:"telegram"`
	MCP       []tool.Config         `toml:"mcp"`
	Schedules []engine.Schedule     `toml:"schedule"`
	Currency  string                `toml:"currency"` // of the prices
	Prices    []engine.Price        `toml:"price"`
}

// Log is the [log] section.
type Log struct {
	Level  string `toml:"level"`  // "debug" | "info" | "warn" | "error"
	Format string `toml:"format"` // "text" | "json"
}

// Validate reports every wrong value; key is relative to the section.
func (l Log) Validate(problem func(key, what string)) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		problem("level", fmt.Sprintf("%q is not known here; write one of: debug, info, warn, error", l.Level))
	}
	if l.Format != "text" && l.Format != "json" {
		problem("format", fmt.Sprintf("%q is not known here; write one of: text, json", l.Format))
	}
}

// defaults is the config without a file.
func defaults() Config {
	return Config{
		Store: store.Default(), Web: web.Default(), Log: Log{Level: "info", Format: "text"},
		Currency: "USD", Engine: engine.Default(), Retry: ladder.Default(), Alerts: engine.DefaultAlerts(),
	}
}

// fresh gives an element of a list of sections, or a named section, its defaults.
func fresh(section, name string) (any, bool) {
	switch section {
	case "bot":
		return engine.DefaultBot(), true
	case "provider":
		return providerDefaults(name), true
	case "slack":
		return slack.Default(), true
	case "discord":
		return discord.Default(), true
	case "telegram":
		return telegram.Default(), true
	case "mcp":
		return tool.Default(), true
	case "schedule":
		return engine.DefaultSchedule(), true
	}
	return nil, false
}

// providerDefaults is what is known of a provider without its section.
func providerDefaults(name string) llm.Config {
	if c, _, ok := llm.Known(name); ok {
		return c
	}
	return llm.Default()
}

// place is where the process looks for files and variables.
type place struct {
	env  func(name string) (string, bool)
	home string
}

// here is the place of this process.
func here() place {
	home, _ := os.UserHomeDir()
	return place{env: os.LookupEnv, home: home}
}

// get is a variable, or "".
func (p place) get(name string) string {
	v, _ := p.env(name)
	return v
}

// find is the path of the config: as asked for, or the first that exists; "" if there is none.
func (p place) find(asked string) (string, error) {
	if asked == "" {
		asked = p.get("HOLDFAST_CONFIG")
	}
	if asked != "" {
		if _, err := os.Stat(asked); err != nil {
			return "", fmt.Errorf("the config %s cannot be read: %w", asked, errors.Unwrap(err))
		}
		return asked, nil
	}
	user := p.get("XDG_CONFIG_HOME")
	if !filepath.IsAbs(user) {
		user = filepath.Join(p.home, ".config")
	}
	for _, path := range []string{"holdfast.toml", filepath.Join(user, "holdfast", "config.toml")} {
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("the config %s cannot be read: %w", path, errors.Unwrap(err))
		}
	}
	return "", nil
}

// loaded is a config with what was found while reading it.
type loaded struct {
	Config
	File     string           // "" = none, built-in defaults
	Problems []config.Problem // in the order of the file; what has any must not be started
	Notes    []string         // what works, but probably not as meant
}

// load reads and judges the config; it is what check, the start and every other command use (S8).
func (p place) load(asked string) (*loaded, error) {
	path, err := p.find(asked)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return p.read("", "", ""), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the config: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("find the config's directory: %w", err)
	}
	return p.read(path, string(text), dir), nil
}

// read decodes and judges a text; relative paths start at dir.
func (p place) read(file, text, dir string) *loaded {
	l := &loaded{Config: defaults(), File: file}
	doc := config.Decode(config.Source{
		Name: file, Text: text, Env: p.env, Fresh: fresh,
		ReadFile: func(path string) ([]byte, error) { return os.ReadFile(inside(dir, path)) },
	}, &l.Config)
	l.fill(p)
	l.readInstructions(doc, dir)
	if l.Store.Dir == "" {
		l.Store.Dir = store.Default().Dir
	}
	l.Store.Dir = inside(dir, l.Store.Dir)
	for i := range l.Bots {
		l.Bots[i].FilesDir = inside(dir, l.Bots[i].FilesDir)
	}
	l.validate(doc)
	l.Problems = doc.Problems()
	l.Notes = l.notes()
	return l
}

// fill puts in what may be left out: tokens and keys from the environment, the one bot, names.
func (l *loaded) fill(p place) {
	or := func(value *string, other string) {
		if *value == "" {
			*value = other
		}
	}
	bot := ""
	if len(l.Bots) == 1 {
		bot = l.Bots[0].Name
	}
	for i := range l.Slack {
		s := &l.Slack[i]
		or(&s.Bot, bot)
		or(&s.Name, s.Bot)
		or(&s.AppToken, p.get("SLACK_APP_TOKEN"))
		or(&s.BotToken, p.get("SLACK_BOT_TOKEN"))
	}
	for i := range l.Discord {
		s := &l.Discord[i]
		or(&s.Bot, bot)
		or(&s.Name, s.Bot)
		or(&s.Token, p.get("DISCORD_TOKEN"))
	}
	for i := range l.Telegram {
		s := &l.Telegram[i]
		or(&s.Bot, bot)
		or(&s.Name, s.Bot)
		or(&s.Token, p.get("TELEGRAM_TOKEN"))
	}
	for i := range l.Schedules {
		or(&l.Schedules[i].Bot, bot)
	}
	l.fillProviders(p)
}

// fillProviders adds the providers that need no section, and keys from the environment.
func (l *loaded) fillProviders(p place) {
	if l.Providers == nil {
		l.Providers = map[string]llm.Config{}
	}
	names := []string{"demo"}
	for _, b := range l.Bots {
		for _, m := range b.Models {
			name, _, _ := strings.Cut(m, "/")
			names = append(names, name)
		}
	}
	for _, name := range names {
		_, _, known := llm.Known(name)
		if _, ok := l.Providers[name]; !ok && known {
			l.Providers[name] = providerDefaults(name)
		}
	}
	for name, c := range l.Providers {
		if _, keyVar, known := llm.Known(name); known && keyVar != "" && c.APIKey == "" {
			c.APIKey = p.get(keyVar)
			l.Providers[name] = c
		}
	}
}

// readInstructions puts the content of instructions_file into instructions.
func (l *loaded) readInstructions(doc *config.Document, dir string) {
	for i := range l.Bots {
		b := &l.Bots[i]
		if b.InstructionsFile == "" || b.Instructions != "" {
			continue
		}
		text, err := os.ReadFile(inside(dir, b.InstructionsFile))
		if err != nil {
			doc.Section("bot", i)("instructions_file", fmt.Sprintf("cannot be read: %v; write the path of a text file", err))
			continue
		}
		b.Instructions, b.InstructionsFile = strings.TrimSpace(string(text)), ""
	}
}

// inside is a path as seen from dir.
func inside(dir, path string) string {
	if path == "" || filepath.IsAbs(path) || dir == "" {
		return path
	}
	return filepath.Join(dir, path)
}

// location is where days begin and times are told; [the machine's] if the config does not say.
func (c Config) location() *time.Location {
	if loc, err := time.LoadLocation(c.Timezone); err == nil && c.Timezone != "" {
		return loc
	}
	return time.Local
}

// bot tells whether there is a bot of that name.
func (c Config) hasBot(name string) bool {
	return slices.ContainsFunc(c.Bots, func(b engine.Bot) bool { return b.Name == name })
}
