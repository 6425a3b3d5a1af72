package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/store"
)

// schedulePerson is in whose name a schedule of the config asks.
const schedulePerson = "schedule:"

// IsSchedule reports a person that is none, but a schedule of the config.
func IsSchedule(person string) bool { return strings.HasPrefix(person, schedulePerson) }

// loadSchedules puts the config's schedules into the store, as far as they have changed, and takes out
// those that it has no more. One that stands as it stood keeps its next time: if that has passed while
// no process ran, the tick was missed.
func (e *Engine) loadSchedules(now store.Time) error {
	e.mu.Lock()
	e.ticks.began = now
	e.mu.Unlock()
	there, err := e.Store.Schedules()
	if err != nil {
		return err
	}
	for _, c := range e.Parts.Schedules {
		was := store.Schedule{}
		if i := slices.IndexFunc(there, func(s store.Schedule) bool { return s.Name == c.Name && s.Source == "config" }); i >= 0 {
			was = there[i]
		}
		s, err := e.configured(c, was, now)
		if err != nil {
			return fmt.Errorf("schedule %s: %w", c.Name, err)
		}
		if s == was {
			continue
		}
		if err := e.Store.PutSchedule(&s, now); err != nil {
			return err
		}
	}
	for _, s := range there {
		if s.Source != "config" || slices.ContainsFunc(e.Parts.Schedules, func(c Schedule) bool { return c.Name == s.Name }) {
			continue
		}
		if err := e.Store.DropSchedule(s.Name, now); err != nil {
			return err
		}
	}
	return nil
}

// configured is a section as the store keeps it; was is what the store has of it.
func (e *Engine) configured(c Schedule, was store.Schedule, now store.Time) (store.Schedule, error) {
	s := was
	s.Name, s.Source, s.Bot, s.Prompt, s.Target, s.Missed = c.Name, "config", c.Bot, c.Prompt, c.To, c.Missed
	s.Person, s.Surface, s.Channel, s.Thread = schedulePerson+c.Name, "web", chatOf(c), ""
	if surface, channel, ok := ParsePlace(c.To); ok {
		s.Surface, s.Channel = surface, channel
	}
	s.Cron, s.Timezone = c.Cron, c.Timezone
	if s.Timezone == "" {
		s.Timezone = e.Location.String()
	}
	if s.Cron == was.Cron && s.Timezone == was.Timezone && s.Next != 0 {
		return s, nil
	}
	r, err := e.rhythmOf(s)
	if err != nil {
		return s, err
	}
	s.Next, s.WaitMS = due(r, 0, now)
	s.Planned = now
	return s, nil
}

// chatOf is the id of a schedule's own chat on the page. It belongs to one bot, as every chat.
func chatOf(c Schedule) string {
	sum := sha256.Sum256([]byte(c.Bot + "\n" + c.Name))
	return "schedule-" + hex.EncodeToString(sum[:10])
}

// replanAfter is how far the clock must have been put back for schedules to begin anew by it; after
// less nothing is due twice.
const replanAfter = 3 * time.Hour

// replan follows a step of the clock backwards: a schedule by the calendar whose next time was found
// at a moment that is hours ahead now would stay away for as long as the clock was wrong.
func (e *Engine) replan(now store.Time) {
	list, err := e.Store.Schedules()
	if err != nil {
		e.Log.Error("read schedules after a clock step", "err", err)
		return
	}
	for _, s := range list {
		if s.Cron == "" || s.Planned.Sub(now) <= replanAfter {
			continue
		}
		r, err := e.rhythmOf(s)
		if err == nil {
			k := store.Tick{Schedule: s.ID, Due: s.Next}
			k.Next, k.WaitMS = due(r, 0, now)
			err = e.pass(k, "the clock was put back")
		}
		if err != nil && !errors.Is(err, store.ErrMoved) {
			e.Log.Error("plan a schedule anew", "schedule", s.Name, "err", err)
		}
	}
	e.replanned()
}

// Schedules reads what the clock sends: the config's schedules and what bots have set for themselves, by name.
func (e *Engine) Schedules() ([]store.Schedule, error) { return e.Store.Schedules() }

// RunSchedule sends a schedule now, whatever the clock says; its next time stays. It returns the turn
// that was made. If its last one still waits, that one takes it in.
func (e *Engine) RunSchedule(ctx context.Context, name string, c *store.Command) (store.Turn, error) {
	s, err := e.known(name)
	if err != nil {
		return store.Turn{}, err
	}
	last, err := e.lastOf(s)
	if err != nil {
		return store.Turn{}, err
	}
	in := e.tickOf(s, e.now())
	in.Key, in.Command = "run:"+rand.Text(), c
	in.tick, in.repeatOf = &store.Tick{Schedule: s.ID}, last.ID
	a, err := e.Receive(ctx, in)
	if err != nil {
		return store.Turn{}, err
	}
	return e.Store.Turn(a.Turn)
}

// known reads a schedule that is not over; store.ErrNotFound.
func (e *Engine) known(name string) (store.Schedule, error) {
	s, err := e.Store.Schedule(name)
	if err == nil && s.Source == "bot" && s.Next == 0 {
		err = fmt.Errorf("%w: the schedule %s is over", store.ErrNotFound, name)
	}
	return s, err
}

// PauseSchedule stops a schedule, or lets it go on from now: what would have been due meanwhile is not
// made up for. It outlives the process.
func (e *Engine) PauseSchedule(ctx context.Context, name string, paused bool, c *store.Command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := e.known(name)
	if err != nil {
		return err
	}
	now := e.now()
	if s.Paused && !paused && s.Cron != "" {
		r, err := e.rhythmOf(s)
		if err != nil {
			return fmt.Errorf("schedule %s: %w", name, err)
		}
		s.Next, s.WaitMS = due(r, 0, now)
	}
	if err := e.Store.PauseSchedule(name, paused, s.Next, s.WaitMS, now, c); err != nil {
		return err
	}
	e.Log.Info("schedule paused", "schedule", name, "paused", paused)
	e.replanned()
	return nil
}

// DeleteSchedule ends what a bot has set for itself. store.ErrConfigured for one of the config.
func (e *Engine) DeleteSchedule(ctx context.Context, name string, c *store.Command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.Store.DeleteSchedule(name, e.now(), c); err != nil {
		return err
	}
	e.replanned()
	return nil
}
