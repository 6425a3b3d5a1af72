package web

import (
	"bytes"
	"context"
	"sync"
	"time"

	"holdfast/store"
	"holdfast/web/markdown"
)

const (
	frameEvery = 100 * time.Millisecond // between two renders of one text, while its open block is short
	frameGrows = 16 << 10               // bytes of open block that add as much again
	forgetText = time.Hour              // a text that has not grown for so long has been left behind
)

// Live is what open pages see at this moment: the pages, and the texts that stream. The engine's
// surface hands texts in; it is never made to wait.
//
// A text is rendered only while a page looks at its chat, at most ten times a second, and by one
// goroutine; each page keeps only the latest render of a turn until it is sent.
type Live struct {
	md *markdown.Renderer

	mu      sync.Mutex
	closed  bool
	sockets map[*conn]struct{} // all that are open
	conns   map[*conn]struct{} // those that have said hello
	texts   map[store.ID]*growing
	open    sync.WaitGroup // counts sockets

	grown  chan struct{} // capacity 1: there may be something to render
	joined chan struct{} // capacity 1: there is a page to read for
	left   chan struct{} // capacity 1: there may be none any more
}

// growing is a text that streams.
type growing struct {
	chat   string
	text   string
	at     time.Time // of the last change
	dirty  bool      // text has changed since blocks were made
	next   time.Time // not rendered before
	stream *markdown.Stream
	blocks []string // never changed in place
}

// NewLive makes one without pages or texts.
func NewLive() *Live {
	return &Live{
		md: markdown.New(), sockets: map[*conn]struct{}{}, conns: map[*conn]struct{}{}, texts: map[store.ID]*growing{},
		grown: make(chan struct{}, 1), joined: make(chan struct{}, 1), left: make(chan struct{}, 1),
	}
}

// poke tells whoever waits on c, now or later, once.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Draft is the text so far of a turn that streams. A text that does not continue the last one
// replaces it.
func (l *Live) Draft(chat string, turn store.ID, text string) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.texts[turn]
	if g == nil {
		l.forget(now)
		g = &growing{stream: l.md.Stream()}
		l.texts[turn] = g
	}
	g.chat, g.text, g.at, g.dirty = chat, text, now, true
	poke(l.grown)
}

// Working is told when a request of a turn begins and when the turn's work ends. Either way a text
// begun before is over: what follows is told by a new text, or by the turn and its message.
func (l *Live) Working(_ string, turn store.ID, _ bool) { l.drop(turn) }

func (l *Live) drop(turn store.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.texts, turn)
	for c := range l.conns {
		c.dropRender(turn)
	}
}

// forget lets go of texts that nobody has ended.
func (l *Live) forget(now time.Time) {
	for turn, g := range l.texts {
		if now.Sub(g.at) > forgetText {
			delete(l.texts, turn)
		}
	}
}

// run renders what has grown until ctx ends.
func (l *Live) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		turn, g, wait := l.due(time.Now())
		if g != nil {
			l.render(turn, g)
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-l.grown:
		case <-timer.C:
		}
	}
}

// due finds a text to render now, or how long there is none.
func (l *Live) due(now time.Time) (turn store.ID, g *growing, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait = time.Hour
	for id, t := range l.texts {
		if !t.dirty || !l.watched(t.chat) {
			continue
		}
		if left := t.next.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		if g == nil || t.next.Before(g.next) {
			turn, g = id, t
		}
	}
	return turn, g, wait
}

// watched says whether a page looks at a chat.
func (l *Live) watched(chat string) bool {
	for c := range l.conns {
		if c.chat == chat {
			return true
		}
	}
	return false
}

// guests says whether a visitor's page is open.
func (l *Live) guests() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.caller.visits() {
			return true
		}
	}
	return false
}

// render makes one frame of a text. Only run calls it, so the stream is used by one goroutine.
func (l *Live) render(turn store.ID, g *growing) {
	l.mu.Lock()
	text := g.text
	g.dirty = false
	l.mu.Unlock()

	blocks, from := g.stream.Next(text)

	l.mu.Lock()
	defer l.mu.Unlock()
	open := time.Duration(g.stream.Open(text))
	g.next = time.Now().Add(frameEvery + frameEvery*open/frameGrows)
	g.blocks = blocks
	if l.texts[turn] != g {
		return // ended meanwhile
	}
	for c := range l.conns {
		if c.chat == g.chat {
			c.putRender(turn, from, blocks)
		}
	}
}

// attach gives a page all texts of its chat from their first block on.
func (l *Live) attach(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for turn, g := range l.texts {
		if g.chat == c.chat && len(g.blocks) > 0 {
			c.putRender(turn, 0, g.blocks)
		}
	}
	poke(l.grown)
}

// enter takes in a new socket; false once the server stops.
func (l *Live) enter(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.sockets[c] = struct{}{}
	l.open.Add(1)
	return true
}

// leave lets it go.
func (l *Live) leave(c *conn) {
	l.mu.Lock()
	delete(l.sockets, c)
	delete(l.conns, c)
	l.mu.Unlock()
	poke(l.left)
	l.open.Done()
}

// endSession closes the sockets of a login that has ended.
func (l *Live) endSession(session []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.sockets {
		if bytes.Equal(c.caller.session, session) {
			c.end(closeLogin)
		}
	}
}

// close says bye to all sockets and waits until they have ended; one that does not take it in time is
// cut.
func (l *Live) close() {
	l.mu.Lock()
	l.closed = true
	for c := range l.sockets {
		c.end(closeRestart)
	}
	l.mu.Unlock()
	cut := time.AfterFunc(2*time.Second, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for c := range l.sockets {
			c.socket.NetConn().Close()
		}
	})
	defer cut.Stop()
	l.open.Wait()
}
