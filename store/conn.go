package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"modernc.org/sqlite"
)

// conn is one connection to the file, straight on the driver: a fact is a handful of statements of a
// few microseconds each, and database/sql would add a good part of that to every one. Statements are
// prepared once and kept. One goroutine at a time.
type conn struct {
	raw        driver.Conn
	statements map[string]*statement
	mode       string        // see open
	kept       *Kept         // who has it afterwards; nil = nobody
	ran        *atomic.Int64 // counts statements; nil = nobody asks
}

// statement is a prepared statement with its reused buffers.
type statement struct {
	raw  prepared
	args []driver.NamedValue
	vals row
	busy bool
}

type prepared interface {
	driver.StmtExecContext
	driver.StmtQueryContext
	Close() error
}

// dial opens a connection.
func dial(dsn string) (*conn, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	raw, err := c.Connect(context.Background())
	if err != nil {
		return nil, explain(err)
	}
	return &conn{raw: raw, statements: map[string]*statement{}}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.raw.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// leave ends the use of a connection that is in no transaction.
func (c *conn) leave() error {
	if c.kept != nil {
		return c.kept.put(c)
	}
	return c.close()
}

// script runs several statements without arguments.
func (c *conn) script(sql string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return explain(err)
}

// exec runs a statement and tells how many rows it has changed.
func (c *conn) exec(sql string, args ...any) (int, error) {
	s, err := c.prepare(sql, args)
	if err != nil {
		return 0, err
	}
	r, err := s.raw.ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, explain(err)
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// one runs a query for a single row; its Scan is ErrNotFound if there is none.
func (c *conn) one(sql string, args ...any) single {
	out := single{err: ErrNotFound}
	err := c.each(func(r row) error {
		out = single{row: r}
		return io.EOF
	}, sql, args...)
	if err != nil {
		out.err = err
	}
	return out
}

// each runs a query and hands every row to fn, which must not keep it. io.EOF from fn ends it early.
func (c *conn) each(fn func(row) error, sql string, args ...any) error {
	return c.eachContext(context.Background(), fn, sql, args...)
}

// eachContext ends with ctx. A connection whose statement was interrupted is not to be used again.
func (c *conn) eachContext(ctx context.Context, fn func(row) error, sql string, args ...any) (err error) {
	s, err := c.prepare(sql, args)
	if err != nil {
		return err
	}
	rows, err := s.raw.QueryContext(ctx, s.args)
	if err != nil {
		return explain(err)
	}
	s.busy = true
	defer func() {
		s.busy = false
		if e := rows.Close(); err == nil {
			err = explain(e)
		}
	}()
	if n := len(rows.Columns()); len(s.vals) != n {
		s.vals = make(row, n)
	}
	for {
		err := rows.Next(s.vals)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return explain(err)
		}
		if err := fn(s.vals); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// prepare finds or makes the statement and fills in its arguments.
func (c *conn) prepare(sql string, args []any) (*statement, error) {
	s := c.statements[sql]
	if s == nil {
		raw, err := c.raw.(driver.ConnPrepareContext).PrepareContext(context.Background(), sql)
		if err != nil {
			return nil, explain(err)
		}
		s = &statement{raw: raw.(prepared), args: make([]driver.NamedValue, len(args))}
		c.statements[sql] = s
	}
	if c.ran != nil {
		c.ran.Add(1)
	}
	if s.busy || len(s.args) != len(args) {
		return nil, fmt.Errorf("statement in use, or with another number of arguments: %s", sql)
	}
	for i, a := range args {
		s.args[i] = driver.NamedValue{Ordinal: i + 1, Value: value(a)}
	}
	return s, nil
}

// value turns an argument into one of the driver's types.
func value(a any) driver.Value {
	switch v := a.(type) {
	case ID:
		return int64(v)
	case Time:
		return int64(v)
	case int:
		return int64(v)
	case State:
		return string(v)
	case Outcome:
		return string(v)
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case []byte:
		if v == nil {
			return nil
		}
	}
	return a
}

// row is a row's values as the driver gives them.
type row []driver.Value

// Scan copies the columns into dest; NULL becomes the zero value.
func (r row) Scan(dest ...any) error {
	if len(dest) != len(r) {
		return fmt.Errorf("scan %d columns into %d places", len(r), len(dest))
	}
	for i, v := range r {
		if err := assign(dest[i], v); err != nil {
			return fmt.Errorf("scan column %d: %w", i, err)
		}
	}
	return nil
}

func assign(dest any, v driver.Value) error {
	n, isInt := v.(int64)
	s, isText := v.(string)
	fits := v == nil
	switch d := dest.(type) {
	case *string:
		*d, fits = s, fits || isText
	case *State:
		*d, fits = State(s), fits || isText
	case *Outcome:
		*d, fits = Outcome(s), fits || isText
	case *int:
		*d, fits = int(n), fits || isInt
	case *int64:
		*d, fits = n, fits || isInt
	case *ID:
		*d, fits = ID(n), fits || isInt
	case *Time:
		*d, fits = Time(n), fits || isInt
	case *bool:
		*d, fits = n != 0, fits || isInt
	case *[]byte:
		b, isBlob := v.([]byte)
		*d, fits = b, fits || isBlob
	case *any:
		*d, fits = v, true
	default:
		return fmt.Errorf("cannot fill a %T", dest)
	}
	if !fits {
		return fmt.Errorf("cannot fill a %T with a %T", dest, v)
	}
	return nil
}

// single is the outcome of a query for one row.
type single struct {
	row row
	err error
}

// Scan copies the row's columns into dest.
func (s single) Scan(dest ...any) error {
	if s.err != nil {
		return s.err
	}
	return s.row.Scan(dest...)
}
