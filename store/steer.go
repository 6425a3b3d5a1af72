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
		if t, err = f.open(turn); err != nil {
			return err
		}
		err := f.each(func(r row) error {
			joined = append(joined, 0)
			return r.Scan(&joined[len(joined)-1])
		}, mayJoin+` ORDER BY n.id`, turn)
		for _, id := range joined {
			if err == nil {
				err = f.join(Turn{ID: id, Spoken: now}, turn)
			}
		}
		t.Messages += len(joined)
		t.Version += int64(len(joined))
		return err
	})
	t, err = outcome("take messages in", t, err)
	if err != nil {
		joined = nil
	}
	return t, joined, err
}

// mayJoin chooses the turns that may join a running one.
const mayJoin = `SELECT n.id FROM turns o CROSS JOIN turns n JOIN events e ON e.id = n.id
	WHERE o.id = ? AND n.conversation = o.conversation AND n.ended = 0 AND n.id > o.id AND n.state = 'queued' AND n.requests = 0 AND n.messages = 1
	AND n.supersedes = 0 AND n.person = o.person AND n.lane = o.lane AND e.kind = 'message'`

func (s *Store) mayJoin(turn ID) (found bool, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT EXISTS (`+mayJoin+`)`, turn).Scan(&found)
	})
	return found, err
}
