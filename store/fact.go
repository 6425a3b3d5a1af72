package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// fact is what one method writes, as it sees it inside the writer's transaction: all of it is stored
// or nothing. It may run twice (see writer), so it begins with what it was given and sets what it finds out
// anew: it adds to nothing outside and changes nothing that it reads. Nothing of that is true before the
// write returns.
type fact struct {
	*conn
	writer *writer
	at     Time     // the moment of its changes
	told   []object // its changes so far
}

// errEnough ends an each early.
var errEnough = io.EOF

// errNothing says that a conditional update met another row than expected, which one writer cannot see.
var errNothing = errors.New("the row has changed meanwhile")

// newID makes an id for the moment of the fact.
func (f *fact) newID() ID { return f.writer.ids.next(f.at) }

// must runs a statement that has to change exactly one row.
func (f *fact) must(sql string, args ...any) error {
	n, err := f.exec(sql, args...)
	if err == nil && n != 1 {
		return fmt.Errorf("%w (%d rows)", errNothing, n)
	}
	return err
}

// known looks a command up: ErrDuplicate, with what was stored in c, or ErrCommandReused if it was carried out before.
func (r *conn) known(c *Command) error {
	if c == nil {
		return nil
	}
	var hash []byte
	was := *c
	err := r.one(`SELECT hash, turn, chat, seq FROM commands WHERE id = ?`, c.ID).Scan(&hash, &was.Turn, &was.Chat, &was.Seq)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case !bytes.Equal(hash, c.Hash):
		return ErrCommandReused
	}
	was.Duplicate = true
	*c = was
	return ErrDuplicate
}

// keep stores a carried out command with its result: the turn, the chat's outside id, and the newest
// change of this fact (or of all, if it made none).
func (f *fact) keep(c *Command, turn ID, chat string) error {
	if c == nil {
		return nil
	}
	c.Turn, c.Chat, c.Seq, c.Duplicate = turn, chat, f.writer.head, false
	return f.must(`INSERT INTO commands (n, id, hash, at, turn, chat, seq) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		f.newID(), c.ID, append([]byte{}, c.Hash...), c.At, turn, chat, c.Seq)
}

// write runs a fact; a reader refuses it.
func (s *Store) write(at Time, fn func(*fact) error) error {
	if s.writer == nil {
		return ErrReadOnly
	}
	return s.writer.do(at, fn)
}

// wrap says what was tried; nil stays nil.
func wrap(tried string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", tried, err)
}
