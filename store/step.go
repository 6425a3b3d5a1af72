package store

// Step is one journaled thing in a turn.
type Step struct {
	Turn ID
	N    int    // from 1; set by the store
	Kind string // "reply" (a model's reply that ends in tool calls, or went on because a message joined) | "called" | "resulted" (a tool) | "decided" (on an approval) | "note" | "context" (what of a thread the model was shown)
	At   Time
	Body []byte // JSON, the engine's
}

// addStep puts a line at the end of the turn's journal.
func (f *fact) addStep(turn ID, p *Step) error {
	at := p.At
	if at == 0 {
		at = f.at
	}
	return f.must(`INSERT INTO steps (turn, n, kind, at, body) VALUES (?, coalesce((SELECT max(n) FROM steps WHERE turn = ?), 0) + 1, ?, ?, ?)`,
		turn, turn, p.Kind, at, p.Body)
}

// addCalls journals tool calls about to be made and counts them.
func (f *fact) addCalls(t *Turn, calls []*Step) error {
	for _, p := range calls {
		if err := f.addStep(t.ID, p); err != nil {
			return err
		}
	}
	if len(calls) == 0 {
		return nil
	}
	t.Calls += len(calls)
	return f.must(`UPDATE turns SET calls = calls + ? WHERE id = ?`, len(calls), t.ID)
}

// Steps reads a turn's journal in order.
func (s *Store) Steps(turn ID) (list []Step, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var p Step
			err := r.Scan(&p.Turn, &p.N, &p.Kind, &p.At, &p.Body)
			list = append(list, p)
			return err
		}, `SELECT turn, n, kind, at, body FROM steps WHERE turn = ? ORDER BY n`, turn)
	})
	return list, wrap("read journal", err)
}

// Touch tells whoever follows the log to look at a turn again, whose row has not changed: what is in
// memory about it has. ErrNotFound.
func (s *Store) Touch(turn ID, now Time) error {
	return wrap("touch turn", s.write(now, func(f *fact) error {
		if _, err := f.turn(turn); err != nil {
			return err
		}
		return f.changed(object{kind: kindTurn, id: turn})
	}))
}
