package store

// Attempt is one HTTP request to a model.
type Attempt struct {
	Turn      ID
	N         int // from 1, per turn
	Send      int // the logical call, from 1, per turn
	At        Time
	Model     string // PROVIDER/MODEL
	Status    int    // 0 without an HTTP answer
	Class     string // "" for a success
	StatedMS  int64  // -1 when none was stated; 0 is a statement
	WaitMS    int64  // planned wait that followed
	WaitFrom  string
	Rung      string // "" | "L1" … "L7": the rung that decided what came next
	Outcome   string // "" while under way | "ok" | "retry" | "park" | "fallback" | "rearm" | "owed" | "failed" | "cancelled" | "interrupted"
	RequestID string // the provider's
	MS        int64  // how long it took
	Error     string // what went wrong, without secrets; "" for a success
	TokensIn  int64
	TokensOut int64
}

// AttemptEnd is how a request ended: the fields of Attempt that are known only then. N names it;
// Turn, Send, At and Model stay as BeginRequest has written them.
type AttemptEnd Attempt

// roomOfAttempt is how many bytes the row of a request has room for, about as many as its end needs.
const roomOfAttempt = 100

// endAttempt stores how a turn's request ended; ErrNotFound if it has not begun.
func (f *fact) endAttempt(turn ID, a *AttemptEnd) error {
	var stated any
	if a.StatedMS >= 0 {
		stated = a.StatedMS
	}
	n, err := f.exec(`UPDATE attempts SET status = ?, class = ?, stated_ms = ?, wait_ms = ?, wait_from = ?, rung = ?, outcome = ?,
		request_id = ?, ms = ?, tokens_in = ?, tokens_out = ?, error = ?, room = NULL WHERE turn = ? AND n = ?`,
		a.Status, a.Class, stated, a.WaitMS, a.WaitFrom, a.Rung, a.Outcome, a.RequestID, a.MS, a.TokensIn, a.TokensOut, a.Error, turn, a.N)
	switch {
	case err != nil:
		return err
	case n == 0:
		return ErrNotFound
	}
	return f.changed(object{kind: kindAttempt, id: turn, n: a.N})
}

// Attempts reads a turn's requests in order.
func (s *Store) Attempts(turn ID) (list []Attempt, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var a Attempt
			err := r.Scan(&a.Turn, &a.N, &a.Send, &a.At, &a.Model, &a.Status, &a.Class, &a.StatedMS, &a.WaitMS, &a.WaitFrom,
				&a.Rung, &a.Outcome, &a.RequestID, &a.MS, &a.TokensIn, &a.TokensOut, &a.Error)
			list = append(list, a)
			return err
		}, `SELECT turn, n, send, at, model, status, class, coalesce(stated_ms, -1), wait_ms, wait_from,
			rung, outcome, request_id, ms, tokens_in, tokens_out, error FROM attempts WHERE turn = ? ORDER BY n`, turn)
	})
	return list, wrap("read requests", err)
}
