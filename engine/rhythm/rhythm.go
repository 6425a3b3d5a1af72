// Package rhythm tells when a schedule is due.
package rhythm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Rhythm is when a schedule is due: by the calendar of its time zone, or every so often.
//
// A clock that is put forward or back for the summer is met as people mean it, which is also what
// cron(8) does: a time of day that the change leaves out is due at the moment of the change, one that
// comes twice is due the first time only. What is due in every hour, or many times in one, goes by
// the hours as they pass.
type Rhythm struct {
	spec  cron.Schedule
	every time.Duration // 0 = by the calendar
	fixed bool          // a time of day: neither its hour nor its minute is a star
	loc   *time.Location
}

// Parse reads five fields, or one of robfig/cron's words such as @daily and "@every 1h".
func Parse(text string, loc *time.Location) (Rhythm, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		return Rhythm{}, fmt.Errorf("the time zone belongs into timezone")
	}
	spec, err := cron.ParseStandard(text)
	if err != nil {
		return Rhythm{}, err
	}
	r := Rhythm{spec: spec, loc: loc}
	if every, ok := spec.(cron.ConstantDelaySchedule); ok {
		if strings.Contains(text, "-") {
			return Rhythm{}, fmt.Errorf("@every needs a length of time above 0")
		}
		r.every = every.Delay
		return r, nil
	}
	fields := strings.Fields(text)
	r.fixed = text != "@hourly" && !(len(fields) > 1 && slices.ContainsFunc(fields[:2], func(f string) bool { return strings.HasPrefix(f, "*") || strings.HasPrefix(f, "?") }))
	if r.after(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() { // within five years, of which one is a leap year
		return Rhythm{}, fmt.Errorf("that day never comes")
	}
	return r, nil
}

// Every is the length of time between two of its moments, 0 if it goes by the calendar.
func (r Rhythm) Every() time.Duration { return r.every }

// Next is when it is due after it was due at last, and not before now. The zero last is that it never was.
func (r Rhythm) Next(last, now time.Time) time.Time {
	switch {
	case r.every > 0 && last.IsZero():
		return now.Add(r.every)
	case r.every > 0:
		return last.Add(r.every * (max(now.Sub(last), 0)/r.every + 1))
	case last.After(now):
		return r.after(last)
	}
	return r.after(now)
}

// after is the first moment after t by the calendar; zero if there is none for years.
func (r Rhythm) after(t time.Time) time.Time {
	if !r.fixed {
		return r.spec.Next(t.In(r.loc))
	}
	day := wallOf(t.In(r.loc))
	for {
		if day = r.spec.Next(day); day.IsZero() {
			return day
		}
		if at := MomentOf(day, r.loc); at.After(t) {
			return at
		}
	}
}

// wallOf is what the clock on the wall shows, as if it were UTC: there no hour is left out or comes twice.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// MomentOf is the first moment at which the clock on the wall shows so much or more.
func MomentOf(wall time.Time, loc *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), loc)
	start, end := t.ZoneBounds()
	switch shows := wallOf(t); {
	case shows.After(wall): // left out: Date has counted on from before the change
		return start
	case shows.Before(wall): // left out: Date has counted back from after it
		return end
	case start.IsZero():
		return t
	}
	_, before := start.Add(-time.Second).Zone()
	_, since := t.Zone()
	if first := t.Add(time.Duration(since-before) * time.Second); first.Before(start) && first.Before(t) {
		return first
	}
	return t
}

// TooOften reports whether it is ever due twice within least, as far as a hundred times tell.
func (r Rhythm) TooOften(now time.Time, least time.Duration) bool {
	last := r.Next(time.Time{}, now)
	for range 100 {
		at := r.Next(last, last)
		if at.IsZero() {
			return false
		}
		if at.Sub(last) < least {
			return true
		}
		last = at
	}
	return false
}
