package store

// SteerTurn lets the messages that the same person has sent since a turn of theirs began to run join
// it between two steps (one that has not begun, asks nothing anew and was not posted about): their
// turns end merged, their texts come behind what the journal holds now. It returns the turn, which stays
// running, and how many have joined; 0 changes nothing. ErrSettled, with the turn, if it is done.
func (s *Store) SteerTurn(turn ID, now Time) (t Turn, joined []ID, err error) {
	waits, err := s.mayJoin(turn)
	if err != nil || !waits {
		return t, nil, wrap("look for messages", err)
	}
	err = s.write(now, func(f *fact) error {
		joined = nil
		if t, err = f.open(turn); err != nil {
			return err
		}
		var later []Turn
		err := f.each(func(r row) error {
			l := Turn{Spoken: now}
			err := r.Scan(&l.ID, &l.Messages)
			later = append(later, l)
			return err
		}, mayJoin+` ORDER BY n.id`, turn)
		for _, l := range later {
			if err == nil {
				err = f.join(l, turn)
			}
			joined = append(joined, l.ID)
			t.Messages += l.Messages
			t.Version++
		}
		return err
	})
	t, err = outcome("take messages in", t, err)
	if err != nil {
		joined = nil
	}
	return t, joined, err
}

// mayJoin chooses the turns that may join a running one.
const mayJoin = `SELECT n.id, n.messages FROM turns o CROSS JOIN turns n JOIN events e ON e.id = n.id
	WHERE o.id = ? AND n.conversation = o.conversation AND n.ended = 0 AND n.id > o.id AND n.state = 'queued' AND n.requests = 0
	AND n.supersedes = 0 AND n.person = o.person AND n.lane = o.lane AND e.kind = 'message'`

func (s *Store) mayJoin(turn ID) (found bool, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT EXISTS (`+mayJoin+`)`, turn).Scan(&found)
	})
	return found, err
}
