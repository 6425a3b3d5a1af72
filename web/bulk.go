package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/web/command"
)

// waitingStates are what "waiting" means to people.
func waitingStates() []store.State {
	return []store.State{store.Retrying, store.Parked, store.Rearming, store.Owed}
}

// states are all of them, as a filter may name them.
func states() []store.State {
	return append([]store.State{store.Queued, store.Running, store.Done}, waitingStates()...)
}

// noState refuses one that does not exist.
func noState(name string) error {
	return badRequest("%q is no state; known are %v", name, states())
}

// bulkKey is where the choice of the latest command on many turns is kept.
const bulkKey = "web.bulk"

// choice is which turns a command on many was for. It is stored with the command before the first of
// them is touched: sent again, the command goes on with the same turns and takes in no others.
type choice struct {
	ID    string     `json:"id"`
	Turns []store.ID `json:"turns"`
}

// many does something to every turn that a filter chooses, oldest first. Turns that are done by then,
// or held, are passed over.
func (s *Server) many(ctx context.Context, c command.Command, once *store.Command, do deed) (carried, error) {
	ids, err := s.choose(*c.Filter, c.Name)
	if err != nil {
		return carried{}, err
	}
	if c.Filter.DryRun {
		return carried{ID: c.ID, OK: true, Count: new(len(ids)), Turns: texts(ids)}, nil
	}
	chosen, err := json.Marshal(choice{c.ID, ids})
	if err != nil {
		return carried{}, fmt.Errorf("keep the choice of %s: %w", c.Name, err)
	}
	done, err := result(once, s.store.SetMeta(bulkKey, string(chosen), once))
	if err != nil {
		return carried{}, err
	}
	if done.Duplicate {
		if ids, err = s.chosen(c.ID); err != nil || ids == nil {
			return done, err
		}
	}
	var acted []store.ID
	for _, id := range ids {
		_, err := do(ctx, engine.Order{Turn: id, Say: c.Say})
		switch {
		case err == nil || done.Duplicate && errors.Is(err, store.ErrSettled):
			acted = append(acted, id)
		case errors.Is(err, store.ErrSettled), errors.Is(err, engine.ErrHeld), errors.Is(err, engine.ErrAsks), errors.Is(err, store.ErrNotFound):
		default:
			return carried{}, fmt.Errorf("%s of turn %s: %w", c.Name, id, err)
		}
	}
	done.Count, done.Turns = new(len(acted)), texts(acted)
	return done, nil
}

// chosen reads the choice of a command that is sent again; nil if another one came after it.
func (s *Server) chosen(id string) ([]store.ID, error) {
	kept, err := s.store.Meta(bulkKey)
	if err != nil {
		return nil, err
	}
	var c choice
	if json.Unmarshal([]byte(kept), &c) != nil || c.ID != id {
		return nil, nil
	}
	return c.Turns, nil
}

// choose finds the turns, oldest first. Only turns that wait can be resumed; only turns that are not
// done can be cancelled.
func (s *Server) choose(f command.Filter, name string) ([]store.ID, error) {
	want := []store.State{store.Queued, store.Running}
	if name == command.Resume {
		want = nil
	}
	want = append(want, waitingStates()...)
	if f.State != "" {
		if !slices.Contains(states(), store.State(f.State)) {
			return nil, noState(f.State)
		}
		want = slices.DeleteFunc(want, func(s store.State) bool { return s != store.State(f.State) })
	}
	if f.Waiting {
		want = slices.DeleteFunc(want, func(s store.State) bool { return !slices.Contains(waitingStates(), s) })
	}
	if len(want) == 0 {
		return nil, nil
	}
	q := store.Filter{States: want, Bot: f.Bot, Model: f.Model, Limit: 1000}
	if f.OlderThan > 0 {
		q.OlderThan = store.At(time.Now().Add(-f.OlderThan))
	}
	var ids []store.ID
	for {
		turns, next, err := s.store.Turns(q)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			ids = append(ids, t.ID)
		}
		if next == 0 {
			break
		}
		q.Before = next
	}
	slices.Reverse(ids)
	return ids, nil
}

func texts(ids []store.ID) []string { return show(ids, store.ID.String) }
