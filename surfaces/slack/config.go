// Package slack brings Slack's people to the engine over Socket Mode.
package slack

import (
	"strings"
	"time"

	"holdfast/surfaces/door"
)

// Config is a [[slack]] section.
type Config struct {
	Bot           string        `toml:"bot"`
	Name          string        `toml:"name"`                    // its address; "" = the bot's
	AppToken      string        `toml:"app_token" secret:"true"` // xapp-…: opens the socket
	BotToken      string        `toml:"bot_token" secret:"true"` // xoxb-…: reads and writes
	APIURL        string        `toml:"api_url"`
	AllowUsers    []string      `toml:"allow_users"` // ids; empty = members of the workspace
	AllowChannels []string      `toml:"allow_channels"`
	DM            bool          `toml:"dm"`
	CatchUp       time.Duration `toml:"catch_up"` // how far back messages are read at a start; 0 = not at all
}

// Default is the section as CONTRACT.md §2 gives it.
func Default() Config {
	return Config{APIURL: "https://slack.com/api/", DM: true, CatchUp: 6 * time.Hour}
}

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	switch {
	case c.AppToken == "":
		problem("app_token", `is missing; write the app-level token (xapp-…), or set SLACK_APP_TOKEN`)
	case strings.HasPrefix(c.AppToken, "xoxb-"):
		problem("app_token", "is a bot token; write the app-level token (xapp-…) here")
	}
	switch {
	case c.BotToken == "":
		problem("bot_token", `is missing; write the bot token (xoxb-…), or set SLACK_BOT_TOKEN`)
	case strings.HasPrefix(c.BotToken, "xapp-"):
		problem("bot_token", "is an app-level token; write the bot token (xoxb-…) here")
	}
	door.CheckURL(c.APIURL, Default().APIURL, problem)
}
