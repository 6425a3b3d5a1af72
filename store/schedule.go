package store

import "errors"

// Schedule is something that the clock sends: a section of the config, or what a bot has set for itself.
type Schedule struct {
	ID       ID
	Name     string // the only one of it; a bot's own has its ID's text
	Source   string // "config" | "bot"
	Bot      string
	Cron     string // "" = once, at Next
	Timezone string // as it was written; "" = the config's
	Prompt   string
	Target   string // as the config writes it; "" = a chat of its own
	Surface  string // with Channel and Thread: the conversation that it speaks in
	Channel  string
	Thread   string
	Person   string // on whose behalf: "schedule:NAME", or who has asked the bot for it
	Missed   string // "once" | "skip"
	Paused   bool
	Next     Time   // when it is due; 0 = never again
	WaitMS   int64  // the length of time that ends then, 0 where a moment is meant: see ClampWaits
	Planned  Time   // when Next was found
	Last     Time   // when it last made a turn
	LastTurn ID     // that turn
	MadeBy   string // the key of the call that has set it; "" = the config
}

const scheduleColumns = `id, name, source, bot, cron, timezone, prompt, target, surface, channel, thread, person, missed, paused, next_at, wait_ms, planned, last, last_turn, made_by`

func (x *Schedule) scan(r row) error {
	return r.Scan(&x.ID, &x.Name, &x.Source, &x.Bot, &x.Cron, &x.Timezone, &x.Prompt, &x.Target, &x.Surface, &x.Channel, &x.Thread, &x.Person, &x.Missed,
		&x.Paused, &x.Next, &x.WaitMS, &x.Planned, &x.Last, &x.LastTurn, &x.MadeBy)
}

// PutSchedule makes a schedule of the config, or gives the one of its name what it now says; what was
// last sent and the pause stay.
func (s *Store) PutSchedule(x *Schedule, now Time) error {
	return wrap("put schedule", s.write(now, func(f *fact) error {
		err := f.one(`SELECT id FROM schedules WHERE name = ?`, x.Name).Scan(&x.ID)
		if errors.Is(err, ErrNotFound) {
			return f.addSchedule(x)
		} else if err != nil {
			return err
		}
		err = f.must(`UPDATE schedules SET source = ?, bot = ?, cron = ?, timezone = ?, prompt = ?, target = ?, surface = ?, channel = ?, thread = ?, person = ?,
			missed = ?, next_at = ?, wait_ms = ?, planned = ? WHERE id = ?`,
			x.Source, x.Bot, x.Cron, x.Timezone, x.Prompt, x.Target, x.Surface, x.Channel, x.Thread, x.Person,
			x.Missed, x.Next, x.WaitMS, x.Planned, x.ID)
		if err != nil {
			return err
		}
		return f.changed(object{kind: kindSchedule, name: x.Name})
	}))
}

func (f *fact) addSchedule(x *Schedule) error {
	if x.ID = f.newID(); x.Name == "" {
		x.Name = x.ID.String()
	}
	err := f.must(`INSERT INTO schedules (`+scheduleColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		x.ID, x.Name, x.Source, x.Bot, x.Cron, x.Timezone, x.Prompt, x.Target, x.Surface, x.Channel, x.Thread, x.Person, x.Missed,
		x.Paused, x.Next, x.WaitMS, x.Planned, x.Last, x.LastTurn, x.MadeBy)
	if err != nil {
		return err
	}
	return f.changed(object{kind: kindSchedule, name: x.Name})
}

// SetSchedule makes a bot's own and sets its ID and Name. One that the same call has made before is
// what x then is, also if it is over. ErrTooMany if limit of its conversation are to come.
func (s *Store) SetSchedule(x *Schedule, limit int, now Time) error {
	given := *x
	return wrap("set schedule", s.write(now, func(f *fact) error {
		*x = given
		var was Schedule
		err := was.scan(f.one(`SELECT `+scheduleColumns+` FROM schedules WHERE made_by = ? AND made_by <> ''`, x.MadeBy))
		if err == nil {
			*x = was
			return nil
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		var n int
		err = f.one(`SELECT count(*) FROM schedules WHERE channel = ? AND surface = ? AND thread = ? AND bot = ? AND source = 'bot' AND next_at <> 0`,
			x.Channel, x.Surface, x.Thread, x.Bot).Scan(&n)
		if err == nil && n >= limit {
			err = ErrTooMany
		}
		if err != nil {
			return err
		}
		return f.addSchedule(x)
	}))
}

// Schedules reads those that are not over, by name.
func (s *Store) Schedules() ([]Schedule, error) {
	return s.schedules(`SELECT ` + scheduleColumns + ` FROM schedules WHERE next_at <> 0 OR source = 'config' ORDER BY name`)
}

// SchedulesIn reads a bot's own in a conversation that are to come, the next first.
func (s *Store) SchedulesIn(bot, surface, channel, thread string) ([]Schedule, error) {
	return s.schedules(`SELECT `+scheduleColumns+` FROM schedules
		WHERE channel = ? AND surface = ? AND thread = ? AND bot = ? AND source = 'bot' AND next_at <> 0 ORDER BY next_at`, channel, surface, thread, bot)
}

// NextSchedules reads the next that are due, soonest first, at most limit.
func (s *Store) NextSchedules(limit int) ([]Schedule, error) {
	return s.schedules(`SELECT `+scheduleColumns+` FROM schedules WHERE next_at <> 0 AND paused = 0 ORDER BY next_at LIMIT ?`, limit)
}

func (s *Store) schedules(sql string, args ...any) (list []Schedule, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var x Schedule
			err := x.scan(r)
			list = append(list, x)
			return err
		}, sql, args...)
	})
	return list, wrap("read schedules", err)
}

// Schedule reads one by its name; ErrNotFound.
func (s *Store) Schedule(name string) (x Schedule, err error) {
	err = s.read(func(c *conn) error {
		return x.scan(c.one(`SELECT `+scheduleColumns+` FROM schedules WHERE name = ?`, name))
	})
	return x, wrap("read schedule", err)
}
