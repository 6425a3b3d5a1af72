package store

// clampBatch is how many turns one fact rewrites: others are not kept waiting by a million of them.
const clampBatch = 500

// ClampWaits rewrites what a backward clock step has put too far ahead: no RetryAt, gate end,
// post's next try or schedule that goes by lengths of time lies more than its own wait after now (P16). It returns how many rows changed.
// All but the turns are one fact, these, turns one for every few hundred, the farthest first.
func (s *Store) ClampWaits(now Time) (n int, err error) {
	err = s.write(now, func(f *fact) error {
		gates, err := f.clampNamed(kindGate, `UPDATE gates SET until = ? + wait_ms WHERE until > ? AND wait_ms > 0 AND until > ? + wait_ms RETURNING key`, now)
		if err != nil {
			return err
		}
		posts, err := f.exec(`UPDATE posts SET next_try = ? + wait_ms
			WHERE state IN ('pending', 'posting') AND next_try > ? AND wait_ms > 0 AND next_try > ? + wait_ms`, now, now, now)
		if err != nil {
			return err
		}
		schedules, err := f.clampNamed(kindSchedule, `UPDATE schedules SET next_at = ? + wait_ms
			WHERE next_at <> 0 AND paused = 0 AND next_at > ? AND wait_ms > 0 AND next_at > ? + wait_ms RETURNING name`, now)
		n = gates + posts + schedules
		return err
	})
	for farthest := Time(1<<63 - 1); err == nil; {
		var turns []Ready
		turns, err = s.tooFar(now, farthest)
		if err != nil || len(turns) == 0 {
			break
		}
		farthest = turns[len(turns)-1].RetryAt
		var moved int
		err = s.write(now, func(f *fact) (err error) {
			moved, err = f.clampTurns(turns, now)
			return err
		})
		n += moved
	}
	if err != nil {
		return 0, wrap("clamp waits", err)
	}
	return n, nil
}

// tooFar reads turns whose RetryAt, at most farthest, lies further ahead than their own wait.
func (s *Store) tooFar(now, farthest Time) (list []Ready, err error) {
	err = s.read(func(c *conn) error {
		list, err = c.ready(nil, clampBatch, nil, `SELECT id, conversation, retry_at, wait_ms, state FROM turns
			WHERE retry_at <> 0 AND retry_at > ? AND retry_at <= ? AND wait_ms > 0 AND retry_at > ? + wait_ms
			ORDER BY retry_at DESC LIMIT ?`, now, farthest, now, clampBatch)
		return err
	})
	return list, err
}

func (f *fact) clampTurns(turns []Ready, now Time) (moved int, err error) {
	for _, t := range turns {
		n, err := f.exec(`UPDATE turns SET retry_at = ? + wait_ms, version = version + 1
			WHERE id = ? AND retry_at <> 0 AND wait_ms > 0 AND retry_at > ? + wait_ms`, now, t.Turn, now)
		if err == nil && n > 0 {
			moved++
			err = f.changed(object{kind: kindTurn, id: t.Turn})
		}
		if err != nil {
			return 0, err
		}
	}
	return moved, nil
}

// clampNamed rewrites rows of a kind that goes by its name, and tells of them.
func (f *fact) clampNamed(of kind, update string, now Time) (int, error) {
	var moved []object
	err := f.each(func(r row) error {
		o := object{kind: of}
		err := r.Scan(&o.name)
		moved = append(moved, o)
		return err
	}, update, now, now, now)
	for _, o := range moved {
		if err == nil {
			err = f.changed(o)
		}
	}
	return len(moved), err
}
