// Package discord brings Discord's people to the engine over the gateway.
package discord

import (
	"time"

	"holdfast/surfaces/door"
)

// Config is a [[discord]] section.
type Config struct {
	Bot           string        `toml:"bot"`
	Name          string        `toml:"name"` // its address; "" = the bot's
	Token         string        `toml:"token" secret:"true"`
	APIURL        string        `toml:"api_url"`
	AllowUsers    []string      `toml:"allow_users"`    // ids
	AllowChannels []string      `toml:"allow_channels"` // channel or guild ids
	DM            bool          `toml:"dm"`             // strangers' direct messages too
	CatchUp       time.Duration `toml:"catch_up"`       // how far back messages are read at a start; 0 = not at all
}

// Default is the section as CONTRACT.md §2 gives it.
func Default() Config {
	return Config{APIURL: "https://discord.com/api/v10/", CatchUp: 6 * time.Hour}
}

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	if c.Token == "" {
		problem("token", "is missing; write the bot's token, or set DISCORD_TOKEN")
	}
	door.CheckURL(c.APIURL, Default().APIURL, problem)
}
