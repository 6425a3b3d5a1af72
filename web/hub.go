package web

import (
	"context"
	"log/slog"
	"time"

	"holdfast/store"
)

const (
	hubBatch = 500                   // changes read at once
	hubPause = 25 * time.Millisecond // between two reads, so that a busy store is read in batches
	hubRetry = time.Second           // after a read that failed
)

// hub follows the store's numbered changes and hands each changed object to the pages that show it.
// It reads only while a page is open.
type hub struct {
	reader
	log *slog.Logger

	at int64 // changes up to it have been handed out; under live.mu
}

// event is a changed object on its way to pages.
type event struct {
	seq   int64
	chat  string // only for pages that look at this chat; "" = for all
	frame []byte
	owner string   // the visitor in whose chat it is; "" = none
	guest []byte   // the frame that he gets
	begun string   // a chat that there now is
	gone  string   // a chat that there is no more
	still store.ID // a turn that does not run any more: its text is over
}

// follow turns a page to a chat and says up to which change it must read for itself: every later one
// that concerns it comes to its queue.
func (h *hub) follow(c *conn, chat string) int64 {
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	if len(h.live.conns) == 0 {
		h.at = max(h.at, h.store.Head())
	}
	c.setChat(chat)
	h.live.conns[c] = struct{}{}
	poke(h.live.joined)
	return max(h.at, h.store.Head())
}

// run hands out changes until ctx ends.
func (h *hub) run(ctx context.Context) {
	for h.wait(ctx, h.live.joined, nil, 0) {
		for {
			if !h.watched() {
				break
			}
			changed := h.store.Changed() // taken before the read: a commit between the two is not missed
			more, err := h.pump()
			if err != nil {
				h.log.Error("reading changes for open pages failed", "err", err)
				if !h.wait(ctx, nil, nil, hubRetry) {
					return
				}
				continue
			}
			if !h.wait(ctx, nil, nil, hubPause) || !more && !h.wait(ctx, changed, h.live.left, 0) {
				return
			}
		}
	}
}

// wait waits for one of two signals, or for a time if it is not 0; false when ctx has ended.
func (h *hub) wait(ctx context.Context, a, b <-chan struct{}, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-a:
	case <-b:
	case <-over:
	}
	return true
}

func (h *hub) watched() bool {
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	return len(h.live.conns) > 0
}

// pump reads the next changes and hands them out; more says that there may be others.
func (h *hub) pump() (more bool, err error) {
	h.live.mu.Lock()
	after := h.at
	h.live.mu.Unlock()
	changes, err := h.upTo(h.store.Head(), after, hubBatch)
	if err != nil || len(changes) == 0 {
		return false, err
	}
	var events []event
	guests := h.live.guests()
	for _, c := range latest(changes) {
		e, ok, err := h.event(c, h.follows, guests)
		if err != nil {
			return false, err
		}
		if ok {
			events = append(events, e)
		}
		if e.still != 0 {
			h.live.drop(e.still)
		}
	}
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	for c := range h.live.conns {
		c.putEvents(events)
	}
	h.at = max(h.at, changes[len(changes)-1].Seq)
	return len(changes) == hubBatch, nil
}

// follows says whether any page looks at a chat.
func (h *hub) follows(chat string) bool {
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	return h.live.watched(chat)
}

// latest keeps of several changes of one object the last, in the order of their numbers.
func latest(changes []store.Change) []store.Change {
	type object struct{ kind, id string }
	last := make(map[object]int64, len(changes))
	for _, c := range changes {
		last[object{c.Kind, c.ID}] = c.Seq
	}
	kept := make([]store.Change, 0, len(last))
	for _, c := range changes {
		if last[object{c.Kind, c.ID}] == c.Seq {
			kept = append(kept, c)
		}
	}
	return kept
}
