package web

import (
	"time"

	"holdfast/store"
	"holdfast/web/command"
)

// replayLongest is how many changes a page may be behind until it gets a snapshot instead.
const replayLongest = 1000

// hello is what a page says: at first, when it turns to another chat, and when it has missed
// something. With T "log" it asks for the daemon's log from Level on instead, or for no more of it.
type hello struct {
	T     string `json:"t"`
	Level string `json:"level"`
	Epoch string `json:"epoch"`
	After int64  `json:"after"`
	Chat  string `json:"chat"`
	Build string `json:"build"` // of the page; "" = it is none of ours
}

// hello answers with what the page has missed, or with all there is, and goes live from there.
// Registered with the hub first, it reads the store up to a number and gets later changes from its
// queue, so that between the two nothing is missed.
func (c *conn) hello(h hello) error {
	s := c.server
	if h.Build != "" && h.Build != s.assets.build {
		c.closeWith(closeBuild)
		return errClosed
	}
	before, first := c.chat, !c.said
	c.said = true
	if err := c.introduce(h.Chat); err != nil {
		return c.broken(err)
	}
	upTo := s.hub.follow(c, h.Chat)
	epoch := s.store.Epoch()
	if err := c.send(welcomeFrame{"welcome", epoch, upTo, store.At(time.Now()), s.page(c.caller)}); err != nil {
		return err
	}
	missed, ok, err := c.missed(h, epoch, upTo, first || before == h.Chat)
	if err != nil {
		return c.broken(err)
	}
	if ok {
		for _, frame := range missed {
			if err := c.sendFrame(frame); err != nil {
				return err
			}
		}
	} else {
		all, err := s.hub.snapshot(upTo, h.Chat, c.caller)
		if err != nil {
			return c.broken(err)
		}
		if err := c.send(all); err != nil {
			return err
		}
	}
	c.sent = upTo
	if err := c.send(map[string]string{"t": "live"}); err != nil {
		return err
	}
	s.live.attach(c)
	return c.flush()
}

// broken closes a page for which the store could not be read; it comes back later.
func (c *conn) broken(err error) error {
	c.server.log.Error("reading for an open page failed", "err", err)
	c.closeWith(closeSlow)
	return err
}

// missed reads what a page has not seen; ok is false if it needs a snapshot: it knows another store,
// follows another chat than before, or has been away for too long.
func (c *conn) missed(h hello, epoch string, upTo int64, sameChat bool) (frames [][]byte, ok bool, err error) {
	s := c.server
	if h.Epoch != epoch || h.After <= 0 || h.After > upTo || !sameChat {
		return nil, false, nil
	}
	if h.After == upTo {
		return nil, true, nil
	}
	oldest, err := s.store.Oldest()
	if err != nil || oldest == 0 || h.After < oldest-1 {
		return nil, false, err
	}
	changes, err := s.hub.upTo(upTo, h.After, replayLongest+1)
	if err != nil || len(changes) > replayLongest {
		return nil, false, err
	}
	for _, change := range latest(changes) {
		e, ok, err := s.hub.event(change, func(chat string) bool { return chat == h.Chat }, c.caller.visits())
		if err != nil {
			return nil, false, err
		}
		if !ok {
			continue
		}
		c.mu.Lock()
		frame := c.wants(e)
		c.mu.Unlock()
		if frame != nil {
			frames = append(frames, frame)
		}
	}
	return frames, true, nil
}

// introduce finds out which chats are a visitor's own.
func (c *conn) introduce(chat string) error {
	if !c.caller.visits() {
		return nil
	}
	chats, err := c.server.hub.chats(c.caller, 0, chatsShown)
	if err != nil {
		return err
	}
	if looked, err := c.server.store.Chat(chat); err == nil && c.caller.owns(looked) {
		chats = append(chats, looked)
	}
	c.learn(chats)
	return nil
}

// mayAsk reports a message that is understood, and that this caller may send.
func (c *conn) mayAsk(h hello) bool {
	switch h.T {
	case "hello":
		return h.Chat == "" || command.ValidID(h.Chat)
	case "log":
		_, ok := readLevel(h.Level)
		return !c.caller.visits() && (ok || h.Level == "")
	}
	return false
}

// followLog begins, changes or ends the log on a page.
func (c *conn) followLog(level string) {
	if l, ok := readLevel(level); ok {
		c.server.tail.follow(c, l)
	} else {
		c.server.tail.leave(c)
	}
}

// welcomeFrame is the first answer to a hello.
type welcomeFrame struct {
	T     string     `json:"t"`
	Epoch string     `json:"epoch"`
	Head  int64      `json:"head"`
	Now   store.Time `json:"now"`
	Page  page       `json:"page"`
}

// page is what does not change while the daemon runs.
type page struct {
	Version   string   `json:"version"`
	Bots      []Bot    `json:"bots"`
	Demo      bool     `json:"demo"`
	PublicURL string   `json:"public_url"`
	Has       []string `json:"has,omitempty"`    // of what operators are shown: the lists of the API by their path
	Visitor   bool     `json:"visitor,omitzero"` // may chat and nothing else
	Codes     bool     `json:"codes,omitzero"`   // a visitor can give a code
}
