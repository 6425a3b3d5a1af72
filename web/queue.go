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
		if e.chat == "" || e.chat == c.chat {
			c.queue = append(c.queue, e)
		}
	}
	if len(c.queue) > queueLength {
		c.queue, c.code = nil, closeSlow
	} else if len(c.queue) == before {
		return
	}
	poke(c.wake)
}

// putRender replaces what is to be told of a turn's text. live.mu is held.
func (c *conn) putRender(turn store.ID, from int, blocks []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
