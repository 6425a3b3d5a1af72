package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"holdfast/engine"
	"holdfast/store"
)

// demoCmd is the daemon on a directory of its own, with the built-in model.
type demoCmd struct {
	Fresh  bool   `help:"Begin with an empty directory."`
	Listen string `placeholder:"HOST:PORT" default:"127.0.0.1:8420" help:"Where the page is served (${default})."`
}

func (d demoCmd) Run(c *call) error {
	c.demo = true
	l := c.place.demo()
	l.Web.Listen = d.Listen
	var wrong error
	l.Web.Validate(func(string, string) {
		wrong = fmt.Errorf("--listen: %q is no address that only this machine can reach; write for example 127.0.0.1:8421", d.Listen)
	})
	if wrong != nil {
		return wrong
	}
	if d.Fresh {
		if err := empty(l.Store); err != nil {
			return err
		}
	}
	return c.serve(l)
}

// demo is the config of the demo: defaults, a directory of its own, and one bot.
func (p place) demo() *loaded {
	l := p.read("", "", "")
	l.Store.Dir = filepath.Join(store.Default().Dir, "demo")
	bot := engine.DefaultBot()
	bot.Models = []string{demoModel}
	l.Bots = []engine.Bot{bot}
	l.Notes = nil
	return l
}

// empty deletes the demo's directory, unless a daemon runs on it.
func empty(c store.Config) error {
	if _, err := os.Stat(c.Dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	old, err := store.Open(c, quiet())
	if errors.Is(err, store.ErrLocked) {
		return err
	}
	if err == nil { // one that cannot be opened can be deleted all the same
		if err := old.Close(); err != nil {
			return fmt.Errorf("close the old demo: %w", err)
		}
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return fmt.Errorf("empty the demo's directory: %w", err)
	}
	return nil
}
