package store

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Filter chooses turns; zero fields choose all.
type Filter struct {
	States    []State
	Bot       string
	Model     string // PROVIDER/MODEL
	OlderThan Time   // created before it
	Before    ID     // page on: ids below it
	Limit     int    // 1 to 1000; 0 = 100
}

// Turns reads the newest turns first. next is the Before of the following page, 0 at the end.
func (s *Store) Turns(f Filter) (turns []Turn, next ID, err error) {
	limit := min(max(f.Limit, 1), 1000)
	if f.Limit == 0 {
		limit = 100
	}
	from, args := f.ids(limit + 1)
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var t Turn
			err := t.scan(r)
			turns = append(turns, t)
			return err
		}, `SELECT `+turnColumns+` FROM (`+from+`) f JOIN turns t ON t.id = f.id JOIN conversations c ON c.id = t.conversation
			ORDER BY t.id DESC LIMIT ?`, append(args, limit+1)...)
	})
	if err != nil {
		return nil, 0, wrap("read turns", err)
	}
	if len(turns) > limit {
		turns = turns[:limit]
		next = turns[limit-1].ID
	}
	return turns, next, nil
}

// ids is a query for the newest limit ids that the filter chooses. Each state is a search of its own
// in the index of states, which stops at the limit; one IN over several would read and sort them all.
func (f Filter) ids(limit int) (sql string, args []any) {
	where, common := "id < ?", []any{f.Before}
	if f.Before == 0 {
		common[0] = int64(1<<63 - 1)
	}
	if f.Bot != "" {
		where, common = where+" AND EXISTS (SELECT 1 FROM conversations b WHERE b.id = conversation AND b.bot = ?)", append(common, f.Bot)
	}
	if f.Model != "" {
		where, common = where+" AND model = ?", append(common, f.Model)
	}
	if f.OlderThan != 0 {
		where, common = where+" AND created < ?", append(common, f.OlderThan)
	}
	states := slices.Compact(slices.Sorted(slices.Values(f.States)))
	if len(states) == 0 {
		return "SELECT id FROM turns WHERE " + where + " ORDER BY id DESC LIMIT ?", append(common, limit)
	}
	var parts []string
	for _, state := range states {
		parts = append(parts, "SELECT id FROM (SELECT id FROM turns WHERE state = ? AND "+where+" ORDER BY id DESC LIMIT ?)")
		args = append(append(append(args, state), common...), limit)
	}
	return strings.Join(parts, " UNION ALL "), args
}

var errCounted = errors.New("the snapshot has been read before")

// Counts counts turns by state, as the file held them when it was opened: read in the snapshot that
// Open took, so that what the engine counts from then on can be added to it. To be called once, and
// soon: until then the write-ahead log cannot be used anew and grows. A reader counts what is there now.
func (s *Store) Counts() (map[State]int64, error) {
	s.mu.Lock()
	snapshot := s.snapshot
	s.snapshot = nil
	if snapshot != nil {
		defer s.mu.Unlock() // Close waits
		counts, err := snapshot.counts()
		if _, e := snapshot.exec("COMMIT"); e != nil {
			return counts, wrap("count turns", errors.Join(err, e, snapshot.close()))
		}
		s.pool.add(snapshot)
		return counts, wrap("count turns", err)
	}
	s.mu.Unlock()
	if s.writer != nil {
		return nil, wrap("count turns", errCounted)
	}
	var counts map[State]int64
	err := s.view(func(c *conn) (err error) {
		counts, err = c.counts()
		return err
	})
	return counts, wrap("count turns", err)
}

// counts counts turns by state; those that none is in are left out. How many turns there are SQLite
// knows from the pages of an index, without a look at each: so the state that most are in is what the
// others leave, and a million turns are counted in a tenth of the time.
func (c *conn) counts() (map[State]int64, error) {
	var rest int64
	if err := c.one(`SELECT count(*) FROM turns`).Scan(&rest); err != nil {
		return nil, err
	}
	few := rest/16 + 1
	counts, many, err := c.countFew(few)
	if err != nil {
		return nil, err
	}
	for _, n := range counts {
		rest -= n
	}
	for i, state := range many {
		counts[state] = rest
		if i < len(many)-1 { // those before the last are counted
			n, err := c.countUpTo(state, rest)
			if err != nil {
				return nil, err
			}
			counts[state], rest = n, rest-n
		}
	}
	maps.DeleteFunc(counts, func(_ State, n int64) bool { return n == 0 })
	return counts, nil
}

// countFew counts the turns in each state, as far as they are fewer than limit; many are the other states.
func (c *conn) countFew(limit int64) (counts map[State]int64, many []State, err error) {
	const each = `(SELECT count(*) FROM (SELECT 1 FROM turns WHERE state = ? LIMIT ?))`
	states := []State{Queued, Running, Retrying, Rearming, Owed, Parked, Done}
	var args, into []any
	n := make([]int64, len(states))
	for i, state := range states {
		args, into = append(args, state, limit), append(into, &n[i])
	}
	if err := c.one(`SELECT `+strings.Repeat(each+`, `, len(states)-1)+each, args...).Scan(into...); err != nil {
		return nil, nil, err
	}
	counts = map[State]int64{}
	for i, state := range states {
		if n[i] < limit {
			counts[state] = n[i]
		} else {
			many = append(many, state)
		}
	}
	return counts, many, nil
}

// countUpTo counts the turns in a state, at most limit.
func (c *conn) countUpTo(state State, limit int64) (n int64, err error) {
	err = c.one(`SELECT count(*) FROM (SELECT 1 FROM turns WHERE state = ? LIMIT ?)`, state, limit).Scan(&n)
	return n, err
}

// LastFailed reads the newest turn of a conversation that a model was asked in vain; ErrNotFound.
func (s *Store) LastFailed(conversation ID) (t Turn, err error) {
	err = s.read(func(c *conn) error {
		return t.scan(c.one(`SELECT `+turnColumns+` FROM turns t JOIN conversations c ON c.id = t.conversation
			WHERE t.conversation = ? AND t.state = 'done' AND t.outcome IN ('failed', 'refused') AND t.requests > 0 ORDER BY t.id DESC LIMIT 1`, conversation))
	})
	return t, wrap("read last failed turn", err)
}

// OpenTurns reads a conversation's turns that are not done, oldest first.
func (s *Store) OpenTurns(conversation ID) (turns []Turn, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var t Turn
			err := t.scan(r)
			turns = append(turns, t)
			return err
		}, `SELECT `+turnColumns+` FROM turns t JOIN conversations c ON c.id = t.conversation
			WHERE t.conversation = ? AND t.ended = 0 ORDER BY t.id`, conversation)
	})
	return turns, wrap("read open turns", err)
}
