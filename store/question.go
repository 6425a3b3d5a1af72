package store

// What somebody has said can be changed or taken back as long as nothing of the answer is journaled
// (S10). Either counts as one more message of the turn, so that whoever builds or settles an answer
// at the same moment finds that it has moved.

// EventByKey reads an event by the platform's own id; ErrNotFound.
func (s *Store) EventByKey(bot, key string) (e Event, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT id, turn, key, kind, name, at, text FROM events WHERE key = ? AND bot = ?`, key, bot).
			Scan(&e.ID, &e.Turn, &e.Key, &e.Kind, &e.Name, &e.At, &e.Text)
	})
	return e, wrap("read event", err)
}

// Asked reads the messages that a turn answers, in order.
func (s *Store) Asked(turn ID) (list []Event, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var e Event
			err := r.Scan(&e.ID, &e.Turn, &e.Key, &e.Kind, &e.Name, &e.At, &e.Text, &e.Behind)
			list = append(list, e)
			return err
		}, `SELECT id, turn, key, kind, name, at, text, behind FROM events WHERE id = ? AND turn = ?
			UNION ALL SELECT id, turn, key, kind, name, at, text, behind FROM events WHERE turn = ? AND turn <> id ORDER BY 1`, turn, turn, turn)
	})
	return list, wrap("read what was asked", err)
}

// Reword gives an event another text until the first step of the turn that answers it, which it
// returns: ErrBegun after that, ErrSettled once that turn is done. ErrNotFound.
func (s *Store) Reword(event ID, text string, now Time, c *Command) (t Turn, err error) {
	err = s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return f.withTurn(&t, c.Turn, err)
		}
		was, err := f.question(event, &t)
		if err != nil {
			return err
		}
		if was != text {
			if err := f.must(`UPDATE events SET text = ? WHERE id = ?`, text, event); err != nil {
				return err
			}
			if err := f.moveQuestion(&t, object{kind: kindMessage, id: event}); err != nil {
				return err
			}
		}
		return f.keep(c, t.ID, chatKey(t.Surface, t.Channel, t.Conversation))
	})
	return outcome("change a question", t, err)
}

// question reads an event's text and the turn that answers it, if it may still be changed.
func (f *fact) question(event ID, t *Turn) (text string, err error) {
	var answers ID
	if err := f.one(`SELECT turn, text FROM events WHERE id = ?`, event).Scan(&answers, &text); err != nil {
		return "", err
	}
	if *t, err = f.open(answers); err != nil {
		return "", err
	}
	var begun bool
	err = f.one(`SELECT EXISTS (SELECT 1 FROM steps WHERE turn = ? AND kind NOT IN ('note', 'context', 'summary'))`, answers).Scan(&begun)
	if err == nil && begun {
		err = ErrBegun
	}
	return text, err
}

// moveQuestion counts the change and tells of it.
func (f *fact) moveQuestion(t *Turn, of object) error {
	t.Messages++
	t.Version++
	err := f.must(`UPDATE turns SET messages = messages + 1, version = version + 1 WHERE id = ? AND state <> 'done'`, t.ID)
	if err == nil {
		err = f.changed(of)
	}
	if err == nil {
		err = f.changed(object{kind: kindTurn, id: t.ID})
	}
	return err
}

// Withdraw takes an event back whose message was deleted: its text goes, from the transcript as
// well. The turn that answers it, which it returns, must not be done, or be cancelled: ErrSettled
// else. ErrNotFound.
func (s *Store) Withdraw(event ID, now Time) (t Turn, err error) {
	err = s.write(now, func(f *fact) error {
		var answers ID
		err := f.one(`SELECT turn FROM events WHERE id = ?`, event).Scan(&answers)
		if err == nil {
			t, err = f.turn(answers)
		}
		switch {
		case err != nil:
			return err
		case t.State == Done && t.Outcome != Cancelled:
			return ErrSettled
		}
		if err := f.must(`UPDATE events SET text = '', kind = 'withdrawn' WHERE id = ?`, event); err != nil {
			return err
		}
		gone := object{kind: kindRemoved, name: "message/" + event.String()}
		if t.State == Done {
			return f.changed(gone)
		}
		return f.moveQuestion(&t, gone)
	})
	return outcome("take a message back", t, err)
}
