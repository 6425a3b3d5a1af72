package store

// Tick moves a schedule on. Beside an Admission it does so in the transaction of the turn that it
// makes, so that no tick is lost and none is sent twice.
type Tick struct {
	Schedule ID
	Due      Time // the Next that this is about; 0 = it is sent at somebody's wish, and its Next stays
	Next     Time // what follows; 0 = nothing
	WaitMS   int64
}

// moveOn stores it with the turn it has made.
func (f *fact) moveOn(k *Tick, turn ID, at Time) error {
	if k == nil {
		return nil
	}
	if k.Due == 0 {
		n, err := f.exec(`UPDATE schedules SET last = ?, last_turn = ? WHERE id = ?`, at, turn, k.Schedule)
		return f.moved(k.Schedule, n, err)
	}
	n, err := f.exec(`UPDATE schedules SET last = ?, last_turn = ?, next_at = ?, wait_ms = ?, planned = ? WHERE id = ? AND next_at = ? AND paused = 0`,
		at, turn, k.Next, k.WaitMS, at, k.Schedule, k.Due)
	return f.moved(k.Schedule, n, err)
}

// moved tells of a schedule whose row has been changed; ErrMoved if it was not as expected.
func (f *fact) moved(id ID, n int, err error) error {
	if err == nil && n == 0 {
		return ErrMoved
	} else if err != nil {
		return err
	}
	var name, source string
	var next Time
	if err := f.one(`SELECT name, source, next_at FROM schedules WHERE id = ?`, id).Scan(&name, &source, &next); err != nil {
		return err
	}
	if source == "bot" && next == 0 { // it is over
		return f.changed(object{kind: kindRemoved, name: "schedule/" + name})
	}
	return f.changed(object{kind: kindSchedule, name: name})
}

// PassTick moves a schedule on without a turn: the tick was missed, or the last one's turn is under
// way. ErrMoved if it has changed meanwhile.
func (s *Store) PassTick(k Tick, now Time) error {
	return wrap("pass a tick", s.write(now, func(f *fact) error {
		n, err := f.exec(`UPDATE schedules SET next_at = ?, wait_ms = ?, planned = ? WHERE id = ? AND next_at = ?`, k.Next, k.WaitMS, now, k.Schedule, k.Due)
		return f.moved(k.Schedule, n, err)
	}))
}

// PauseSchedule carries out the command; next is when it is due from now on. ErrNotFound.
func (s *Store) PauseSchedule(name string, paused bool, next Time, waitMS int64, now Time, c *Command) error {
	return wrap("pause schedule", s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		n, err := f.exec(`UPDATE schedules SET paused = ?, next_at = ?, wait_ms = ?, planned = ? WHERE name = ?`, paused, next, waitMS, now, name)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		if err == nil {
			err = f.changed(object{kind: kindSchedule, name: name})
		}
		if err != nil {
			return err
		}
		return f.keep(c, 0, "")
	}))
}

// DeleteSchedule carries out the command on a bot's own. ErrNotFound; ErrConfigured for one of the config.
func (s *Store) DeleteSchedule(name string, now Time, c *Command) error {
	return wrap("delete schedule", s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		var source string
		if err := f.one(`SELECT source FROM schedules WHERE name = ?`, name).Scan(&source); err != nil {
			return err
		}
		if source == "config" {
			return ErrConfigured
		}
		if err := f.dropSchedule(name); err != nil {
			return err
		}
		return f.keep(c, 0, "")
	}))
}

// DropSchedule deletes one that the config has no more; ErrNotFound.
func (s *Store) DropSchedule(name string, now Time) error {
	return wrap("drop schedule", s.write(now, func(f *fact) error { return f.dropSchedule(name) }))
}

func (f *fact) dropSchedule(name string) error {
	n, err := f.exec(`DELETE FROM schedules WHERE name = ?`, name)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return err
	}
	return f.changed(object{kind: kindRemoved, name: "schedule/" + name})
}

// CancelSchedule ends a bot's own in a conversation; it stays known as over. found says whether there
// was one to come.
func (s *Store) CancelSchedule(name, bot, surface, channel, thread string, now Time) (found bool, err error) {
	err = s.write(now, func(f *fact) error {
		n, err := f.exec(`UPDATE schedules SET next_at = 0, planned = ? WHERE name = ? AND bot = ? AND surface = ? AND channel = ? AND thread = ? AND source = 'bot' AND next_at <> 0`,
			now, name, bot, surface, channel, thread)
		if found = n > 0; err != nil || !found {
			return err
		}
		return f.changed(object{kind: kindRemoved, name: "schedule/" + name})
	})
	return found && err == nil, wrap("cancel schedule", err)
}

// PruneSchedules deletes bots' own that have been over since before a moment, at most limit. They are
// kept for a while, so that a call that is made again finds what it has set.
func (s *Store) PruneSchedules(before Time, limit int) (n int, err error) {
	var any bool
	err = s.read(func(c *conn) error {
		return c.one(`SELECT EXISTS (SELECT 1 FROM schedules WHERE next_at = 0 AND source = 'bot' AND planned < ?)`, before).Scan(&any)
	})
	if err != nil || !any {
		return 0, wrap("prune schedules", err)
	}
	err = s.write(before, func(f *fact) error {
		n, err = f.exec(`DELETE FROM schedules WHERE id IN (SELECT id FROM schedules WHERE next_at = 0 AND source = 'bot' AND planned < ? ORDER BY planned LIMIT ?)`, before, limit)
		return err
	})
	return n, wrap("prune schedules", err)
}
