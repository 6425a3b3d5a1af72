package store

// Ready is what the engine's queue must know of a turn that can run or will be due.
type Ready struct {
	Turn         ID
	Conversation ID
	RetryAt      Time
	WaitMS       int64 // the planned length of the wait that ends then
	State        State
}

// ready reads such rows; skip leaves some out, nil none.
func (c *conn) ready(list []Ready, limit int, skip func(Ready) bool, sql string, args ...any) ([]Ready, error) {
	err := c.each(func(r row) error {
		if len(list) >= limit {
			return errEnough
		}
		var x Ready
		if err := r.Scan(&x.Turn, &x.Conversation, &x.RetryAt, &x.WaitMS, &x.State); err != nil {
			return err
		}
		if skip == nil || !skip(x) {
			list = append(list, x)
		}
		return nil
	}, sql, args...)
	return list, err
}

// Runnable reads turns in state queued with id > after, oldest first, at most limit.
func (s *Store) Runnable(after ID, limit int) (list []Ready, err error) {
	err = s.read(func(c *conn) error {
		list, err = c.ready(nil, limit, nil, `SELECT id, conversation, retry_at, wait_ms, state FROM turns
			WHERE state = 'queued' AND id > ? ORDER BY id LIMIT ?`, after, limit)
		return err
	})
	return list, wrap("read runnable turns", err)
}

// Due reads waiting turns whose RetryAt is set, above after (RetryAt, then id) and at or before until, soonest first, at most limit.
func (s *Store) Due(after Time, afterTurn ID, until Time, limit int) (list []Ready, err error) {
	rest := after > 0 && after <= until // of that millisecond
	read := s.read
	if rest { // two queries
		read = s.view
	}
	err = read(func(c *conn) (err error) {
		if rest {
			list, err = c.ready(nil, limit, nil, `SELECT id, conversation, retry_at, wait_ms, state FROM turns
				WHERE retry_at <> 0 AND retry_at = ? AND id > ? ORDER BY id LIMIT ?`, after, afterTurn, limit)
		}
		if err == nil && len(list) < limit {
			list, err = c.ready(list, limit, nil, `SELECT id, conversation, retry_at, wait_ms, state FROM turns
				WHERE retry_at <> 0 AND retry_at > ? AND retry_at <= ? ORDER BY retry_at, id LIMIT ?`, after, until, limit-len(list))
		}
		return err
	})
	return list, wrap("read due turns", err)
}

// Swept is what Sweep finds.
type Swept struct {
	Queued bool    // some turn is queued
	Due    []Ready // what Due would begin with
	Beyond Time    // when the first waiting turn behind until is due; 0 = there is none
}

// Sweep reads, in a single query, the waiting turns that Due would begin with, at most limit, when the next
// one behind until is due, and whether any turn is queued.
func (s *Store) Sweep(until Time, limit int) (found Swept, err error) {
	err = s.read(func(c *conn) error {
		found.Due, err = c.ready(nil, limit+2, nil, `SELECT * FROM (SELECT id, conversation, retry_at, wait_ms, state FROM turns WHERE state = 'queued' LIMIT 1)
			UNION ALL SELECT * FROM (SELECT id, conversation, retry_at, wait_ms, state FROM turns
				WHERE retry_at <> 0 AND retry_at <= ? ORDER BY retry_at, id LIMIT ?)
			UNION ALL SELECT * FROM (SELECT id, conversation, retry_at, wait_ms, state FROM turns
				WHERE retry_at <> 0 AND retry_at > ? ORDER BY retry_at LIMIT 1)`, until, limit, until)
		return err
	})
	if len(found.Due) > 0 && found.Due[0].State == Queued {
		found.Queued, found.Due = true, found.Due[1:]
	}
	if n := len(found.Due); n > 0 && found.Due[n-1].RetryAt > until {
		found.Beyond, found.Due = found.Due[n-1].RetryAt, found.Due[:n-1]
	}
	return found, wrap("read due turns", err)
}

// AtGate reads turns that wait at a gate: those spoken to at or after fresh first, then the rest, both
// in the order in which they were last spoken to, at most limit of those that skip does not pass over.
func (s *Store) AtGate(gate string, fresh Time, skip func(Ready) bool, limit int) (list []Ready, err error) {
	err = s.read(func(c *conn) error { // as many rows as fn takes are read, since both parts lie in the index as they are wanted
		list, err = c.ready(nil, limit, skip, `SELECT * FROM (SELECT id, conversation, retry_at, wait_ms, state FROM turns
				WHERE gate <> '' AND gate = ? AND spoken >= ? ORDER BY spoken, id LIMIT -1)
			UNION ALL SELECT * FROM (SELECT id, conversation, retry_at, wait_ms, state FROM turns
				WHERE gate <> '' AND gate = ? AND spoken < ? ORDER BY spoken, id LIMIT -1)`, gate, fresh, gate, fresh)
		return err
	})
	return list, wrap("read turns at a gate", err)
}

