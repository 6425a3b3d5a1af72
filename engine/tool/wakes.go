package tool

import (
	"context"
	"fmt"
	"strings"
)

// Wake is what a bot wants to be woken for. One of At, In and Cron says when.
type Wake struct {
	Text     string `json:"text"`
	At       string `json:"at"`
	In       string `json:"in"`
	Cron     string `json:"cron"`
	Timezone string `json:"timezone"`
}

// Planned is a wake that is to come.
type Planned struct {
	ID   string
	Text string
	Next string // a moment as people read it
	Cron string // "" = once
}

// Wakes is the built-in set "schedule": a bot wakes itself, in the conversation that it is asked in.
// Its functions return a Mistake for what the model has done wrong; Set is idempotent by Call.Key.
type Wakes struct {
	Set    func(context.Context, Call, Wake) (Planned, error)
	List   func(context.Context, Caller) ([]Planned, error)
	Cancel func(ctx context.Context, by Caller, id string) (found bool, err error)
}

// Tools are schedule_set, schedule_list and schedule_cancel.
func (w Wakes) Tools(context.Context) ([]Tool, error) {
	return []Tool{
		act{Spec{
			Name: "schedule_set", Title: "Set a reminder", Idempotent: true, // by the call's key
			Description: "Wake yourself later in this conversation, once or again and again: you are then given the text and answer here. " +
				"Say when by exactly one of at, in and cron. A repeating one comes every 5 minutes at most.",
			Schema: []byte(`{"type":"object","properties":{` +
				`"text":{"type":"string","description":"what you are to do then, in full: you will read nothing else of it"},` +
				`"at":{"type":"string","description":"a moment: 2026-05-01 09:00, 2026-05-01T09:00:00+02:00, or 09:00 for the next time it is that late"},` +
				`"in":{"type":"string","description":"a length of time from now: 90s, 20m, 1h30m, 2d"},` +
				`"cron":{"type":"string","description":"minute, hour, day, month, weekday, for example 0 9 * * 1-5; or @every 2h"},` +
				`"timezone":{"type":"string","description":"of at and cron, for example Europe/Berlin; left out: where this daemon is"}},` +
				`"required":["text"]}`),
		}, doing(w.set)},
		act{Spec{
			Name: "schedule_list", Title: "List reminders", ReadOnly: true,
			Description: "List what you have set for this conversation that is still to come, with the id that schedule_cancel takes.",
			Schema:      []byte(`{"type":"object","properties":{}}`),
		}, doing(w.list)},
		act{Spec{
			Name: "schedule_cancel", Title: "Cancel a reminder", Idempotent: true, Destructive: true,
			Description: "Cancel one of those that schedule_list shows.",
			Schema:      []byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
		}, doing(w.cancel)},
	}, nil
}

func (w Wakes) set(ctx context.Context, c Call, wake Wake) (string, error) {
	p, err := w.Set(ctx, c, wake)
	if err != nil {
		return "", err
	}
	return "set: " + p.line(), nil
}

func (w Wakes) list(ctx context.Context, c Call, _ struct{}) (string, error) {
	all, err := w.List(ctx, c.By)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "nothing is set in this conversation", nil
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, "- "+p.line())
	}
	return strings.Join(lines, "\n"), nil
}

func (w Wakes) cancel(ctx context.Context, c Call, which struct{ ID string }) (string, error) {
	switch found, err := w.Cancel(ctx, c.By, which.ID); {
	case err != nil:
		return "", err
	case !found:
		return fmt.Sprintf("nothing of the id %q is to come in this conversation; maybe it is cancelled already", which.ID), nil
	}
	return "cancelled", nil
}

func (p Planned) line() string {
	if p.Next == "" {
		return fmt.Sprintf("%s, over: %s", p.ID, p.Text)
	}
	if p.Cron != "" {
		return fmt.Sprintf("%s, next at %s, repeats (%s): %s", p.ID, p.Next, p.Cron, p.Text)
	}
	return fmt.Sprintf("%s, at %s: %s", p.ID, p.Next, p.Text)
}
