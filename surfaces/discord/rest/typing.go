package rest

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	typingEvery = 8 * time.Second  // Discord shows it for 10 s
	typingMost  = 30 * time.Minute // for one reason; the sign must not outlive what it stands for
	typingCall  = 5 * time.Second
)

// Typing keeps up the sign that the bot is typing. One loop shows it, however many reasons there are.
type Typing struct {
	client *Client
	log    *slog.Logger
	change chan struct{}

	mu       sync.Mutex
	channels map[string]*sign
}

// sign is that of one channel.
type sign struct {
	reasons map[int64]time.Time // until when at most
	next    time.Time           // not shown before, also when it was off for a moment
	flying  chan struct{}       // closed when the call under way has ended; nil = none
}

// NewTyping makes one; Run shows the signs.
func NewTyping(c *Client, log *slog.Logger) *Typing {
	return &Typing{client: c, log: log, change: make(chan struct{}, 1), channels: map[string]*sign{}}
}

// Set gives a reason for the sign in a channel, or takes it away. It returns at once.
func (t *Typing) Set(channel string, reason int64, on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.channels[channel]
	if !on {
		if x != nil {
			delete(x.reasons, reason)
		}
		return // the loop finds out by itself
	}
	if x == nil {
		x = &sign{reasons: map[int64]time.Time{}}
		t.channels[channel] = x
	}
	x.reasons[reason] = time.Now().Add(typingMost)
	select {
	case t.change <- struct{}{}:
	default:
	}
}

// Quiet takes a reason away and waits for a call under way, which would show the sign again after
// the message that is to follow.
func (t *Typing) Quiet(ctx context.Context, channel string, reason int64) {
	t.Set(channel, reason, false)
	t.mu.Lock()
	var flying chan struct{}
	if x := t.channels[channel]; x != nil && len(x.reasons) == 0 {
		flying = x.flying
	}
	t.mu.Unlock()
	if flying == nil {
		return
	}
	select {
	case <-flying:
	case <-ctx.Done():
	}
}

// Run shows the signs until ctx ends.
func (t *Typing) Run(ctx context.Context) {
	var hands sync.WaitGroup
	defer hands.Wait()
	for {
		next := time.NewTimer(t.show(ctx, &hands))
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-t.change:
		case <-next.C:
		}
		next.Stop()
	}
}

// show shows the signs that are due, beside each other, and returns when to look again.
func (t *Typing) show(ctx context.Context, hands *sync.WaitGroup) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, wait := time.Now(), time.Hour
	for channel, x := range t.channels {
		for reason, until := range x.reasons {
			if now.After(until) {
				delete(x.reasons, reason)
			}
		}
		if !now.Before(x.next) && x.flying == nil {
			if len(x.reasons) == 0 {
				delete(t.channels, channel)
				continue
			}
			x.next, x.flying = now.Add(typingEvery), make(chan struct{})
			hands.Go(func() { t.once(ctx, channel, x) })
		}
		wait = min(wait, max(x.next.Sub(now), 100*time.Millisecond))
	}
	return wait
}

func (t *Typing) once(ctx context.Context, channel string, x *sign) {
	ctx, cancel := context.WithTimeout(ctx, typingCall)
	defer cancel()
	if err := t.client.Typing(ctx, channel); err != nil {
		t.log.Debug("typing could not be shown", "channel", channel, "err", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	close(x.flying)
	x.flying = nil
}
