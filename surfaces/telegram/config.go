// Package telegram brings Telegram's people to the engine by long polling.
package telegram

import (
	"time"

	"holdfast/surfaces/door"
)

// Config is a [[telegram]] section.
type Config struct {
	Bot        string        `toml:"bot"`
	Name       string        `toml:"name"` // its address; "" = the bot's
	Token      string        `toml:"token" secret:"true"`
	APIURL     string        `toml:"api_url"`
	AllowUsers []string      `toml:"allow_users"` // ids
	AllowChats []string      `toml:"allow_chats"` // ids
	DM         bool          `toml:"dm"`          // strangers' direct messages too
	CatchUp    time.Duration `toml:"catch_up"`    // how far back messages are read at a start; 0 = not at all
}

// Default is the section as CONTRACT.md §2 gives it.
func Default() Config {
	return Config{APIURL: "https://api.telegram.org", CatchUp: 6 * time.Hour}
}

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	if c.Token == "" {
		problem("token", "is missing; write the bot's token, or set TELEGRAM_TOKEN")
	}
	door.CheckURL(c.APIURL, Default().APIURL, problem)
}
