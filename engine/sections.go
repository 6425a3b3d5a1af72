package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"holdfast/engine/rhythm"
)

// Schedule is a [[schedule]] section: a prompt that the clock sends.
type Schedule struct {
	Name     string `toml:"name"`
	Bot      string `toml:"bot"`
	Cron     string `toml:"cron"`     // five fields, or "@every 1h"
	Timezone string `toml:"timezone"` // IANA name; "" = the file's
	Prompt   string `toml:"prompt"`
	To       string `toml:"to"`     // "slack:NAME/C0123", "web:CHAT"; "" = a chat of its own on the web page
	Missed   string `toml:"missed"` // "once" | "skip": what becomes of ticks while the daemon was down
}

// DefaultSchedule is the section as CONTRACT.md §2 gives it.
func DefaultSchedule() Schedule { return Schedule{Missed: "once"} }

// Validate reports every wrong value; key is relative to the section.
func (s Schedule) Validate(problem func(key, what string)) {
	if s.Cron == "" {
		problem("cron", `is missing; write five fields like "0 9 * * 1-5", or "@every 1h"`)
	} else if _, err := rhythm.Parse(s.Cron, time.UTC); err != nil {
		problem("cron", fmt.Sprintf(`is no schedule (%v); write five fields like "0 9 * * 1-5", or "@every 1h"`, err))
	}
	if _, err := time.LoadLocation(s.Timezone); err != nil {
		problem("timezone", fmt.Sprintf(`%q is no time zone; write a name like "Europe/Berlin"`, s.Timezone))
	}
	if strings.TrimSpace(s.Prompt) == "" {
		problem("prompt", "is missing; write what the bot is told at that time")
	}
	validPlace("to", s.To, problem)
	oneOf("missed", s.Missed, problem, "once", "skip")
}

// Validate reports every wrong value; key is relative to the section. Whether its providers exist
// is for whoever knows the whole file.
func (b Bot) Validate(problem func(key, what string)) {
	if len(b.Models) == 0 {
		problem("models", `is missing; write for example models = ["openai/gpt-5-mini"]`)
	}
	for _, m := range b.Models {
		if provider, model, ok := strings.Cut(m, "/"); !ok || provider == "" || model == "" {
			problem("models", fmt.Sprintf(`%q names no model; write PROVIDER/MODEL, for example "openai/gpt-5-mini"`, m))
		}
	}
	if b.Instructions != "" && b.InstructionsFile != "" {
		problem("instructions_file", "stands beside instructions; write one of the two")
	}
	b.validateParams(problem)
	b.validateSend(problem)
	if slices.Contains(b.Tools, "") {
		problem("tools", "has an empty name; write the names of built-in tools or of [[mcp]] sections")
	}
	b.validateFiles(problem)
	if b.Reply != "" {
		oneOf("reply", b.Reply, problem, "mention", "thread", "always")
	}
	for _, o := range b.Operators {
		if surface, id, ok := strings.Cut(o, ":"); !ok || id == "" || !slices.Contains(platforms, surface) {
			problem("operators", fmt.Sprintf(`%q names nobody; write the surface and the id there, for example "slack:U0123"`, o))
		}
	}
	if b.MaxSteps < 1 {
		problem("max_steps", "must be at least 1")
	}
	if b.ContextTokens < 1 {
		problem("context_tokens", "must be at least 1; write for example 24000")
	}
	if b.DailyTokens < 0 {
		problem("daily_tokens", "must be 0 (no limit) or more")
	}
	if b.PerPerson < 0 {
		problem("per_person", "must be 0 (no limit) or more")
	}
}

// ownFields are what the wires write themselves; with others in their place no answer could be read,
// or the house would show something else than what was sent.
var ownFields = []string{"messages", "model", "stream", "stream_options", "system", "tools"}

// validateParams refuses what would take the place of a field of the wire's own. Only stream_options
// may be switched off, for servers that refuse it.
func (b Bot) validateParams(problem func(key, what string)) {
	for _, field := range ownFields {
		value, there := b.Params[field]
		if !there || field == "stream_options" && value == false {
			continue
		}
		what := "is written by Holdfast itself; take it out"
		if field == "stream_options" {
			what += ", or write false for a server that refuses it"
		}
		problem("params."+field, what)
	}
}

