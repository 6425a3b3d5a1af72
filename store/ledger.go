package store

import "strings"

// Overdue is a turn that could run now.
type Overdue struct {
	Turn         ID
	Conversation ID
	Version      int64
	Since        Time // when it was due; for a queued one when it was last spoken to
}

// OverdueTurns reads turns that could run now: queued ones, those whose time has come, and those
// that wait at one of the open gates named, the oldest of each first and at most limit of each.
func (s *Store) OverdueTurns(now Time, open []string, limit int) (list []Overdue, err error) {
	add := func(r row) error {
		var o Overdue
		err := r.Scan(&o.Turn, &o.Conversation, &o.Version, &o.Since)
		list = append(list, o)
		return err
	}
	sql := `SELECT * FROM (SELECT id, conversation, version, spoken FROM turns WHERE state = 'queued' ORDER BY id LIMIT ?)
		UNION ALL SELECT * FROM (SELECT id, conversation, version, retry_at FROM turns
			WHERE retry_at <> 0 AND retry_at <= ? AND gate = '' ORDER BY retry_at LIMIT ?)` +
		strings.Repeat(`
		UNION ALL SELECT * FROM (SELECT id, conversation, version, max(spoken, retry_at) FROM turns
			WHERE gate <> '' AND gate = ? AND retry_at <= ? ORDER BY spoken LIMIT ?)`, len(open))
	args := []any{limit, now, limit}
	for _, gate := range open {
		args = append(args, gate, now, limit)
	}
	err = s.read(func(c *conn) error { return c.each(add, sql, args...) })
	return list, wrap("read overdue turns", err)
}

// PostsPending counts the posts that are not out.
func (s *Store) PostsPending() (n int, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT count(*) FROM posts WHERE state IN ('pending', 'posting')`).Scan(&n)
	})
	return n, wrap("count pending posts", err)
}

// Spoke is one message of somebody.
type Spoke struct {
	Person string
	At     Time
}

// SpokenOnWeb reads who has said something on the web since a moment, oldest first. Ids begin with
// their moment, so it is a search.
func (s *Store) SpokenOnWeb(since Time) (list []Spoke, err error) {
	first := ID(max(since-idYear0, 0)) << idRandom
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var p Spoke
			err := r.Scan(&p.Person, &p.At)
			list = append(list, p)
			return err
		}, `SELECT t.person, t.created FROM turns t CROSS JOIN conversations c
			WHERE t.id >= ? AND c.id = t.conversation AND c.surface = '`+web+`' ORDER BY t.id`, first)
	})
	return list, wrap("read who has spoken", err)
}
