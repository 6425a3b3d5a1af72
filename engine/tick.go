package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/engine/rhythm"
	"holdfast/engine/wheel"
	"holdfast/store"
)

// Kinds of events that the clock makes: a tick of the config's schedules, and a wake that a bot has set.
const (
	kindTick = "tick"
	kindWake = "wake"
)

const (
	// missedAfter is how late a tick may be until it counts as missed while the daemon runs: a sweep
	// finds what the wheel has lost within a minute, and that is no downtime.
	missedAfter = 2 * time.Minute
	ticksBatch  = 50
	tickAgain   = 5 * time.Second // after a store that could not be used
)

// ticks is what memory holds of schedules: the wheel has one entry, for the next that is due. What is
// overdue, after a start or a sleep, is worked off one by one into ordinary turns, which workers and
// gates then pace: however many there are, it is no rush. Guarded by Engine.mu, its wakeup aside.
type ticks struct {
	wakeup  chan struct{}
	timer   wheel.Timer
	next    []Upcoming
	began   store.Time // of this process, by the clock as it is now: what was due earlier was missed
	changed bool       // schedules may be others than when next was read
}

func newTicks() ticks { return ticks{wakeup: make(chan struct{}, 1), changed: true} }

// poke lets the loop look whether a schedule is due.
func (k *ticks) poke() { nudge(k.wakeup) }

// replanned says that schedules have changed; whoever has changed one in the store calls it afterwards.
func (e *Engine) replanned() {
	e.mu.Lock()
	e.ticks.changed = true
	e.mu.Unlock()
	e.ticks.poke()
}

// keepTime is the schedules' loop.
func (e *Engine) keepTime(ctx context.Context) {
	e.ticks.poke()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.ticks.wakeup:
		}
		if e.takeTicks() {
			list, worked := e.tickAll(ctx)
			e.armTicks(list, worked)
		}
	}
}

// due reports whether there may be something to do: a schedule is due, or they have changed. Engine.mu is held.
func (k *ticks) due(now store.Time) bool {
	return k.changed || len(k.next) > 0 && k.next[0].At <= now
}

func (e *Engine) ticksDue() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ticks.due(e.now())
}

// takeTicks is ticksDue for who sees to it then: what changes from here on is to be read again.
func (e *Engine) takeTicks() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	due := e.ticks.due(e.now())
	e.ticks.changed = e.ticks.changed && !due
	return due
}

// tickAll sends what is due and returns what is to come next; false if the store could not be used.
func (e *Engine) tickAll(ctx context.Context) (list []store.Schedule, worked bool) {
	for ctx.Err() == nil {
		var err error
		if list, err = e.Store.NextSchedules(ticksBatch); err != nil {
			e.Log.Error("read schedules", "err", err)
			return nil, false
		}
		due, known := 0, len(list) < ticksBatch // the list is what stands in the store then
		for due < len(list) && list[due].Next <= e.now() {
			switch next, err := e.tick(ctx, list[due]); {
			case err == nil:
				list[due].Next = next
			case errors.Is(err, store.ErrMoved): // it has been paused or changed meanwhile
				known = false
			default:
				e.Log.Error("a schedule cannot be sent now; it is tried again", "schedule", list[due].Name, "err", err)
				return list, false
			}
			due++
		}
		if list = toCome(list); due == 0 || known && (len(list) == 0 || list[0].Next > e.now()) {
			break
		}
	}
	return list, true
}

// toCome are those that are due once more, the next first.
func toCome(list []store.Schedule) []store.Schedule {
	list = slices.DeleteFunc(list, func(s store.Schedule) bool { return s.Next == 0 })
	slices.SortStableFunc(list, func(a, b store.Schedule) int { return cmp.Compare(a.Next, b.Next) })
	return list
}

// armTicks sets the wheel for the next schedule.
func (e *Engine) armTicks(list []store.Schedule, worked bool) {
	list = list[:min(len(list), upcomingShown)]
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wheel.Cancel(e.ticks.timer)
	e.ticks.timer, e.ticks.next = 0, nil
	for _, s := range list {
		e.ticks.next = append(e.ticks.next, Upcoming{Kind: "schedule", Name: s.Name, At: s.Next})
	}
	switch {
	case !worked:
		e.ticks.changed = true
		e.ticks.timer = e.wheel.Add(int64(e.now().Add(tickAgain)), ticksKey)
	case len(list) > 0:
		e.ticks.timer = e.wheel.Add(int64(list[0].Next), ticksKey)
	}
}

