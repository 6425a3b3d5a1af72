package api

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// Slack's limits, kept with something to spare: one post a second and channel, fifty updates and reads of
// threads a minute for the whole workspace, of which some may come at once.
const (
	methodPost    = "chat.postMessage"
	methodUpdate  = "chat.update"
	methodReplies = "conversations.replies"

	postGap     = 1100 * time.Millisecond
	updateGap   = 1600 * time.Millisecond
	updateBurst = 10

	repliesGap   = 2 * time.Second // of fifty a minute: the rest is left to what must not fail
	repliesBurst = 10
)

// pace gives posts their moments.
type pace struct {
	mu    *sync.Mutex
	lanes map[string]lane      // by method and channel
	until map[string]time.Time // by method: Slack takes nothing before
	slot  map[string]time.Time // moments that are given
}

// lane is what shares a limit.
type lane struct {
	next time.Time // the moment after the last one that is given
	went time.Time // when one went last
}

func newPace() pace {
	return pace{mu: &sync.Mutex{}, lanes: map[string]lane{}, until: map[string]time.Time{}, slot: map[string]time.Time{}}
}

// met holds a method that Slack has limited, and nothing else; err is handed through.
func (p *pace) met(method string, err error) error {
	if l, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.until[method] = time.Now().Add(l.RetryAfter)
	}
	return err
}

// turn is nil if a post's turn has come; else a Limited.
func (p *pace) turn(method, channel, post string, gap time.Duration, burst int) error {
	if d := p.wait(method, channel, post, gap, burst); d > 0 {
		return &Limited{After: d, Err: fmt.Errorf("%s waits for its turn", method)}
	}
	return nil
}

// wait is how long a post must still wait; its moment is kept for it. What comes too late to its
// moment, so that another has just gone, is given another one.
func (p *pace) wait(method, channel, post string, gap time.Duration, burst int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if d := p.until[method].Sub(now); d > 0 {
		return d
	}
	key := method + " " + channel
	l := p.lanes[key]
	at, given := p.slot[post]
	if !given || burst == 0 && !at.After(now) && now.Sub(l.went) < gap {
		if l.next.Before(now) {
			l.next = now
		}
		if first := l.went.Add(gap); burst == 0 && l.next.Before(first) {
			l.next = first
		}
		at = l.next.Add(-time.Duration(burst) * gap)
		l.next = l.next.Add(gap)
	}
	if d := at.Sub(now); d > 0 {
		p.slot[post], p.lanes[key] = at, l
		return d
	}
	delete(p.slot, post)
	l.went = now
	p.lanes[key] = l
	p.forget(now)
	return 0
}

// spare reports whether a call that can be left out may be made now, and counts it then.
func (p *pace) spare(method string, gap time.Duration, burst int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, key := time.Now(), method+" "
	l := p.lanes[key]
	if l.next.Before(now) {
		l.next = now
	}
	if now.Before(p.until[method]) || l.next.Sub(now) > time.Duration(burst-1)*gap {
		return false
	}
	l.next, l.went = l.next.Add(gap), now
	p.lanes[key] = l
	return true
}

// forget drops what is over, now and then.
func (p *pace) forget(now time.Time) {
	if len(p.lanes)+len(p.slot) < 2000 {
		return
	}
	for key, l := range p.lanes {
		if l.next.Before(now) && now.Sub(l.went) > time.Minute {
			delete(p.lanes, key)
		}
	}
	for post, at := range p.slot {
		if now.Sub(at) > time.Hour {
			delete(p.slot, post)
		}
	}
}
