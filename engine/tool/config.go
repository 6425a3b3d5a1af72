package tool

import (
	"fmt"
	"net/url"
)

// Config is an [[mcp]] section: a tool server.
type Config struct {
	Name    string            `toml:"name"`
	Command []string          `toml:"command"`           // started by the daemon; or URL
	URL     string            `toml:"url"`               // streamable HTTP
	Env     map[string]string `toml:"env" secret:"true"` // of Command
	Approve string            `toml:"approve"`           // "never" | "writes" | "always": which calls a person approves first
}

// Default is the section as CONTRACT.md §2 gives it.
func Default() Config { return Config{Approve: "writes"} }

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	switch {
	case len(c.Command) == 0 && c.URL == "":
		problem("command", `is missing; write the program and its arguments as a list, or url = "https://…"`)
	case len(c.Command) > 0 && c.URL != "":
		problem("url", "stands beside command; write one of the two")
	case len(c.Command) > 0 && c.Command[0] == "":
		problem("command", "begins with an empty text; write the program first")
	}
	if c.URL != "" {
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			problem("url", `is no address; write a URL like "https://example.org/mcp"`)
		}
		if len(c.Env) > 0 {
			problem("env", "has no program to go to; take it out, or write command")
		}
	}
	if c.Approve != "never" && c.Approve != "writes" && c.Approve != "always" {
		problem("approve", fmt.Sprintf("%q is not known here; write one of: never, writes, always", c.Approve))
	}
}
