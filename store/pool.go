package store

import "errors"

// readers is how many connections read at once; a read beyond that waits for one of them.
const readers = 3

// pool is the connections that only read. They are opened when they are first needed.
type pool struct {
	path  string
	slots chan *conn // a nil one is not open yet
	done  chan struct{}
}

func newPool(path string) *pool {
	p := &pool{path: path, slots: make(chan *conn, readers), done: make(chan struct{})}
	for range readers {
		p.slots <- nil
	}
	return p
}

// with runs fn on a connection of its own. With keep false the connection is closed afterwards.
func (p *pool) with(fn func(*conn) (keep bool, err error)) (err error) {
	var c *conn
	select {
	case c = <-p.slots:
	case <-p.done:
		return ErrReadOnly
	}
	keep := false
	defer func() {
		if c != nil && !keep {
			err = errors.Join(err, c.close())
			c = nil
		}
		p.slots <- c
	}()
	if c == nil {
		if c, err = open(p.path, "ro", readerPragmas()); err != nil {
			return err
		}
	}
	keep, err = fn(c)
	return err
}

// close waits for the reads under way and closes all; later reads are refused.
func (p *pool) close() error {
	close(p.done)
	var errs []error
	for range readers {
		if c := <-p.slots; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(errs...)
}

// read runs a single query on a reading connection.
func (s *Store) read(fn func(*conn) error) error {
	return s.pool.with(func(c *conn) (bool, error) { return true, fn(c) })
}

// view runs several queries that see the file at one moment.
func (s *Store) view(fn func(*conn) error) error {
	return s.pool.with(func(c *conn) (keep bool, err error) {
		if _, err := c.exec("BEGIN"); err != nil {
			return false, err
		}
		if err := fn(c); err != nil {
			_, rollback := c.exec("ROLLBACK")
			return rollback == nil, err
		}
		_, err = c.exec("COMMIT")
		return err == nil, err
	})
}
