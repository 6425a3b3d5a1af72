package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"holdfast/engine/wheel"
	"holdfast/store"
)

// outbox hands posts to their surfaces and keeps the platforms' handles. A surface's failure never
// asks a model again: the post stays and is tried until it is out (N9). Posts of one conversation go
// one at a time and in order, conversations do not wait for each other.
type outbox struct {
	wakeup chan struct{}
	timer  wheel.Timer
}

func newOutbox() outbox { return outbox{wakeup: make(chan struct{}, 1)} }

// poke says that something may have to go out.
func (o *outbox) poke() {
	select {
	case o.wakeup <- struct{}{}:
	default:
	}
}

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
	deliverBase = time.Second
	deliverCap  = 5 * time.Minute
	outboxBatch = 100
	stuckAfter  = 10 * time.Minute // a post that is not out by then raises delivery_stuck
)

// deliver is the outbox's loop.
func (e *Engine) deliver(ctx context.Context) {
	if !e.hasRemote() && e.Alerts.Webhook == "" {
		return // every surface shows what is stored: nothing ever goes out
	}
	e.outbox.poke()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.outbox.wakeup:
		}
		e.tellAlerts(ctx)
		posts, err := e.Store.PendingPosts(e.now(), outboxBatch)
		if err != nil {
			e.Log.Error("read the outbox", "err", err)
			continue
		}
		e.deliverBatch(ctx, posts)
		if len(posts) == outboxBatch {
			e.outbox.poke()
		}
		e.armOutbox()
	}
}

// armOutbox sets the wheel for the next delivery that has to be tried again.
func (e *Engine) armOutbox() {
	next, err := e.Store.NextDelivery(e.now())
	if err != nil {
		e.Log.Error("read the outbox", "err", err)
		next = e.now().Add(deliverCap)
	}
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

// deliverBatch hands a batch over, conversations side by side, and returns when all are through.
func (e *Engine) deliverBatch(ctx context.Context, posts []store.Post) {
	lines := map[store.ID][]store.Post{}
	for _, p := range posts {
		lines[p.Conversation] = append(lines[p.Conversation], p)
	}
	var hands sync.WaitGroup
	for _, line := range lines {
		slices.SortFunc(line, func(a, b store.Post) int { return cmp.Compare(a.ID, b.ID) })
		hands.Go(func() {
			for _, p := range line {
				if !e.hand(ctx, p) {
					return // the order of a conversation is kept: the rest waits for this one
				}
			}
		})
	}
	hands.Wait()
}

// hand gives one post to its surface; false if it must be tried again.
func (e *Engine) hand(ctx context.Context, p store.Post) bool {
	t, err := e.Store.Turn(p.Turn)
	if err != nil {
		e.Log.Error("read a post's turn", "post", p.ID.String(), "err", err)
		return false
	}
	s, to := e.place(&t)
	if s == nil {
		return e.mark(p, "failed", "its surface is not configured any more")
	}
	if p.Handle != "" {
		err = s.Edit(ctx, to, p)
	} else {
		if p.State == "posting" { // handed over before, outcome unknown
			p.Tries = max(p.Tries, 1)
		}
		p.State = "posting"
		if err := e.Store.MarkPost(p, e.now()); err != nil {
			return false
		}
		p.Handle, err = s.Post(ctx, to, p)
	}
	e.Crash("posted")
	switch {
	case err == nil:
		e.clear(alertDelivery, s.Name())
		return e.mark(p, "done", "")
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrGone) && p.Handle != "": // deleted or too old: one new post
		p.Handle, p.Tries = "", 0
		return e.again(s.Name(), p, 0, err)
	case errors.Is(err, ErrGone):
		return e.mark(p, "failed", err.Error())
	}
	wait := min(deliverBase<<min(p.Tries, 12), deliverCap)
	if r, ok := errors.AsType[*RetryAfter](err); ok {
		wait = max(r.After, deliverBase)
	}
	return e.again(s.Name(), p, wait, err)
}

// mark stores how it ended.
func (e *Engine) mark(p store.Post, state, why string) bool {
	p.State, p.Error = state, why
	if err := e.Store.MarkPost(p, e.now()); err != nil {
		e.Log.Error("store a delivery", "post", p.ID.String(), "err", err)
		return false
	}
	return true
}

// again stores the next try; the loop arms the wheel for it.
func (e *Engine) again(surface string, p store.Post, wait time.Duration, err error) bool {
	p.Tries++
	if e.now().Sub(max(p.Created, p.Edited)) >= stuckAfter {
		e.raise(alertDelivery, surface, p.Created, fmt.Sprintf("a message to %s cannot be delivered since %s; it is tried again. %s", surface, e.clock(p.Created), e.link("/turns/"+p.Turn.String())))
	}
	p.NextTry = e.now().Add(wait)
	e.mark(p, "pending", err.Error())
	if wait == 0 {
		e.outbox.poke()
	}
	return false
}
