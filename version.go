package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	sqlite3 "modernc.org/sqlite/lib"
)

// version is the release this tree is working towards.
const version = "0.1.0"

// versionCmd prints what this binary is made of.
type versionCmd struct {
	JSON bool `help:"As JSON."`
}

func (v versionCmd) Run(c *call) error {
	made := struct {
		Version string `json:"version"`
		Commit  string `json:"commit"`
		Go      string `json:"go"`
		SQLite  string `json:"sqlite"`
	}{version, commit(), runtime.Version(), sqlite3.SQLITE_VERSION}
	if v.JSON {
		return json.NewEncoder(c.out).Encode(made)
	}
	_, err := fmt.Fprintf(c.out, "holdfast %s (commit %s, %s, SQLite %s, %s/%s)\n", made.Version, made.Commit, made.Go, made.SQLite, runtime.GOOS, runtime.GOARCH)
	return err
}

// commit is what the binary was built from, as the Go tool has noted it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	id, changed := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			id = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed since"
		}
	}
	return id + changed
}
