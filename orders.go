package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"holdfast/store"
	"holdfast/web/command"
)

// chosen is what an order acts on: the turns named, or all that a filter finds.
type chosen struct {
	IDs []string `arg:"" optional:"" name:"id" help:"The turns, as the list and the page name them."`
	filter
	DryRun bool `help:"Do nothing, only tell which turns it would be."`
	JSON   bool `help:"As JSON."`
}

// Validate refuses a line that names both or nothing, and ids that cannot be any.
func (s chosen) Validate() error {
	switch {
	case len(s.IDs) > 0 && !s.empty():
		return errors.New("name turns, or filter them; not both")
	case len(s.IDs) == 0 && s.empty():
		return errors.New("name the turns, or filter them, for example with --waiting")
	}
	for _, id := range s.IDs {
		if !command.ValidID(id) {
			return fmt.Errorf("%q is no turn's id; the command turns lists them", id)
		}
	}
	return nil
}

// resumeCmd is Try now.
type resumeCmd struct {
	chosen
}

func (r *resumeCmd) Run(c *call) error {
	house, err := c.running()
	if errors.Is(err, errDown) {
		return c.down("no daemon runs, so nothing can be resumed")
	} else if err != nil {
		return err
	}
	return r.carryOut(c, house, command.Resume, "")
}

// cancelCmd ends turns for the operator.
type cancelCmd struct {
	chosen
	Say string `placeholder:"TEXT" help:"What the people who asked are told."`
}

func (r *cancelCmd) Run(c *call) error {
	restored := !r.DryRun && r.filter == (filter{Waiting: true}) && c.meta(store.Restored) != ""
	return c.withHouse(writing, func(house *client) error {
		if err := r.carryOut(c, house, command.Cancel, r.Say); err != nil || !restored {
			return err
		}
		return r.settleRestored(c, house, r.Say)
	})
}

// carryOut gives the order for every turn named, or once for the filter.
func (s *chosen) carryOut(c *call, house *client, cmd, say string) error {
	done := map[string]string{command.Resume: "resumed", command.Cancel: "cancelled"}[cmd]
	if len(s.IDs) == 0 {
		return s.carryOutMany(c, house, cmd, done, say)
	}
	failed := false
	for _, id := range s.IDs {
		what, err := s.carryOutOne(c, house, id, cmd, done, say)
		if err != nil {
			failed = true
			fmt.Fprintf(c.err, "%s: %v\n", id, err)
			continue
		}
		if !s.JSON {
			fmt.Fprintf(c.out, "%s: %s\n", id, what)
		}
	}
	if failed {
		return errSaid
	}
	return nil
}

// carryOutOne orders one turn and says what became of it.
func (s *chosen) carryOutOne(c *call, house *client, id, cmd, done, say string) (string, error) {
	var t turn
	switch err := house.get("/api/v1/turns/"+id, nil, &t); {
	case err != nil:
		return "", err
	case t.State == string(store.Done) && !s.JSON: // the order would change nothing, and was not what did it
		return "nothing to do, it is " + t.words(c.now()), nil
	case s.DryRun:
		return "would be " + done + "; now " + t.words(c.now()), nil
	}
	args := map[string]any{}
	if say != "" {
		args["say"] = say
	}
	var raw json.RawMessage
	err := house.post(order{Cmd: cmd, Target: id, Args: args}, &raw)
	if held, ok := errors.AsType[*apiError](err); ok && held.Status == http.StatusConflict && held.Code == "held" {
		if held.Turn != nil && held.Turn.RetryAt != nil {
			return "", fmt.Errorf("held until %s: the provider has asked to wait that long, and nothing is sent before", clock(held.Turn.RetryAt, c.now()))
		}
		return "", errors.New("held: the provider has asked to wait, and nothing is sent before")
	} else if err != nil {
		return "", err
	}
	if s.JSON {
		return "", c.printJSON(raw)
	}
	return done, nil
}

// carryOutMany gives one order for all that the filter finds.
func (s *chosen) carryOutMany(c *call, house *client, cmd, done, say string) error {
	args := map[string]any{}
	for key, values := range s.query() {
		args[key] = values[0]
	}
	if s.Waiting {
		args["waiting"] = true
	}
	if s.DryRun {
		args["dry_run"] = true
	}
	if say != "" {
		args["say"] = say
	}
	var raw json.RawMessage
	if err := house.post(order{Cmd: cmd, Args: args}, &raw); err != nil {
		return err
	}
	if s.JSON {
		return c.printJSON(raw)
	}
	var got struct {
		Count int      `json:"count"`
		Turns []string `json:"turns"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return fmt.Errorf("read what was done: %w", err)
	}
	for _, id := range got.Turns {
		fmt.Fprintln(c.out, id)
	}
	if s.DryRun {
		done = "would be " + done
	}
	fmt.Fprintf(c.out, "%s %s\n", counted(got.Count, "turn"), done)
	if cmd == command.Resume && !s.DryRun {
		return s.sayHeld(c, house, got.Turns)
	}
	return nil
}

// sayHeld tells of the turns that a resume has passed over, since their provider has asked to wait.
func (s *chosen) sayHeld(c *call, house *client, resumed []string) error {
	q := s.query()
	if s.State == "" {
		q.Set("waiting", "true")
	}
	q.Set("limit", "1000")
	var page struct {
		Turns []turn `json:"turns"`
	}
	if err := house.get("/api/v1/turns", q, &page); err != nil {
		return err
	}
	held, first := 0, time.Time{}
	for _, t := range page.Turns {
		if slices.Contains(resumed, t.ID) || t.RetryAt == nil || !t.RetryAt.After(c.now()) {
			continue
		}
		if held++; first.IsZero() || t.RetryAt.Before(first) {
			first = *t.RetryAt
		}
	}
	if held > 0 {
		fmt.Fprintf(c.out, "%s left as they were, since the provider has asked to wait: the first until %s\n", counted(held, "turn"), clock(&first, c.now()))
	}
	return nil
}
