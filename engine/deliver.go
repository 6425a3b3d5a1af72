package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"holdfast/store"
)

// Delivery errors a surface returns; anything else is tried again.
var (
	// ErrGone says that the message to be edited, or the place to post to, is no more.
	ErrGone = errors.New("the message is gone")
)

// RetryAfter is a platform's word when to try again.
type RetryAfter struct {
	After time.Duration
	Err   error
}

func (r *RetryAfter) Error() string { return r.Err.Error() }
func (r *RetryAfter) Unwrap() error { return r.Err }

const (
	deliverBase     = time.Second
	deliverCap      = 5 * time.Minute
	outboxAgain     = 5 * time.Second // after a store that could not be read
	outboxBatch     = 100
	handsPerSurface = 16               // lines under way at once: more than a platform's limits let through
	stuckAfter      = 10 * time.Minute // a post that is not out by then raises delivery_stuck
)

// deliver is the outbox's loop; it returns when all hands are empty.
func (e *Engine) deliver(ctx context.Context) {
	if !e.hasRemote() && e.Alerts.Webhook == "" {
		return // every surface shows what is stored: nothing ever goes out
	}
	var hands sync.WaitGroup
	defer hands.Wait()
	hands.Go(func() { e.tellLoop(ctx) })
	e.outbox.poke()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.outbox.posts:
		}
		now := e.now() // of the whole pass: what is not due yet is armed for, and nothing falls between the two
		read := true
		for more := true; more && read && ctx.Err() == nil && !e.isRestored(); {
			more, read = e.beginLines(ctx, now, &hands)
		}
		if !read { // whatever is due is looked for then
			e.armOutboxAt(e.now().Add(outboxAgain))
		} else if later, alert := e.outbox.triesLater(); later {
			e.armOutbox(now)
			if alert { // whose time may have come before now
				nudge(e.outbox.alerts)
			}
		}
	}
}

// tellLoop delivers alerts, beside the posts: neither waits for the other.
func (e *Engine) tellLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.outbox.alerts:
		}
		if !e.tellAlerts(ctx) {
			e.outbox.tryLater(true)
			nudge(e.outbox.posts)
		}
	}
}

// beginLines gives lines that are due a hand; more says that there may be others. read is false if the store
// could not be read.
func (e *Engine) beginLines(ctx context.Context, now store.Time, hands *sync.WaitGroup) (more, read bool) {
	busy, full := e.outbox.taken()
	lines, err := e.Store.DueLines(now, busy, full, outboxBatch)
	if err != nil {
		e.Log.Error("read the outbox", "err", err)
		return false, false
	}
	for _, l := range lines {
		if e.outbox.take(l) {
			hands.Go(func() { e.deliverLine(ctx, l) })
		}
	}
	return len(lines) == outboxBatch, true
}

// deliverLine hands a conversation's posts over, one after the other, as far as they are due.
func (e *Engine) deliverLine(ctx context.Context, l store.Line) {
	nothing := -1 // what had come when there was nothing more
	defer func() { e.outbox.free(l, nothing) }()
	for ctx.Err() == nil {
		came := e.outbox.arrivals()
		p, err := e.Store.NextPost(l.Conversation, e.now())
		if errors.Is(err, store.ErrNotFound) {
			nothing = came
			return
		}
		if err == nil {
			var out bool
			if out, err = e.hand(ctx, l, p); err == nil && !out {
				return // the order of a conversation is kept: the rest waits for this one
			}
		}
		switch {
		case errors.Is(err, store.ErrNotFound): // pruned meanwhile, and its turn with it
			return
		case err != nil && ctx.Err() == nil: // of the store: nothing is lost, and nothing gets better by haste
			e.Log.Error("deliver a message", "err", err)
			e.pause(ctx, deliverBase)
			return
		}
	}
}

