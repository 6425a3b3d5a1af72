package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/web/command"
)

// releaseCmd ends what stands before a model: a hold, or its being down.
type releaseCmd struct {
	Model string `arg:"" name:"provider/model" help:"The model, for example openai/gpt-5-mini."`
}

// Validate refuses what cannot be a model.
func (r releaseCmd) Validate() error {
	if provider, model, ok := strings.Cut(r.Model, "/"); !ok || provider == "" || model == "" {
		return fmt.Errorf("%q is no model; write PROVIDER/MODEL, for example openai/gpt-5-mini", r.Model)
	}
	return nil
}

func (r *releaseCmd) Run(c *call) error {
	house, err := c.needed("no daemon runs, so nothing can be released")
	if err != nil {
		return err
	}
	err = house.post(order{Cmd: command.Release, Target: r.Model}, &json.RawMessage{})
	if !missing(err) {
		if err == nil {
			fmt.Fprintf(c.out, "%s is released: the turns that wait for it run now.\n", r.Model)
		}
		return err
	}
	closed, err := house.closedGates(c.now())
	switch {
	case err != nil:
		return err
	case closed == "":
		return fmt.Errorf("nothing holds %s back, nor any other model", r.Model)
	}
	return fmt.Errorf("nothing holds %s back; held back are: %s", r.Model, closed)
}

// closedGates lists the models that nothing is sent to now; "" if there are none.
func (house *client) closedGates(now time.Time) (string, error) {
	var state struct {
		Gates []struct {
			Provider string     `json:"provider"`
			Model    string     `json:"model"`
			Until    *time.Time `json:"cooldown_until"`
		} `json:"provider_admission"`
	}
	if err := house.get("/api/v1/state", nil, &state); err != nil {
		return "", err
	}
	var list []string
	for _, g := range state.Gates {
		list = append(list, fmt.Sprintf("%s/%s until %s", g.Provider, g.Model, clock(g.Until, now)))
	}
	return strings.Join(list, ", "), nil
}

// target is what may be paused.
type target struct {
	Target string `arg:"" optional:"" name:"provider or bot" help:"The provider or the bot; without one everything."`
}

// pauseCmd stops all sending.
type pauseCmd struct{ target }

func (p *pauseCmd) Run(c *call) error {
	house, err := c.needed("no daemon runs, so nothing is sent anyway")
	if err != nil {
		return err
	}
	if err := house.post(order{Cmd: command.Pause, Target: p.Target}, &json.RawMessage{}); err != nil {
		return p.known(c, err)
	}
	fmt.Fprintf(c.out, "%s paused: nothing is sent. What people write is kept; go on with: %s\n", p.subject(), c.unpause(p.Target))
	return nil
}

// unpauseCmd lets it go on.
type unpauseCmd struct{ target }

func (p *unpauseCmd) Run(c *call) error {
	house, err := c.needed("no daemon runs, so nothing would be sent")
	if err != nil {
		return err
	}
	before := c.paused()
	if err := house.post(order{Cmd: command.Unpause, Target: p.Target}, &json.RawMessage{}); err != nil {
		return p.known(c, err)
	}
	rest := slices.DeleteFunc(before, func(t string) bool { return t == p.Target })
	if len(rest) < len(before) {
		fmt.Fprintln(c.out, p.subject()+" not paused any more; what waits goes on.")
	} else {
		fmt.Fprintln(c.out, p.subject()+" not paused.")
	}
	c.sayPaused(c.out, "Still paused", rest)
	return nil
}

// sayPaused lists what is paused, and what ends that.
func (c *call) sayPaused(w io.Writer, what string, targets []string) {
	for _, t := range targets {
		fmt.Fprintf(w, "%s: %s (%s)\n", what, cmp.Or(t, "everything"), c.unpause(t))
	}
}

// unpause is the line that lets a target send again; "" is everything.
func (c *call) unpause(target string) string { return c.line(strings.TrimSpace("unpause " + target)) }

// subject is the target with its verb.
func (p target) subject() string {
	if p.Target == "" {
		return "Everything is"
	}
	return p.Target + " is"
}

// known words the refusal of a target that does not exist.
func (p target) known(c *call, err error) error {
	if !missing(err) {
		return err
	}
	l, loadErr := c.load()
	if loadErr != nil {
		return err
	}
	names := append(l.usedProviders(), column(l.Bots, func(b engine.Bot) string { return b.Name })...)
	if len(names) == 0 {
		return fmt.Errorf("no provider or bot is named %q", p.Target)
	}
	return fmt.Errorf("no provider or bot is named %q; there are: %s", p.Target, strings.Join(names, ", "))
}

// needed is a client of the daemon for a command that makes no sense without one.
func (c *call) needed(otherwise string) (*client, error) {
	house, err := c.running()
	if errors.Is(err, errDown) {
		return nil, c.down(otherwise)
	}
	return house, err
}

// down says what cannot be done without a daemon, and how one is started.
func (c *call) down(otherwise string) error {
	return errors.New(otherwise + "; start it with: " + c.line("run"))
}

// missing tells that the daemon knows nothing of that name.
func missing(err error) bool {
	refusal, ok := errors.AsType[*apiError](err)
	return ok && refusal.Status == http.StatusNotFound
}

// paused reads from the file what sends nothing; what cannot be read is not told.
func (c *call) paused() (targets []string) {
	text := c.meta(store.Paused)
	if text != "" && json.Unmarshal([]byte(text), &targets) != nil {
		return nil
	}
	return targets
}

// meta reads a value from the file; "" if there is none.
func (c *call) meta(key string) string {
	l, err := c.load()
	if err != nil {
		return ""
	}
	st, err := store.OpenReader(l.Store)
	if err != nil {
		return ""
	}
	defer st.Close()
	value, err := st.Meta(key)
	if err != nil {
		return ""
	}
	return value
}
