package store

import (
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Config is the [store] section.
type Config struct {
	Dir         string        `toml:"dir"`         // directory of holdfast.db, web.token and lock
	Synchronous string        `toml:"synchronous"` // "full" | "normal"; "" = full
	Keep        time.Duration `toml:"keep"`        // settled turns go after this; 0 = never
}

// Default is the section as CONTRACT.md §2 gives it. Dir is "" where the system names no home.
func Default() Config {
	return Config{Dir: defaultDir(), Synchronous: "full", Keep: 90 * 24 * time.Hour}
}

// defaultDir is where data of a user's program belongs on this system.
func defaultDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) && runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		return filepath.Join(dir, "holdfast")
	}
	if dir := os.Getenv("LocalAppData"); dir != "" && runtime.GOOS == "windows" {
		return filepath.Join(dir, "holdfast")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "holdfast")
	}
	return filepath.Join(home, ".local", "share", "holdfast")
}

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	if c.Dir == "" {
		problem("dir", `this system names no home directory; write one, for example "/var/lib/holdfast"`)
	}
	if c.Synchronous != "full" && c.Synchronous != "normal" {
		problem("synchronous", `must be "full" or "normal"`)
	}
	if c.Keep < 0 {
		problem("keep", `must not be negative; write "0" for ever, or for example "90d"`)
	}
}
