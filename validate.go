package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/internal/config"
	"holdfast/surfaces/discord"
	"holdfast/surfaces/slack"
	"holdfast/surfaces/telegram"
)

// goodName is what anything with a name may be called.
var goodName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// validate lets each room judge its section, then judges what only the whole file can tell.
func (l *loaded) validate(doc *config.Document) {
	if _, err := time.LoadLocation(l.Timezone); err != nil {
		doc.Problem("timezone", fmt.Sprintf(`%q is no time zone; write a name like "Europe/Berlin"`, l.Timezone))
	}
	l.Store.Validate(doc.Section("store"))
	l.Web.Validate(doc.Section("web"))
	l.Log.Validate(doc.Section("log"))
	l.Engine.Validate(doc.Section("engine"))
	l.Retry.Validate(doc.Section("retry"))
	l.Alerts.Validate(doc.Section("alerts"))
	for _, name := range slices.Sorted(maps.Keys(l.Providers)) {
		l.validateProvider(doc, name)
	}
	for i, b := range l.Bots {
		problem := doc.Section("bot", i)
		b.Validate(problem)
		l.validateModels(b, problem)
		l.validateTools("tools", b.Tools, problem)
		for _, to := range b.SendTo {
			l.reaches("send_to", to, problem)
		}
	}
	l.validateSurfaces(doc)
	l.validateServers(doc)
	l.validateTools("public_tools", l.Web.PublicTools, doc.Section("web"))
	for i, s := range l.Schedules {
		problem := doc.Section("schedule", i)
		s.Validate(problem)
		l.belongs(s.Bot, problem)
		l.reaches("to", s.To, problem)
	}
	l.validatePrices(doc)
	l.reaches("to", l.Alerts.To, doc.Section("alerts"))
	if l.Web.Public != "" && !l.hasBot(l.Web.Public) {
		doc.Section("web")("public", fmt.Sprintf("%q is no bot's name; %s", l.Web.Public, l.writeBot("public")))
	}
	l.validateNames(doc)
}

func (l *loaded) validateProvider(doc *config.Document, name string) {
	problem := doc.Section("provider", name)
	if !goodName.MatchString(name) {
		problem("", fmt.Sprintf("%q is no name; use 1 to 64 of A-Z a-z 0-9 _ . -", name))
	}
	l.Providers[name].Validate(problem)
}

// validateModels looks for the provider of every model.
func (l *loaded) validateModels(b engine.Bot, problem func(key, what string)) {
	for _, m := range b.Models {
		name, model, ok := strings.Cut(m, "/")
		if _, there := l.Providers[name]; there || !ok || name == "" || model == "" {
			continue
		}
		known := slices.Sorted(maps.Keys(l.Providers))
		for _, k := range []string{"openai", "anthropic", "openrouter", "groq", "gemini", "mistral", "deepseek", "ollama", "lmstudio"} {
			if !slices.Contains(known, k) {
				known = append(known, k)
			}
		}
		if near := config.Nearest(name, known); near != "" {
			problem("models", fmt.Sprintf("%q names no known provider; did you mean %s/%s?", m, near, model))
			continue
		}
		problem("models", fmt.Sprintf("%q names no known provider; write a section [provider.%s] with its base_url", m, name))
	}
}

// validateServers judges the tool servers. Their names begin the names of their tools, so they must
// differ also as tools spell them, and none may be a built-in's.
func (l *loaded) validateServers(doc *config.Document) {
	spelled := map[string]string{}
	for i, c := range l.MCP {
		problem := doc.Section("mcp", i)
		c.Validate(problem)
		if slices.Contains(tool.Builtin(), c.Name) {
			problem("name", fmt.Sprintf("%q is a built-in tool; write another name", c.Name))
		}
		plain := strings.ReplaceAll(c.Name, ".", "_")
		if other, taken := spelled[plain]; taken && other != c.Name {
			problem("name", fmt.Sprintf("%q and %q begin the names of tools alike, since a dot becomes _ there; write another name", c.Name, other))
		}
		spelled[plain] = c.Name
	}
}

// validateTools looks for every name in a list of tools.
func (l *loaded) validateTools(key string, names []string, problem func(key, what string)) {
	known := append(tool.Builtin(), column(l.MCP, func(c tool.Config) string { return c.Name })...)
	for i, name := range names {
		switch near := config.Nearest(name, known); {
		case name == "": // the room has said so
		case slices.Contains(names[:i], name):
			problem(key, fmt.Sprintf("%q stands there twice; take one out", name))
		case slices.Contains(known, name):
		case near != "":
			problem(key, fmt.Sprintf("%q is no tool; did you mean %q?", name, near))
		default:
			problem(key, fmt.Sprintf("%q is no tool; write a section [[mcp]] with name = %q, or one of: %s", name, name, strings.Join(known, ", ")))
		}
	}
}