// pause waits, or until ctx ends.
func (e *Engine) pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// armOutbox sets the wheel for the next delivery after now that has to be tried again.
func (e *Engine) armOutbox(now store.Time) {
	next, err := e.Store.NextDelivery(now)
	if err != nil {
		e.Log.Error("read the outbox", "err", err)
		next = e.now().Add(outboxAgain)
	}
	if next != 0 && e.isRestored() { // what is overdue stays so
		next = max(next, e.now().Add(deliverCap))
	}
	e.armOutboxAt(next)
}

// armOutboxAt sets it for that time; 0 = for none.
func (e *Engine) armOutboxAt(next store.Time) {
	e.wheel.Cancel(e.outbox.timer)
	if e.outbox.timer = 0; next != 0 {
		e.outbox.timer = e.wheel.Add(int64(next), outboxKey)
	}
}

func (e *Engine) hasRemote() bool {
	for _, s := range e.Surfaces {
		if !s.Traits().Local {
			return true
		}
	}
	return false
}

// hand gives one post of a line to its surface. It is out, or is to be tried again later; an error is the store's.
func (e *Engine) hand(ctx context.Context, l store.Line, p store.Post) (out bool, err error) {
	s, to := e.surfaces[l.Surface], Place{Conversation: l.Conversation, Bot: l.Bot, Channel: l.Channel, Thread: l.Thread}
	if s == nil {
		return true, e.mark(p, "failed", "its surface is not configured any more")
	}
	if p.Handle != "" {
		err = s.Edit(ctx, to, p)
	} else {
		if p.State == "posting" { // handed over before, outcome unknown
			p.Tries = max(p.Tries, 1)
		}
		if err := e.mark(p, "posting", p.Error); err != nil {
			return false, err
		}
		p.Handle, err = s.Post(ctx, to, p)
	}
	e.Crash("posted")
	switch {
	case err == nil:
		e.clear(alertDelivery, stuckAt(s, to))
		return true, e.mark(p, "done", "")
	case ctx.Err() != nil:
		return false, nil
	case errors.Is(err, ErrGone) && p.Handle != "": // deleted or too old: one new post
		p.Handle, p.Tries = "", 0
		return false, e.again(s, to, p, 0, err)
	case errors.Is(err, ErrGone):
		e.raise(alertDelivery, stuckAt(s, to), p.Created, fmt.Sprintf("a message to %s could not be delivered and will not be: %v. Look at it there, then acknowledge this. %s", stuckAt(s, to), err, e.link("/turns/"+p.Turn.String())))
		return true, e.mark(p, "failed", err.Error())
	}
	wait := min(deliverBase<<min(p.Tries, 12), deliverCap)
	if r, ok := errors.AsType[*RetryAfter](err); ok {
		wait = max(r.After, deliverBase)
	}
	return false, e.again(s, to, p, wait, err)
}

// mark stores how it stands.
func (e *Engine) mark(p store.Post, state, why string) error {
	p.State, p.Error = state, why
	return e.Store.MarkPost(p, e.now())
}

// again stores the next try; the loop arms the wheel for it.
func (e *Engine) again(s Surface, to Place, p store.Post, wait time.Duration, err error) error {
	p.Tries++
	if e.now().Sub(max(p.Created, p.Edited)) >= stuckAfter {
		e.raise(alertDelivery, stuckAt(s, to), p.Created, fmt.Sprintf("a message to %s cannot be delivered since %s; it is tried again: %v. %s", stuckAt(s, to), e.clock(p.Created), err, e.link("/turns/"+p.Turn.String())))
	}
	p.NextTry = e.now().Add(wait)
	if err := e.mark(p, "pending", err.Error()); err != nil {
		return err
	}
	e.outbox.tryLater(false)
	return nil
}

// stuckAt is what an alert of a delivery is about: the channel.
func stuckAt(s Surface, to Place) string { return s.Name() + "/" + to.Channel }

// undelivered reports whether something still waits to go out there.
func (e *Engine) undelivered(at string) (bool, error) {
	lines, err := e.Store.DueLines(math.MaxInt64, nil, nil, math.MaxInt)
	return slices.ContainsFunc(lines, func(l store.Line) bool { return l.Surface+"/"+l.Channel == at }), err
}
