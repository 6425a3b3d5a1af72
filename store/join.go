package store

import "errors"

// JoinTurn lets a turn that has not begun join an older one: the newest turn of the same person in
// its conversation that waits (reason approval aside), as if its message had come only now (see
// Admit). It ends merged, and the older one takes its message and those it has taken in itself. It
// returns that turn and its state as it was; 0 if there is none, which changes nothing, as for a turn
// that is not queued, has begun, asks anew or has a post of its own.
func (s *Store) JoinTurn(turn ID, now Time) (into ID, was State, err error) {
	err = s.write(now, func(f *fact) error {
		into, was = 0, ""
		t, err := f.turn(turn)
		if err != nil || t.State != Queued || t.Requests > 0 || t.Supersedes != 0 {
			return err
		}
		var post ID
		if err = f.one(`SELECT id FROM posts WHERE turn = ? LIMIT 1`, turn).Scan(&post); !errors.Is(err, ErrNotFound) {
			return err
		}
		err = f.one(`SELECT id, state FROM turns WHERE conversation = ? AND ended = 0 AND id < ?
			AND state IN ('retrying', 'parked', 'rearming', 'owed') AND person = ? AND lane = ? AND reason_why <> 'approval'
			ORDER BY id DESC LIMIT 1`, t.Conversation, turn, t.Person, t.Lane).Scan(&into, &was)
		if errors.Is(err, ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		return f.join(t, into)
	})
	if err != nil {
		return 0, "", wrap("join turn", err)
	}
	return into, was, nil
}

// OlderWaits reports whether a turn of a person's in a conversation that is older than another waits:
// JoinTurn may find one then.
func (s *Store) OlderWaits(conversation, turn ID, person string) (waits bool, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT EXISTS (SELECT 1 FROM turns WHERE conversation = ? AND ended = 0 AND id < ?
			AND state IN ('retrying', 'parked', 'rearming', 'owed') AND person = ?)`, conversation, turn, person).Scan(&waits)
	})
	return waits, wrap("look for an older turn", err)
}

// join moves what a turn was asked to an older one. A turn's own message has the turn's id, one that
// it has taken in that of the turn which it made.
func (f *fact) join(t Turn, into ID) error {
	var taken []ID
	err := f.each(func(r row) error {
		taken = append(taken, 0)
		return r.Scan(&taken[len(taken)-1])
	}, `SELECT id FROM events WHERE turn = ? AND turn <> id`, t.ID)
	if err == nil {
		err = f.must(`UPDATE turns SET messages = messages + ?, spoken = max(spoken, ?), version = version + 1 WHERE id = ? AND state <> 'done'`, t.Messages, t.Spoken, into)
	}
	if err == nil {
		err = f.must(`UPDATE turns SET state = 'done', outcome = 'merged', ended = ?, merged_into = ?, room = NULL, version = version + 1 WHERE id = ? AND state = 'queued'`,
			max(f.at, 1), into, t.ID)
	}
	for _, id := range taken {
		if err == nil {
			err = f.must(`UPDATE turns SET merged_into = ?, version = version + 1 WHERE id = ? AND outcome = 'merged'`, into, id)
		}
	}
	for _, id := range append(taken, t.ID) {
		if err == nil {
			err = f.must(`UPDATE events SET turn = ?, behind = `+behind+` WHERE id = ?`, into, into, id)
		}
	}
	for _, id := range append(taken, into, t.ID) {
		if err == nil {
			err = f.changed(object{kind: kindTurn, id: id})
		}
	}
	return err
}