// validateSurfaces judges every chat surface and its bot.
func (l *loaded) validateSurfaces(doc *config.Document) {
	for i, c := range l.Slack {
		c.Validate(doc.Section("slack", i))
		l.belongs(c.Bot, doc.Section("slack", i))
	}
	for i, c := range l.Discord {
		c.Validate(doc.Section("discord", i))
		l.belongs(c.Bot, doc.Section("discord", i))
	}
	for i, c := range l.Telegram {
		c.Validate(doc.Section("telegram", i))
		l.belongs(c.Bot, doc.Section("telegram", i))
	}
}

// validatePrices judges each, and that no model has two.
func (l *loaded) validatePrices(doc *config.Document) {
	seen := map[string]bool{}
	for i, p := range l.Prices {
		problem := doc.Section("price", i)
		p.Validate(problem)
		for _, key := range []string{"input", "output"} {
			if !doc.Has(config.Path("price", i, key)) {
				problem(key, "is missing; write what a million tokens cost, 0 if they are free")
			}
		}
		if seen[p.Model] {
			problem("model", fmt.Sprintf("%q has a price already; take one of the two out", p.Model))
		}
		seen[p.Model] = true
	}
}

// belongs checks the bot that a section names.
func (l *loaded) belongs(bot string, problem func(key, what string)) {
	switch {
	case l.hasBot(bot):
	case bot != "":
		problem("bot", fmt.Sprintf("%q is no bot's name; %s", bot, l.writeBot("bot")))
	case len(l.Bots) > 1:
		problem("bot", fmt.Sprintf("is missing, since there are %d bots; %s", len(l.Bots), l.writeBot("bot")))
	default:
		problem("bot", `is missing; write a [[bot]] section with models = ["PROVIDER/MODEL"]`)
	}
}

// writeBot says what may stand for a bot's name.
func (l *loaded) writeBot(key string) string {
	if len(l.Bots) == 0 {
		return "write a [[bot]] section first"
	}
	var names []string
	for _, b := range l.Bots {
		names = append(names, fmt.Sprintf("%s = %q", key, b.Name))
	}
	return "write " + strings.Join(names, " or ")
}

// reaches checks that the surface of a target exists; its form is judged by the room.
func (l *loaded) reaches(key, to string, problem func(key, what string)) {
	surface, _, ok := engine.ParseTarget(to)
	if ok && !slices.Contains(l.surfaceNames(), surface) {
		platform, name, _ := strings.Cut(surface, "/")
		problem(key, fmt.Sprintf("no [[%s]] section is named %q; write the name of one", platform, name))
	}
}

// surfaceNames are the addresses of all chat surfaces.
func (l *loaded) surfaceNames() (names []string) {
	for _, c := range l.Slack {
		names = append(names, "slack/"+c.Name)
	}
	for _, c := range l.Discord {
		names = append(names, "discord/"+c.Name)
	}
	for _, c := range l.Telegram {
		names = append(names, "telegram/"+c.Name)
	}
	return names
}

// validateNames checks everything that has a name: its letters, and that it is the only one.
func (l *loaded) validateNames(doc *config.Document) {
	check := func(section, example string, names []string) {
		taken := map[string]bool{}
		for i, name := range names {
			problem := doc.Section(section, i)
			switch {
			case name == "" && example == "":
			case name == "":
				problem("name", fmt.Sprintf("is missing; write for example name = %q", example))
			case !goodName.MatchString(name):
				problem("name", fmt.Sprintf("%q is no name; use 1 to 64 of A-Z a-z 0-9 _ . -", name))
			case taken[name]:
				problem("name", fmt.Sprintf("%q is taken by another [[%s]]; write another name", name, section))
			}
			taken[name] = true
		}
	}
	check("bot", "bot", column(l.Bots, func(b engine.Bot) string { return b.Name }))
	check("slack", "", column(l.Slack, func(c slack.Config) string { return c.Name }))
	check("discord", "", column(l.Discord, func(c discord.Config) string { return c.Name }))
	check("telegram", "", column(l.Telegram, func(c telegram.Config) string { return c.Name }))
	check("mcp", "notes", column(l.MCP, func(c tool.Config) string { return c.Name }))
	check("schedule", "standup", column(l.Schedules, func(s engine.Schedule) string { return s.Name }))
}

// column is one value of every element.
func column[T, V any](list []T, value func(T) V) (all []V) {
	for _, item := range list {
		all = append(all, value(item))
	}
	return all
}

// notes tells what works, but probably not as meant.
func (l *loaded) notes() (notes []string) {
	told := map[string]bool{}
	for _, b := range l.Bots {
		for _, m := range b.Models {
			name, _, _ := strings.Cut(m, "/")
			_, keyVar, _ := llm.Known(name)
			if !told[name] && keyVar != "" && l.Providers[name].APIKey == "" {
				told[name] = true
				notes = append(notes, fmt.Sprintf("%s has no key: set %s, or write api_key in [provider.%s]", name, keyVar, name))
			}
		}
	}
	if l.Alerts.To == "" && l.Alerts.Webhook == "" {
		notes = append(notes, "alerts reach nobody: write to or webhook in [alerts]")
	}
	return notes
}
