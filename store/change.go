package store

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Change is one line of the numbered log that pages follow.
type Change struct {
	Seq  int64
	Kind string // "chat" | "message" | "turn" | "attempt" | "gate" | "alert" | "provider" | "schedule" | "removed"
	ID   string // the object's id (a chat's is the text of its row's, which Chat takes as well); for attempt "TURN/N", for removed "KIND/ID" as it was called outside
	At   Time
}

// kind is a Change's Kind as the table keeps it: a number, since there are many of these rows.
type kind int

const (
	kindChat kind = iota + 1
	kindMessage
	kindTurn
	kindAttempt
	kindGate
	kindAlert
	kindProvider
	kindSchedule
	kindRemoved
)

func (k kind) String() string {
	names := [...]string{"", "chat", "message", "turn", "attempt", "gate", "alert", "provider", "schedule", "removed"}
	if k < 0 || int(k) >= len(names) {
		return strconv.Itoa(int(k))
	}
	return names[k]
}

// object is what a change tells of: a row by its id, n being an attempt's number, or anything else by name.
type object struct {
	kind kind
	id   ID
	n    int
	name string
}

func (o object) text() string {
	switch {
	case o.name != "":
		return o.name
	case o.n != 0:
		return fmt.Sprintf("%s/%d", o.id, o.n)
	}
	return o.id.String()
}

// recent is how far back changed looks for the same object: facts that touch more objects (a start, a
// clock step) touch each once.
const recent = 16

// changed puts an object into the log, once per fact.
func (f *fact) changed(o object) error {
	if slices.Contains(f.told[max(0, len(f.told)-recent):], o) {
		return nil
	}
	f.told = append(f.told, o)
	f.writer.head++
	var id, name, n any
	if o.id != 0 {
		id = o.id
	}
	if o.name != "" {
		name = o.name
	}
	if o.n != 0 {
		n = o.n
	}
	_, err := f.exec(`INSERT INTO changes (seq, kind, id, name, n, at) VALUES (?, ?, ?, ?, ?, ?)`, f.writer.head, int(o.kind), id, name, n, f.at)
	return err
}

// news is the log's head in memory, for those who wait for it to move.
type news struct {
	head atomic.Int64
	mu   sync.Mutex
	next chan struct{}
}

func newNews(head int64) *news {
	n := &news{next: make(chan struct{})}
	n.head.Store(head)
	return n
}

// tell moves the head and wakes who waits.
func (n *news) tell(head int64) {
	n.head.Store(head)
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.next)
	n.next = make(chan struct{})
}

// Head is the newest change's number, from memory. A reader beside a daemon knows the one at its opening.
func (n *news) Head() int64 { return n.head.Load() }

// Changed returns a channel that is closed at the next commit that makes a change. Who takes it
// before reading Head misses nothing.
func (n *news) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next
}

// Head is the newest change's number, from memory. A reader beside a daemon knows the one at its opening.
func (s *Store) Head() int64 { return s.news.Head() }

// Changed returns a channel that is closed at the next commit that makes a change. Who takes it
// before reading Head misses nothing.
func (s *Store) Changed() <-chan struct{} { return s.news.Changed() }

// Epoch is the random id of this file's log; a page that knows another one starts anew.
func (s *Store) Epoch() string { return s.epoch }

// Oldest is the oldest change kept; a page that is behind it needs a snapshot. 1 while there is none.
func (s *Store) Oldest() (oldest int64, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT coalesce(min(seq), 1) FROM changes`).Scan(&oldest)
	})
	return oldest, wrap("read the oldest change", err)
}

// latestOf is how many of the newest changes Latest looks at: a step of the clock that the last process
// did not live to see has at most that many behind it.
const latestOf = 1000

// Latest is the latest moment that the newest changes were made at; 0 while there are none.
func (s *Store) Latest() (at Time, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT coalesce(max(at), 0) FROM (SELECT at FROM changes ORDER BY seq DESC LIMIT ?)`, latestOf).Scan(&at)
	})
	return at, wrap("read when the last change was made", err)
}

// Changes reads the changes after seq in order, at most limit.
func (s *Store) Changes(after int64, limit int) (list []Change, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var o object
			var ch Change
			var k int
			err := r.Scan(&ch.Seq, &k, &o.id, &o.name, &o.n, &ch.At)
			ch.Kind, ch.ID = kind(k).String(), o.text()
			list = append(list, ch)
			return err
		}, `SELECT seq, kind, id, name, n, at FROM changes WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit)
	})
	return list, wrap("read changes", err)
}

// PruneChanges deletes the oldest changes as far as they were made before a moment, at most limit.
// The newest always stays: it keeps the count.
func (s *Store) PruneChanges(before Time, limit int) (n int, err error) {
	var oldest Time
	err = s.read(func(c *conn) error { return c.one(`SELECT at FROM changes ORDER BY seq LIMIT 1`).Scan(&oldest) })
	if errors.Is(err, ErrNotFound) || err == nil && oldest >= before {
		return 0, nil
	} else if err != nil {
		return 0, wrap("prune changes", err)
	}
	err = s.write(before, func(f *fact) error {
		var cut int64
		err := f.each(func(r row) error {
			var seq int64
			var at Time
			if err := r.Scan(&seq, &at); err != nil {
				return err
			}
			if at >= before || seq == f.writer.head {
				return errEnough
			}
			cut = seq
			return nil
		}, `SELECT seq, at FROM changes ORDER BY seq LIMIT ?`, limit)
		if err != nil || cut == 0 {
			return err
		}
		n, err = f.exec(`DELETE FROM changes WHERE seq <= ?`, cut)
		return err
	})
	return n, wrap("prune changes", err)
}
