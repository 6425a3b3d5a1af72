package store

// Begin is a request about to be sent.
type Begin struct {
	Turn     ID
	At       Time
	Send     int    // the logical call it belongs to, from 1
	NewSend  bool   // counts an attempt
	Model    string // PROVIDER/MODEL
	Messages int    // the Turn.Messages its text was built from
	Version  int64  // the Turn.Version that the run goes by; 0 = any
	Usage    Usage  // a count that this request adds to; N 0 = none
	Step     *Step  // a line of the journal about what the text was built from; nil = none
	Was      *State // set to the state that the turn was in; nil = nobody asks
}

// BeginRequest writes the request's row and sets the turn running, before the request is sent
// (P1). It returns the request's number n within the turn, from 1. The wait is over, its reason
// stays, and Version is one more. ErrMoved if a message has joined since the text was built, or the row
// has changed in any other way since it was read; ErrSettled if the turn is done.
func (s *Store) BeginRequest(b Begin) (n int, err error) {
	var made int
	err = s.write(b.At, func(f *fact) error {
		var state State
		var messages, requests, send int
		var version int64
		err := f.one(`SELECT state, messages, requests, version FROM turns WHERE id = ?`, b.Turn).Scan(&state, &messages, &requests, &version)
		switch {
		case err != nil:
			return err
		case state == Done:
			return ErrSettled
		case messages != b.Messages || b.Version != 0 && version != b.Version:
			return ErrMoved
		}
		if b.Was != nil {
			*b.Was = state
		}
		if b.NewSend {
			send = 1
		}
		made = requests + 1
		err = f.must(`UPDATE turns SET state = 'running', retry_at = 0, gate = '', wait_from = '', wait_ms = 0, model = ?,
			attempts = attempts + ?, requests = ?, version = version + 1 WHERE id = ? AND messages = ? AND state <> 'done'`,
			b.Model, send, made, b.Turn, b.Messages)
		if err == nil {
			err = f.must(`INSERT INTO attempts (turn, n, send, at, model, room) VALUES (?, ?, ?, ?, ?, zeroblob(?))`, b.Turn, made, b.Send, b.At, b.Model, roomOfAttempt)
		}
		if err == nil && b.Step != nil {
			err = f.addStep(b.Turn, b.Step)
		}
		if err == nil {
			err = f.use(b.Usage)
		}
		if err == nil {
			err = f.changed(object{kind: kindTurn, id: b.Turn})
		}
		if err == nil {
			err = f.changed(object{kind: kindAttempt, id: b.Turn, n: made})
		}
		return err
	})
	if err != nil {
		return 0, wrap("begin request", err)
	}
	return made, nil
}
