package surfacetest

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Pipes is a listener without sockets, since a goroutine that waits in a real one stops a bubble's
// clock.
type Pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewPipes makes one.
func NewPipes() *Pipes { return &Pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial connects to it, whatever the address.
func (p *Pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case p.conns <- newPipe(b):
		return newPipe(a), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, errors.New("connection refused")
	}
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections; it may be called twice.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr is no address.
func (p *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// pipe is one end of a net.Pipe that takes what is written without waiting for the reader, as a
// socket does.
type pipe struct {
	net.Conn
	wakeup chan struct{}

	mu     sync.Mutex
	queue  []byte
	closed bool
}

const flushWithin = time.Second

func newPipe(c net.Conn) *pipe {
	p := &pipe{Conn: c, wakeup: make(chan struct{}, 1)}
	go p.pump()
	return p
}

// Write queues b.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, net.ErrClosed
	}
	p.queue = append(p.queue, b...)
	p.nudge()
	return len(b), nil
}

// Close ends it once what was written is out.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.nudge()
		_ = p.Conn.SetDeadline(time.Now().Add(flushWithin)) // a reader that has gone away
		return p.SetReadDeadline(time.Unix(1, 0))
	}
	return nil
}

// SetWriteDeadline has no meaning for a write that never waits.
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is that of reading.
func (p *pipe) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

func (p *pipe) nudge() {
	select {
	case p.wakeup <- struct{}{}:
	default:
	}
}

func (p *pipe) pump() {
	defer p.Conn.Close()
	for range p.wakeup {
		p.mu.Lock()
		b, closed := p.queue, p.closed
		p.queue = nil
		p.mu.Unlock()
		var err error
		if len(b) > 0 {
			_, err = p.Conn.Write(b)
		}
		if err != nil || closed {
			p.mu.Lock()
			p.closed = true
			p.mu.Unlock()
			return
		}
	}
}
