package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/engine/rhythm"
	"holdfast/engine/tool"
	"holdfast/store"
)

// Limits of what bots set for themselves.
const (
	wakesOfOne  = 20              // to come, per conversation
	wakeLeast   = 5 * time.Minute // between two of a repeating one, and of one that a wake has set
	wakeLongest = 5 * 365 * 24 * time.Hour
	wakeText    = 4000 // characters
)

// setWake lets a bot wake itself in the conversation that it is asked in, for who asks. The same call
// sets one, however often it is made.
func (e *Engine) setWake(_ context.Context, c tool.Call, w tool.Wake) (tool.Planned, error) {
	now := e.now()
	s, err := e.wakeAt(w, now)
	if err != nil {
		return tool.Planned{}, err
	}
	switch n := utf8.RuneCountInString(w.Text); {
	case c.By.Visitor:
		return tool.Planned{}, tool.Mistake("visitors of the page cannot have reminders; they would have to log in")
	case strings.TrimSpace(w.Text) == "":
		return tool.Planned{}, tool.Mistake("text is empty; write what you are to do then")
	case n > wakeText:
		return tool.Planned{}, tool.Mistake(fmt.Sprintf("text has %d characters; at most %d are kept", n, wakeText))
	}
	if err := e.notInCircles(c.By, s, now); err != nil {
		return tool.Planned{}, err
	}
	s.Source, s.Bot, s.Prompt, s.Person, s.Missed, s.MadeBy = "bot", c.By.Bot, w.Text, c.By.Person, "once", c.Key
	s.Surface, s.Channel, s.Thread = c.By.Surface, c.By.Channel, c.By.Thread
	s.Planned = now
	err = e.Store.SetSchedule(&s, wakesOfOne, now)
	if errors.Is(err, store.ErrTooMany) {
		return tool.Planned{}, tool.Mistake(fmt.Sprintf("%d are set in this conversation, and there may be no more; cancel one first", wakesOfOne))
	} else if err != nil {
		return tool.Planned{}, err
	}
	e.Log.Info("wake set", "schedule", s.Name, "bot", s.Bot, "next", s.Next.Go())
	e.replanned()
	return e.planned(s), nil
}

// wakeAt reads when it is to be.
func (e *Engine) wakeAt(w tool.Wake, now store.Time) (s store.Schedule, err error) {
	loc, err := e.zone(w.Timezone)
	if err != nil {
		return s, tool.Mistake(fmt.Sprintf("%q is no time zone; write a name like Europe/Berlin", w.Timezone))
	}
	s.Timezone = loc.String()
	said := 0
	for _, text := range []string{w.At, w.In, w.Cron} {
		if text != "" {
			said++
		}
	}
	switch {
	case said != 1:
		return s, tool.Mistake("say when by exactly one of at, in and cron")
	case w.In != "":
		span, ok := spanOf(w.In)
		if !ok || span < time.Second || span > wakeLongest {
			return s, tool.Mistake(fmt.Sprintf("in is %q; write a length of time from 1s to five years, for example 20m, 1h30m or 2d", w.In))
		}
		s.Next, s.WaitMS = now.Add(span), span.Milliseconds()
	case w.At != "":
		at, ok := momentFrom(w.At, loc, now.Go())
		if !ok {
			return s, tool.Mistake(fmt.Sprintf("at is %q; write for example 2026-05-01 09:00 or 09:00", w.At))
		}
		if s.Next = store.At(at); s.Next <= now || s.Next.Sub(now) > wakeLongest {
			return s, tool.Mistake(fmt.Sprintf("at is %s; it is %s now, and it must lie ahead, five years at most", e.momentText(s.Next, loc), e.momentText(now, loc)))
		}
	default:
		r, err := rhythm.Parse(w.Cron, loc)
		if err != nil {
			return s, tool.Mistake(fmt.Sprintf(`cron is no schedule (%v); write five fields like 0 9 * * 1-5, or @every 2h`, err))
		}
		if r.TooOften(now.Go(), wakeLeast) {
			return s, tool.Mistake(fmt.Sprintf("cron comes more often than every %d minutes", int(wakeLeast.Minutes())))
		}
		s.Cron = w.Cron
		s.Next, s.WaitMS = due(r, 0, now)
	}
	return s, nil
}

// notInCircles keeps a bot that was woken by itself from waking itself again and again without a pause.
func (e *Engine) notInCircles(by tool.Caller, s store.Schedule, now store.Time) error {
	if s.Next.Sub(now) >= wakeLeast {
		return nil
	}
	turn, err := store.ParseID(by.Turn)
	if err != nil {
		return err
	}
	t, err := e.Store.Turn(turn)
	if err != nil {
		return err
	}
	if only, err := e.onlyClock(&t); err != nil || !only {
		return err
	}
	return tool.Mistake(fmt.Sprintf("you were woken by yourself: the next time lies %d minutes ahead at the earliest", int(wakeLeast.Minutes())))
}

// listWakes reads what is to come in a conversation.
func (e *Engine) listWakes(_ context.Context, by tool.Caller) ([]tool.Planned, error) {
	list, err := e.Store.SchedulesIn(by.Bot, by.Surface, by.Channel, by.Thread)
	if err != nil {
		return nil, err
	}
	var all []tool.Planned
	for _, s := range list {
		all = append(all, e.planned(s))
	}
	return all, nil
}

// cancelWake ends one of them.
func (e *Engine) cancelWake(_ context.Context, by tool.Caller, id string) (bool, error) {
	found, err := e.Store.CancelSchedule(strings.TrimSpace(id), by.Bot, by.Surface, by.Channel, by.Thread, e.now())
	if found {
		e.replanned()
	}
	return found, err
}

func (e *Engine) planned(s store.Schedule) tool.Planned {
	loc, err := e.zone(s.Timezone)
	if err != nil {
		loc = e.Location
	}
	p := tool.Planned{ID: s.Name, Text: s.Prompt, Cron: s.Cron}
	if s.Next != 0 {
		p.Next = e.momentText(s.Next, loc)
	}
	return p
}

// momentText is a moment as models read it.
func (e *Engine) momentText(at store.Time, loc *time.Location) string {
	return at.Go().In(loc).Format("Mon 2006-01-02 15:04:05 MST")
}

// spanOf reads a length of time: Go's form, with d for days in front.
func spanOf(text string) (time.Duration, bool) {
	text = strings.ReplaceAll(text, " ", "")
	days := 0
	if before, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.Atoi(before)
		if err != nil || n < 0 || n > 36500 {
			return 0, false
		}
		if days, text = n, after; text == "" {
			text = "0s"
		}
	}
	span, err := time.ParseDuration(text)
	return span + time.Duration(days)*24*time.Hour, err == nil && span >= 0
}

// momentFrom reads a moment: with an offset as it is, else as the clock on the wall of a place shows
// it; a time of day alone is the next one.
func momentFrom(text string, loc *time.Location, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return rhythm.MomentOf(t, loc), true
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		day := now.In(loc)
		for add := range 2 {
			at := rhythm.MomentOf(time.Date(day.Year(), day.Month(), day.Day()+add, t.Hour(), t.Minute(), t.Second(), 0, time.UTC), loc)
			if at.After(now) {
				return at, true
			}
		}
	}
	return time.Time{}, false
}