// tick makes a turn of a schedule that is due, and moves it on to next in the same transaction. A tick that
// was missed and is to be skipped, or whose last turn is still under way, only moves it on. Of several
// missed ones one is made. store.ErrMoved if the schedule has changed since it was read.
func (e *Engine) tick(ctx context.Context, s store.Schedule) (next store.Time, err error) {
	now := e.now()
	move, err := e.following(s, now)
	if err != nil { // its rhythm or zone is not known any more
		e.Log.Error("a schedule ends", "schedule", s.Name, "err", err)
		return move.Next, e.pass(move, "broken")
	}
	if s.Missed == "skip" && e.missed(s.Next, now) {
		e.Log.Info("tick skipped", "schedule", s.Name, "due", s.Next.Go(), "late_ms", now.Sub(s.Next).Milliseconds())
		return move.Next, e.pass(move, "missed")
	}
	last, err := e.lastOf(s)
	if err != nil {
		return s.Next, err
	}
	if last.ID != 0 && last.State != store.Rearming && last.State != store.Owed {
		e.Log.Info("tick dropped", "schedule", s.Name, "due", s.Next.Go(), "turn", last.ID.String())
		return move.Next, e.pass(move, "under way")
	}
	in := e.tickOf(s, s.Next)
	in.Key = fmt.Sprintf("%s:%s:%d", in.Kind, s.Name, s.Next)
	in.tick, in.repeatOf = &move, last.ID
	_, err = e.Receive(ctx, in)
	if errors.Is(err, ErrNoBot) || errors.Is(err, store.ErrOtherBot) || errors.Is(err, store.ErrNotFound) {
		e.Log.Warn("a schedule has nobody to speak to", "schedule", s.Name, "err", err)
		err = e.pass(move, "nobody")
	}
	return move.Next, err
}

// missed reports a tick that fell due while no process ran, or so long ago that the machine slept.
func (e *Engine) missed(due, now store.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return due < e.ticks.began || now.Sub(due) > missedAfter
}

// pass moves a schedule on without a turn; store.ErrMoved if it has changed meanwhile.
func (e *Engine) pass(k store.Tick, why string) error {
	if err := e.Store.PassTick(k, e.now()); err != nil {
		return fmt.Errorf("pass a tick (%s): %w", why, err)
	}
	return nil
}

// following is what comes after a schedule's present time.
func (e *Engine) following(s store.Schedule, now store.Time) (store.Tick, error) {
	k := store.Tick{Schedule: s.ID, Due: s.Next}
	if s.Cron == "" {
		return k, nil
	}
	r, err := e.rhythmOf(s)
	if err != nil {
		return k, err
	}
	k.Next, k.WaitMS = due(r, s.Next, now)
	return k, nil
}

// due is when a rhythm is due after last, and the length of the wait where that is what is meant.
func due(r rhythm.Rhythm, last, now store.Time) (at store.Time, waitMS int64) {
	was := time.Time{}
	if last != 0 {
		was = last.Go()
	}
	next := r.Next(was, now.Go())
	if next.IsZero() {
		return 0, 0
	}
	if r.Every() > 0 {
		waitMS = r.Every().Milliseconds()
	}
	return store.At(next), waitMS
}

// rhythmOf reads a schedule's.
func (e *Engine) rhythmOf(s store.Schedule) (rhythm.Rhythm, error) {
	loc, err := e.zone(s.Timezone)
	if err != nil {
		return rhythm.Rhythm{}, err
	}
	return rhythm.Parse(s.Cron, loc)
}

// zone finds a time zone by its name; "" and the name of the config's own are that one.
func (e *Engine) zone(name string) (*time.Location, error) {
	if name == "" || name == e.Location.String() {
		return e.Location, nil
	}
	return time.LoadLocation(name)
}

// lastOf is the turn that a schedule made last, or the one that took it in, if it is not done; else
// the zero turn.
func (e *Engine) lastOf(s store.Schedule) (store.Turn, error) {
	if s.LastTurn == 0 {
		return store.Turn{}, nil
	}
	t, err := e.Store.Turn(s.LastTurn)
	if err == nil && t.MergedInto != 0 {
		t, err = e.Store.Turn(t.MergedInto)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && t.State == store.Done {
		return store.Turn{}, nil
	}
	return t, err
}

// tickOf is what a schedule sends: its prompt, and a line that says who speaks.
func (e *Engine) tickOf(s store.Schedule, at store.Time) Incoming {
	in := Incoming{
		Bot: s.Bot, Surface: s.Surface, Channel: s.Channel, Thread: s.Thread, Kind: kindTick, Person: s.Person, Name: "schedule " + s.Name, Title: s.Name,
		Own: s.Source == "config" && s.Target == "", Trusted: true,
	}
	loc, err := e.zone(s.Timezone)
	if err != nil {
		loc = e.Location
	}
	who := fmt.Sprintf("the schedule %q sends this by itself", s.Name)
	if s.Source == "bot" {
		in.Kind, in.Title = kindWake, ""
		who = fmt.Sprintf("you have set this for yourself (%s)", s.Name)
	}
	in.Text = fmt.Sprintf("%s\n\n[Holdfast: %s; it is %s. If there is nothing to say, answer with %s and nothing else: then nothing is posted.]",
		s.Prompt, who, at.Go().In(loc).Format("Mon 2006-01-02 15:04 MST"), silence)
	return in
}
