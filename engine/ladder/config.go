package ladder

import (
	"fmt"
	"slices"
	"time"
)

// Config is the [retry] section.
type Config struct {
	Resends            int             `toml:"resends"`
	ResendBase         time.Duration   `toml:"resend_base"`
	ResendLongest      time.Duration   `toml:"resend_longest"` // 0 = no limit
	Waits              int             `toml:"waits"`
	WaitBase           time.Duration   `toml:"wait_base"`
	Park               bool            `toml:"park"`
	ParkFrom           time.Duration   `toml:"park_from"`
	ParkBase           time.Duration   `toml:"park_base"`
	ParkCap            time.Duration   `toml:"park_cap"`
	ParkHorizon        time.Duration   `toml:"park_horizon"`
	MaxParks           int             `toml:"max_parks"`
	GateAfter          int             `toml:"gate_after"`
	GateCap            time.Duration   `toml:"gate_cap"`
	StatedWaitMode     string          `toml:"stated_wait_mode"` // "hold" | "horizon" | "end"
	StatedWaitFallback time.Duration   `toml:"stated_wait_fallback"`
	StatedWaitEnd      time.Duration   `toml:"stated_wait_end"`
	StatedWaitMax      time.Duration   `toml:"stated_wait_max"`
	StatedWaitEarly    bool            `toml:"stated_wait_early"`
	Rearm              []time.Duration `toml:"rearm"`   // nil = false; an empty list is refused
	OnStop             string          `toml:"on_stop"` // "keep" | "drop"
	Owed               bool            `toml:"owed"`
	StaleAfter         time.Duration   `toml:"stale_after"`
	MaxRequests        int             `toml:"max_requests"`
	MaxWaiting         int             `toml:"max_waiting"`
	NoticeAfter        time.Duration   `toml:"notice_after"`
	MentionAfter       time.Duration   `toml:"mention_after"`
	FailFastWait       time.Duration   `toml:"fail_fast_wait"`
	Cooldown           Cooldown        `toml:"cooldown"`
}

// Cooldown says how long a model that L3 has left is passed over, by class.
type Cooldown struct {
	RateLimit  time.Duration `toml:"rate_limit"`
	Overloaded time.Duration `toml:"overloaded"`
	Server     time.Duration `toml:"server"`
	Network    time.Duration `toml:"network"`
	Quota      time.Duration `toml:"quota"`
	Other      time.Duration `toml:"other"`
}

// Default is the section as CONTRACT.md §2 gives it.
func Default() Config {
	return Config{
		Resends:            2,
		ResendBase:         400 * time.Millisecond,
		ResendLongest:      2 * time.Second,
		Waits:              3,
		WaitBase:           2 * time.Second,
		Park:               true,
		ParkFrom:           10 * time.Second,
		ParkBase:           2 * time.Second,
		ParkCap:            60 * time.Second,
		ParkHorizon:        15 * time.Minute,
		MaxParks:           30,
		GateAfter:          3,
		GateCap:            5 * time.Minute,
		StatedWaitMode:     "hold",
		StatedWaitFallback: 5 * time.Minute,
		StatedWaitEnd:      time.Hour,
		StatedWaitMax:      24 * time.Hour,
		Rearm:              []time.Duration{2 * time.Minute, 8 * time.Minute, 32 * time.Minute},
		OnStop:             "keep",
		Owed:               true,
		StaleAfter:         12 * time.Hour,
		MaxRequests:        60,
		MaxWaiting:         5,
		NoticeAfter:        30 * time.Second,
		MentionAfter:       5 * time.Minute,
		FailFastWait:       10 * time.Second,
		Cooldown: Cooldown{
			RateLimit:  30 * time.Second,
			Overloaded: 60 * time.Second,
			Server:     20 * time.Second,
			Network:    60 * time.Second,
			Quota:      30 * time.Minute,
			Other:      5 * time.Minute,
		},
	}
}

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	for _, n := range c.counts() {
		if n.value < 0 {
			problem(n.key, "must be 0 ("+n.zero+") or more")
		}
	}
	for _, d := range c.durations() {
		switch {
		case d.value < 0:
			problem(d.key, "must not be negative; write for example "+d.example)
		case d.value == 0 && d.positive:
			problem(d.key, "must be longer than 0; write for example "+d.example)
		}
	}
	c.oneOf(problem, "stated_wait_mode", c.StatedWaitMode, "hold", "horizon", "end")
	c.oneOf(problem, "on_stop", c.OnStop, "keep", "drop")
	if c.Rearm != nil && len(c.Rearm) == 0 {
		problem("rearm", `must be false or a list that is not empty; write for example ["2m", "8m", "32m"]`)
	}
	for _, d := range c.Rearm {
		if d <= 0 {
			problem("rearm", `every entry must be longer than 0; write for example ["2m", "8m", "32m"], or false`)
			break
		}
	}
}

// count is a whole number of the section and what its 0 means.
type count struct {
	key   string
	value int
	zero  string
}

func (c Config) counts() []count {
	return []count{
		{"resends", c.Resends, "none"},
		{"waits", c.Waits, "none"},
		{"max_parks", c.MaxParks, "none"},
		{"gate_after", c.GateAfter, "never"},
		{"max_requests", c.MaxRequests, "no limit"},
		{"max_waiting", c.MaxWaiting, "no limit"},
	}
}

// span is a duration of the section; a positive one has no meaning at 0.
type span struct {
	key      string
	value    time.Duration
	positive bool
	example  string
}

func (c Config) durations() []span {
	return []span{
		{"resend_base", c.ResendBase, true, `"400ms"`},
		{"resend_longest", c.ResendLongest, false, `"2s"`},
		{"wait_base", c.WaitBase, true, `"2s"`},
		{"park_from", c.ParkFrom, false, `"10s"`},
		{"park_base", c.ParkBase, true, `"2s"`},
		{"park_cap", c.ParkCap, true, `"60s"`},
		{"park_horizon", c.ParkHorizon, false, `"15m"`},
		{"gate_cap", c.GateCap, true, `"5m"`},
		{"stated_wait_fallback", c.StatedWaitFallback, false, `"5m"`},
		{"stated_wait_end", c.StatedWaitEnd, true, `"1h"`},
		{"stated_wait_max", c.StatedWaitMax, false, `"24h"`},
		{"stale_after", c.StaleAfter, false, `"12h"`},
		{"notice_after", c.NoticeAfter, false, `"30s"`},
		{"mention_after", c.MentionAfter, false, `"5m"`},
		{"fail_fast_wait", c.FailFastWait, false, `"10s"`},
		{"cooldown.rate_limit", c.Cooldown.RateLimit, false, `"30s"`},
		{"cooldown.overloaded", c.Cooldown.Overloaded, false, `"60s"`},
		{"cooldown.server", c.Cooldown.Server, false, `"20s"`},
		{"cooldown.network", c.Cooldown.Network, false, `"60s"`},
		{"cooldown.quota", c.Cooldown.Quota, false, `"30m"`},
		{"cooldown.other", c.Cooldown.Other, false, `"5m"`},
	}
}

// oneOf reports a word that is none of those allowed.
func (Config) oneOf(problem func(key, what string), key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		problem(key, fmt.Sprintf("%q is none of %q", value, allowed))
	}
}
