package web

import "holdfast/store"

// What follows is called by others than the page's own goroutines, and never waits.

// setChat turns the page to a chat. Renders of another one are not wanted any more. live.mu is held.
func (c *conn) setChat(chat string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.chat != chat {
		c.chat, c.renders = chat, map[store.ID]render{}
	}
}

// putEvents adds what concerns the page; one that takes too little away is to be closed. live.mu is
// held.
func (c *conn) putEvents(events []event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.queue)
	for _, e := range events {
		if frame := c.wants(e); frame != nil {
			c.queue = append(c.queue, event{seq: e.seq, frame: frame})
		}
	}
	if len(c.queue) > queueLength {
		c.queue, c.code = nil, closeSlow
	} else if len(c.queue) == before {
		return
	}
	poke(c.wake)
}

// wants is the frame of an event that this page is to get, nil if none. A visitor gets only what is
// in chats of his own. c.mu is held.
func (c *conn) wants(e event) []byte {
	switch {
	case e.chat != "" && e.chat != c.chat:
		return nil
	case !c.caller.visits():
		return e.frame
	case e.gone != "" && c.own[e.gone]:
		return e.frame
	case e.owner != c.caller.person:
		return nil
	}
	if e.begun != "" {
		c.own[e.begun] = true
	}
	return e.guest
}

// learn notes a visitor's own chats.
func (c *conn) learn(chats []store.Chat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, chat := range chats {
		c.own[chat.Key] = true
	}
}

// putRender replaces what is to be told of a turn's text. live.mu is held.
func (c *conn) putRender(turn store.ID, from int, blocks []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caller.visits() && !c.own[c.chat] {
		return
	}
	if waiting, ok := c.renders[turn]; ok {
		from = min(from, waiting.from)
	}
	c.renders[turn] = render{min(from, len(blocks)), blocks}
	poke(c.wake)
}

// dropRender takes it back. live.mu is held.
func (c *conn) dropRender(turn store.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.renders, turn)
}

// putLog adds lines of the daemon's log; a page that is too slow misses the oldest.
func (c *conn) putLog(lines ...logLine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, lines...)
	if over := len(c.lines) - logKept; over > 0 {
		c.lines = c.lines[over:]
	}
	poke(c.wake)
}

// end has the page closed with a code.
func (c *conn) end(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.code == 0 {
		c.code = code
	}
	poke(c.wake)
}

// closing is the code that the page is to be closed with; 0 = none.
func (c *conn) closing() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.code
}
