package engine

import "time"

// Config is the [engine] section.
type Config struct {
	Workers      int           `toml:"workers"`       // turns running at once; one that waits holds none
	Durable      bool          `toml:"durable"`       // false: no parks, re-arms, owed
	Merge        bool          `toml:"merge"`         // a waiting turn takes in messages of the same person
	TurnDeadline time.Duration `toml:"turn_deadline"` // running time of one run
	StopGrace    time.Duration `toml:"stop_grace"`    // what running turns get at a clean stop
	PoisonAfter  int           `toml:"poison_after"`  // process deaths at one step before a turn is ended; 0 = never
}

// Default is the section as CONTRACT.md §2 gives it.
func Default() Config {
	return Config{Workers: 32, Durable: true, Merge: true, TurnDeadline: 30 * time.Minute, StopGrace: 10 * time.Second, PoisonAfter: 5}
}

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	if c.Workers < 1 {
		problem("workers", "must be at least 1")
	}
	if c.TurnDeadline <= 0 {
		problem("turn_deadline", `must be longer than 0; write for example "30m"`)
	}
	if c.StopGrace < 0 {
		problem("stop_grace", `must not be negative; write for example "10s"`)
	}
	if c.PoisonAfter < 0 {
		problem("poison_after", "must be 0 (never) or more")
	}
}

// Bot is a [[bot]] section.
type Bot struct {
	Name             string         `toml:"name"`
	Instructions     string         `toml:"instructions"`
	InstructionsFile string         `toml:"instructions_file"` // read by whoever reads the config
	Models           []string       `toml:"models"`            // PROVIDER/MODEL; the first answers, the others are its fallback chain
	Params           map[string]any `toml:"params"`
	Tools            []string       `toml:"tools"`
	FilesDir         string         `toml:"files_dir"` // what its tool files works in; whoever reads the config makes it absolute
	SendTo           []string       `toml:"send_to"`   // where "send" may speak: "slack:NAME/C0123", "web:CHAT"
	Reply            string         `toml:"reply"`     // "mention" | "thread" | "always"; "" = the surface's default
	Operators        []string       `toml:"operators"`
	MaxSteps         int            `toml:"max_steps"`
	ContextTokens    int            `toml:"context_tokens"`
	DailyTokens      int            `toml:"daily_tokens"`
	PerPerson        int            `toml:"per_person"`
}

// DefaultBot is the section as CONTRACT.md §2 gives it.
func DefaultBot() Bot { return Bot{Name: "bot", MaxSteps: 30, ContextTokens: 24000} }

// Alerts is the [alerts] section.
type Alerts struct {
	Outage       time.Duration `toml:"outage"`
	ProviderWait time.Duration `toml:"provider_wait"`
	HardDown     int           `toml:"hard_down"`
	To           string        `toml:"to"`
	Webhook      string        `toml:"webhook"`
}

// DefaultAlerts is the section as CONTRACT.md §2 gives it.
func DefaultAlerts() Alerts {
	return Alerts{Outage: 5 * time.Minute, ProviderWait: time.Hour, HardDown: 3}
}
