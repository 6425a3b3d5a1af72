package store

import (
	"errors"
	"sync"
	"sync/atomic"
)

// readers is how many connections read at once; a read beyond that waits for one of them.
const readers = 3

// pool is the connections that only read. They are opened when they are first needed, and the one
// used last is used next: its statements are prepared and its pages are in memory.
type pool struct {
	dial func() (*conn, error)
	free chan struct{} // as many as may begin to read now
	done chan struct{}
	ran  atomic.Int64 // statements

	mu   sync.Mutex
	open []*conn // that nobody reads on
}

func newPool(dial func() (*conn, error)) *pool {
	p := &pool{dial: dial, free: make(chan struct{}, readers), done: make(chan struct{})}
	for range readers {
		p.free <- struct{}{}
	}
	return p
}

// with runs fn on a connection of its own. With keep false the connection is closed afterwards.
func (p *pool) with(fn func(*conn) (keep bool, err error)) (err error) {
	select {
	case <-p.free:
	case <-p.done:
		return ErrReadOnly
	}
	defer func() { p.free <- struct{}{} }()
	c := p.take()
	if c == nil {
		if c, err = p.dial(); err != nil {
			return err
		}
	}
	c.ran = &p.ran
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, c.close())
			return
		}
		p.add(c)
	}()
	keep, err = fn(c)
	return err
}

// add takes a connection that nobody reads on.
func (p *pool) add(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, c)
}

// take is the open connection that was used last, nil if there is none.
func (p *pool) take() (c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.open); n > 0 {
		c = p.open[n-1]
		p.open = p.open[:n-1]
	}
	return c
}

// close waits for the reads under way and closes all; later reads are refused.
func (p *pool) close() error {
	close(p.done)
	for range readers {
		<-p.free
	}
	var errs []error
	for c := p.take(); c != nil; c = p.take() {
		errs = append(errs, c.leave())
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
