package engine

import (
	"reflect"
	"testing"
)

// said collects what a Validate reports, as "key: what".
func said(validate func(func(key, what string))) (all []string) {
	validate(func(key, what string) { all = append(all, key+": "+what) })
	return all
}

func TestDefaultSectionsAreValid(t *testing.T) {
	bot := DefaultBot()
	bot.Models = []string{"openrouter/meta-llama/llama-3.3-70b-instruct:free"}
	schedule := DefaultSchedule()
	schedule.Cron, schedule.Prompt, schedule.To = "@every 1h", "go", "slack:ada/C0123"
	for _, v := range []func(func(key, what string)){bot.Validate, schedule.Validate, DefaultAlerts().Validate, Default().Validate} {
		if got := said(v); got != nil {
			t.Error(got)
		}
	}
}

func TestWrongSections(t *testing.T) {
	for _, c := range []struct {
		name     string
		validate func(func(key, what string))
		want     []string
	}{
		{"bot", Bot{Models: []string{"gpt", "/x", "x/"}, Instructions: "a", InstructionsFile: "b", Tools: []string{""}, Reply: "never",
			Operators: []string{"U0123", "slack:U0123"}, DailyTokens: -1, PerPerson: -1}.Validate, []string{
			`models: "gpt" names no model; write PROVIDER/MODEL, for example "openai/gpt-5-mini"`,
			`models: "/x" names no model; write PROVIDER/MODEL, for example "openai/gpt-5-mini"`,
			`models: "x/" names no model; write PROVIDER/MODEL, for example "openai/gpt-5-mini"`,
			`instructions_file: stands beside instructions; write one of the two`,
			`tools: has an empty name; write the names of built-in tools or of [[mcp]] sections`,
			`reply: "never" is not known here; write one of: mention, thread, always`,
			`operators: "U0123" names nobody; write the surface and the id there, for example "slack:U0123"`,
			`max_steps: must be at least 1`,
			`context_tokens: must be at least 1; write for example 24000`,
			`daily_tokens: must be 0 (no limit) or more`,
			`per_person: must be 0 (no limit) or more`,
		}},
		{"files without a directory", Bot{Models: []string{"demo/demo"}, Tools: []string{"files"}, MaxSteps: 1, ContextTokens: 1}.Validate, []string{
			`files_dir: is missing, since "files" stands in tools; write the path of a directory, which is made if it is not there`,
		}},
		{"a directory without files", Bot{Models: []string{"demo/demo"}, FilesDir: "x", MaxSteps: 1, ContextTokens: 1}.Validate, []string{
			`files_dir: is of no use without "files" in tools; write it there, or leave this out`,
		}},
		{"a file as directory", Bot{Models: []string{"demo/demo"}, Tools: []string{"files"}, FilesDir: "sections.go", MaxSteps: 1, ContextTokens: 1}.Validate, []string{
			`files_dir: is no directory; write the path of one`,
		}},
		{"bot that may send", Bot{Models: []string{"a/b"}, MaxSteps: 1, ContextTokens: 1, Tools: []string{"send"}}.Validate, []string{
			`send_to: is missing, since "send" is among the tools; write for example send_to = ["slack:NAME/C0123"]`,
		}},
		{"bot that sends nowhere", Bot{Models: []string{"a/b"}, MaxSteps: 1, ContextTokens: 1, Tools: []string{"send"}, SendTo: []string{"", "web:a chat", "web:ok"}}.Validate, []string{
			`send_to: "" names no channel; write for example "slack:NAME/C0123", "discord:NAME/456" or "web:CHAT"`,
			`send_to: "web:a chat" names no channel; write for example "slack:NAME/C0123", "discord:NAME/456" or "web:CHAT"`,
		}},
		{"a place without send", Bot{Models: []string{"a/b"}, MaxSteps: 1, ContextTokens: 1, SendTo: []string{"web:ok"}}.Validate, []string{
			`send_to: is of no use without "send" in tools; write it there, or leave this out`,
		}},
		{"fields of the wire's own", Bot{Models: []string{"a/b"}, MaxSteps: 1, ContextTokens: 1, Params: map[string]any{
			"temperature": 0.7, "model": "x", "messages": "x", "system": "x", "tools": "x", "stream": false, "stream_options": true}}.Validate, []string{
			`params.messages: is written by Holdfast itself; take it out`,
			`params.model: is written by Holdfast itself; take it out`,
			`params.stream: is written by Holdfast itself; take it out`,
			`params.stream_options: is written by Holdfast itself; take it out, or write false for a server that refuses it`,
			`params.system: is written by Holdfast itself; take it out`,
			`params.tools: is written by Holdfast itself; take it out`,
		}},
		{"params", Bot{Models: []string{"a/b"}, MaxSteps: 1, ContextTokens: 1, Params: map[string]any{"temperature": 0.7, "stream_options": false}}.Validate, nil},
		{"bot without models", DefaultBot().Validate, []string{`models: is missing; write for example models = ["openai/gpt-5-mini"]`}},
		{"empty schedule", Schedule{}.Validate, []string{
			`cron: is missing; write five fields like "0 9 * * 1-5", or "@every 1h"`,
			`prompt: is missing; write what the bot is told at that time`,
			`missed: "" is not known here; write one of: once, skip`,
		}},
		{"schedule", Schedule{Cron: "61 * * * *", Timezone: "Mars/Base", Prompt: "x", To: "slack:C0123", Missed: "all"}.Validate, []string{
			`cron: is no schedule (end of range (61) above maximum (59): 61); write five fields like "0 9 * * 1-5", or "@every 1h"`,
			`timezone: "Mars/Base" is no time zone; write a name like "Europe/Berlin"`,
			`to: "slack:C0123" names no channel; write for example "slack:NAME/C0123", "discord:NAME/456" or "web:CHAT"`,
			`missed: "all" is not known here; write one of: once, skip`,
		}},
		{"alerts", Alerts{To: "mail:me", Webhook: "example.org"}.Validate, []string{
			`outage: must be longer than 0; write for example "5m"`,
			`provider_wait: must be longer than 0; write for example "1h"`,
			`hard_down: must be at least 1`,
			`to: "mail:me" names no channel; write for example "slack:NAME/C0123" or "discord:NAME/456"`,
			`webhook: is no address; write a URL like "https://example.org/hook"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := said(c.validate); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestParseTarget(t *testing.T) {
	if s, c, ok := ParseTarget("discord:ada/456"); !ok || s != "discord/ada" || c != "456" {
		t.Error(s, c, ok)
	}
}
