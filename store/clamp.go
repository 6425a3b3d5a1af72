package store

// ClampWaits rewrites what a backward clock step has put too far ahead: no RetryAt, gate end or
// post's next try lies more than its own wait after now (P16). It returns how many rows changed.
func (s *Store) ClampWaits(now Time) (int, error) {
	n := 0
	err := s.write(now, func(f *fact) error {
		turns, err := f.clamped(kindTurn, `UPDATE turns SET retry_at = ? + wait_ms, version = version + 1
			WHERE retry_at > 0 AND retry_at > ? AND wait_ms > 0 AND retry_at > ? + wait_ms RETURNING id, ''`, now, now, now)
		if err != nil {
			return err
		}
		gates, err := f.clamped(kindGate, `UPDATE gates SET until = ? + wait_ms WHERE until > ? AND wait_ms > 0 AND until > ? + wait_ms RETURNING 0, key`, now, now, now)
		if err != nil {
			return err
		}
		posts, err := f.exec(`UPDATE posts SET next_try = ? + wait_ms
			WHERE state IN ('pending', 'posting') AND next_try > ? AND wait_ms > 0 AND next_try > ? + wait_ms`, now, now, now)
		n = turns + gates + posts
		return err
	})
	if err != nil {
		return 0, wrap("clamp waits", err)
	}
	return n, nil
}

// clamped runs an update that returns an id or a name, and puts what has changed into the log.
func (f *fact) clamped(k kind, sql string, args ...any) (int, error) {
	var moved []object
	err := f.each(func(r row) error {
		o := object{kind: k}
		err := r.Scan(&o.id, &o.name)
		moved = append(moved, o)
		return err
	}, sql, args...)
	for _, o := range moved {
		if err == nil {
			err = f.changed(o)
		}
	}
	return len(moved), err
}