// AtGateOf reads a bot's turns that wait at a gate, with account only those that do for its account's sake,
// with id > after in the order of ids, at most limit.
func (s *Store) AtGateOf(bot, gate string, account bool, after ID, limit int) (list []Ready, err error) {
	err = s.read(func(c *conn) error {
		list, err = c.ready(nil, limit, nil, `SELECT t.id, t.conversation, t.retry_at, t.wait_ms, t.state FROM turns t JOIN conversations c ON c.id = t.conversation
			WHERE t.gate <> '' AND t.gate = ? AND c.bot = ? AND (NOT ? OR t.state = 'owed' AND t.reason_why = 'account') AND t.id > ? ORDER BY t.id LIMIT ?`, gate, bot, account, after, limit)
		return err
	})
	return list, wrap("read a bot's turns at a gate", err)
}

// ForDayOf reads a bot's turns that wait for the day to turn at a moment, with id > after in the order of
// ids, at most limit.
func (s *Store) ForDayOf(bot string, turns Time, after ID, limit int) (list []Ready, err error) {
	err = s.read(func(c *conn) error {
		list, err = c.ready(nil, limit, nil, `SELECT t.id, t.conversation, t.retry_at, t.wait_ms, t.state FROM turns t JOIN conversations c ON c.id = t.conversation
			WHERE t.retry_at <> 0 AND t.retry_at = ? AND t.wait_from = 'budget' AND c.bot = ? AND t.id > ? ORDER BY t.id LIMIT ?`, turns, bot, after, limit)
		return err
	})
	return list, wrap("read a bot's turns that wait for the day", err)
}

// Coming is something that is due later: a turn's next try, or a post's.
type Coming struct {
	Turn            ID
	At              Time
	State           State  // of the turn
	Gate            string // at which it waits, "" = at none
	RearmN, RearmOf int
	Post            bool // it is a post of the turn that is tried again
}

// comingRead bounds how many due turns Upcoming looks through, since most may wait at one gate.
const comingRead = 1000

// Upcoming reads what is due next, soonest first: at most limit turns with a time of their own (those parked
// at a gate have the gate's), then at most limit posts whose next try lies after now.
func (s *Store) Upcoming(now Time, limit int) (list []Coming, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var x Coming
			err := r.Scan(&x.Turn, &x.At, &x.State, &x.Gate, &x.RearmN, &x.RearmOf, &x.Post)
			list = append(list, x)
			return err
		}, `SELECT * FROM (SELECT id, retry_at, state, gate, rearm_n, rearm_of, 0 FROM
				(SELECT * FROM turns WHERE retry_at <> 0 ORDER BY retry_at, id LIMIT ?) WHERE gate = '' OR state <> 'parked' LIMIT ?)
			UNION ALL SELECT * FROM (SELECT turn, next_try, '', '', 0, 0, 1 FROM posts
				WHERE state IN ('pending', 'posting') AND next_try > ? ORDER BY next_try LIMIT ?)`, comingRead, limit, now, limit)
	})
	return list, wrap("read what comes up", err)
}

// GateWaiters counts the turns that wait at each gate.
func (s *Store) GateWaiters() (map[string]int, error) {
	waiters := map[string]int{}
	err := s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var gate string
			var n int
			err := r.Scan(&gate, &n)
			waiters[gate] = n
			return err
		}, `SELECT gate, count(*) FROM turns WHERE gate <> '' GROUP BY gate`)
	})
	return waiters, wrap("count turns at gates", err)
}

// PeopleAt counts whose turns wait at the gate of a model, as rows or in process.
func (s *Store) PeopleAt(gate, provider, model string) (n int, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT count(*) FROM (SELECT person FROM turns WHERE gate <> '' AND gate = ? UNION
			SELECT person FROM turns WHERE state = 'retrying' AND reason_why = 'gate' AND reason_provider = ? AND reason_model = ?)`, gate, provider, model).Scan(&n)
	})
	return n, wrap("count people at a gate", err)
}