// validateSend judges where the tool send may speak.
func (b Bot) validateSend(problem func(key, what string)) {
	uses := slices.Contains(b.Tools, "send")
	for _, to := range b.SendTo {
		validPlace("send_to", to, problem)
	}
	switch {
	case uses && len(b.SendTo) == 0:
		problem("send_to", `is missing, since "send" is among the tools; write for example send_to = ["slack:NAME/C0123"]`)
	case !uses && len(b.SendTo) > 0:
		problem("send_to", `is of no use without "send" in tools; write it there, or leave this out`)
	}
}

// validateFiles judges the directory of the tool files: there must be one, and a file is none.
func (b Bot) validateFiles(problem func(key, what string)) {
	uses := slices.Contains(b.Tools, "files")
	info, err := os.Stat(b.FilesDir)
	switch {
	case uses && b.FilesDir == "":
		problem("files_dir", `is missing, since "files" stands in tools; write the path of a directory, which is made if it is not there`)
	case !uses && b.FilesDir != "":
		problem("files_dir", `is of no use without "files" in tools; write it there, or leave this out`)
	case uses && err == nil && !info.IsDir():
		problem("files_dir", "is no directory; write the path of one")
	case uses && err != nil && !errors.Is(err, fs.ErrNotExist):
		problem("files_dir", fmt.Sprintf("cannot be used: %v; write the path of a directory", err))
	}
}

// Validate reports every wrong value; key is relative to the section.
func (a Alerts) Validate(problem func(key, what string)) {
	if a.Outage <= 0 {
		problem("outage", `must be longer than 0; write for example "5m"`)
	}
	if a.ProviderWait <= 0 {
		problem("provider_wait", `must be longer than 0; write for example "1h"`)
	}
	if a.HardDown < 1 {
		problem("hard_down", "must be at least 1")
	}
	validTarget("to", a.To, problem)
	if a.Webhook == "" {
		return
	}
	if u, err := url.Parse(a.Webhook); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		problem("webhook", `is no address; write a URL like "https://example.org/hook"`)
	}
}

// Price is a [[price]] section: what a million tokens of a model cost, in the file's currency.
type Price struct {
	Model  string  `toml:"model"` // PROVIDER/MODEL
	Input  float64 `toml:"input"`
	Output float64 `toml:"output"`
}

// Validate reports every wrong value; key is relative to the section.
func (p Price) Validate(problem func(key, what string)) {
	if provider, model, ok := strings.Cut(p.Model, "/"); !ok || provider == "" || model == "" {
		problem("model", `is missing or names no model; write for example model = "openai/gpt-5-mini"`)
	}
	if !(p.Input >= 0) || !(p.Output >= 0) {
		problem("input", "and output must be 0 or more: what a million tokens cost")
	}
}

// Cost is what so many tokens cost.
func (p Price) Cost(in, out int64) float64 {
	return (p.Input*float64(in) + p.Output*float64(out)) / 1e6
}

// platforms are the surfaces that a target or a person can be on.
var platforms = []string{"slack", "discord", "telegram"}

// ParseTarget reads where a message is to go: "slack:NAME/C0123" is channel C0123 on surface slack/NAME.
func ParseTarget(to string) (surface, channel string, ok bool) {
	platform, rest, _ := strings.Cut(to, ":")
	name, channel, _ := strings.Cut(rest, "/")
	ok = slices.Contains(platforms, platform) && name != "" && channel != ""
	return platform + "/" + name, channel, ok
}

// ParsePlace reads where a bot may speak: a target, or "web:CHAT", which is that chat on the page.
func ParsePlace(to string) (surface, channel string, ok bool) {
	if chat, web := strings.CutPrefix(to, "web:"); web {
		return "web", chat, isChat(chat)
	}
	return ParseTarget(to)
}

// isChat reports what can be a chat's id on the page.
func isChat(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

func validPlace(key, to string, problem func(key, what string)) {
	if _, _, ok := ParsePlace(to); !ok && (to != "" || key != "to") {
		problem(key, fmt.Sprintf(`%q names no channel; write for example "slack:NAME/C0123", "discord:NAME/456" or "web:CHAT"`, to))
	}
}

func validTarget(key, to string, problem func(key, what string)) {
	if _, _, ok := ParseTarget(to); to != "" && !ok {
		problem(key, fmt.Sprintf(`%q names no channel; write for example "slack:NAME/C0123" or "discord:NAME/456"`, to))
	}
}

func oneOf(key, value string, problem func(key, what string), allowed ...string) {
	if !slices.Contains(allowed, value) {
		problem(key, fmt.Sprintf("%q is not known here; write one of: %s", value, strings.Join(allowed, ", ")))
	}
}
