package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync/atomic"

	sqlite3 "modernc.org/sqlite/lib"
)

// conn is one connection to the file. Statements are prepared once and kept. One goroutine at a time.
type conn struct {
	*handle
	statements map[string]*statement
	mode       string        // see connect
	kept       *Kept         // who has it afterwards; nil = nobody
	ran        *atomic.Int64 // counts statements; nil = nobody asks
}

// dial opens a connection.
func dial(path, mode, vfs string) (*conn, error) {
	h, err := connect(path, mode, vfs)
	if err != nil {
		return nil, err
	}
	return &conn{handle: h, statements: map[string]*statement{}, mode: mode}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.end())
	}
	return errors.Join(append(errs, c.handle.close())...)
}

// leave ends the use of a connection that is in no transaction.
func (c *conn) leave() error {
	if c.kept != nil {
		return c.kept.put(c)
	}
	return c.close()
}

// exec runs a statement and tells how many rows it has changed.
func (c *conn) exec(sql string, args ...any) (int, error) {
	s, err := c.prepare(sql, args)
	if err != nil {
		return 0, err
	}
	if err := s.run(); err != nil {
		return 0, err
	}
	return c.changes(), nil
}

// one runs a query for a single row, to be scanned before anything else is done; its Scan is ErrNotFound
// if there is none.
func (c *conn) one(sql string, args ...any) row {
	s, err := c.prepare(sql, args)
	if err != nil {
		return row{err: err}
	}
	found, err := s.step()
	switch {
	case err != nil:
		s.reset()
		return row{err: err}
	case !found:
		s.reset()
		return row{err: ErrNotFound}
	}
	s.busy = true
	return row{s: s, only: true}
}

// each runs a query and hands every row to fn, which must not keep it. io.EOF from fn ends it early.
func (c *conn) each(fn func(row) error, sql string, args ...any) error {
	s, err := c.prepare(sql, args)
	if err != nil {
		return err
	}
	s.busy = true
	defer s.reset()
	for {
		more, err := s.step()
		if err != nil || !more {
			return err
		}
		if err := fn(row{s: s}); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// eachContext is each that ends with ctx. A connection whose statement was interrupted is not to be used again.
func (c *conn) eachContext(ctx context.Context, fn func(row) error, sql string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	end := c.interruptAt(ctx)
	defer end()
	if err := c.each(fn, sql); err != nil && ctx.Err() != nil {
		return ctx.Err()
	} else {
		return err
	}
}

// prepare finds or makes the statement and binds its arguments.
func (c *conn) prepare(sql string, args []any) (*statement, error) {
	s := c.statements[sql]
	if s == nil {
		made, err := c.statement(sql)
		if err != nil {
			return nil, err
		}
		s = made
		c.statements[sql] = s
	}
	if c.ran != nil {
		c.ran.Add(1)
	}
	if s.busy {
		return nil, fmt.Errorf("statement in use: %s", sql)
	}
	return s, s.bind(args)
}

// row is the row that a query stands at, or why there is none.
type row struct {
	s    *statement
	err  error
	only bool // nothing else of the query is wanted
}

// Scan copies the columns into dest; NULL becomes the zero value.
func (r row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	if r.only {
		defer r.s.reset()
	}
	if n := int(sqlite3.Xsqlite3_data_count(r.s.tls, r.s.raw)); n != len(dest) {
		return fmt.Errorf("scan %d columns into %d places", n, len(dest))
	}
	for i, d := range dest {
		if !r.s.fill(d, int32(i)) {
			return fmt.Errorf("scan column %d: it does not fit into a %s", i, reflect.TypeOf(d))
		}
	}
	return nil
}

// fill copies a column of the current row into what dest points at; false if it does not fit.
func (s *statement) fill(dest any, column int32) bool {
	kind := sqlite3.Xsqlite3_column_type(s.tls, s.raw, column)
	null := kind == sqlite3.SQLITE_NULL
	switch d := dest.(type) {
	case *string:
		if *d = ""; kind == sqlite3.SQLITE_TEXT {
			*d = string(s.text(column))
		}
		return null || kind == sqlite3.SQLITE_TEXT
	case *State:
		*d = State(s.text(column))
		return null || kind == sqlite3.SQLITE_TEXT
	case *Outcome:
		*d = Outcome(s.text(column))
		return null || kind == sqlite3.SQLITE_TEXT
	case *int:
		*d = int(s.number(column))
	case *int64:
		*d = s.number(column)
	case *ID:
		*d = ID(s.number(column))
	case *Time:
		*d = Time(s.number(column))
	case *bool:
		*d = s.number(column) != 0
	case *[]byte:
		*d = append([]byte(nil), s.blob(column)...)
		return null || kind == sqlite3.SQLITE_BLOB
	case *any:
		*d = s.value(column)
		return true
	default:
		return false
	}
	return null || kind == sqlite3.SQLITE_INTEGER
}
