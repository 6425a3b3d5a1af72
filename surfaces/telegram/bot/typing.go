package bot

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	signEvery = 4500 * time.Millisecond // Telegram shows it for 5 s, or until the next message
	signMost  = 30 * time.Minute        // for one reason; the sign must not outlive what it stands for
)

// Where is a chat, or a topic in it.
type Where struct{ Chat, Topic string }

// Typing keeps up the sign that the bot is typing. One loop shows it, however many reasons there are.
type Typing struct {
	client *Client
	log    *slog.Logger
	change chan struct{}

	mu      sync.Mutex
	reasons map[Where]map[int64]time.Time // until when at most
}

// NewTyping makes one; Run shows the signs.
func NewTyping(c *Client, log *slog.Logger) *Typing {
	return &Typing{client: c, log: log, change: make(chan struct{}, 1), reasons: map[Where]map[int64]time.Time{}}
}

// Set gives a reason for the sign, or takes it away. It returns at once.
func (t *Typing) Set(to Where, reason int64, on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !on {
		if delete(t.reasons[to], reason); len(t.reasons[to]) == 0 {
			delete(t.reasons, to)
		}
		return
	}
	if t.reasons[to] == nil {
		t.reasons[to] = map[int64]time.Time{}
		select {
		case t.change <- struct{}{}:
		default:
		}
	}
	t.reasons[to][reason] = time.Now().Add(signMost)
}

// Run shows the signs until ctx ends.
func (t *Typing) Run(ctx context.Context) {
	var hands sync.WaitGroup
	defer hands.Wait()
	shown := map[Where]time.Time{}
	for {
		wait := time.Hour
		for _, to := range t.wanted() {
			if left := time.Until(shown[to].Add(signEvery)); left > 0 {
				wait = min(wait, left)
				continue
			}
			shown[to], wait = time.Now(), min(wait, signEvery)
			hands.Go(func() {
				if err := t.client.typing(ctx, to); err != nil {
					t.log.Debug("typing could not be shown", "chat", to.Chat, "err", err)
				}
			})
		}
		for to, at := range shown {
			if time.Since(at) > signEvery {
				delete(shown, to)
			}
		}
		next := time.NewTimer(wait)
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

// wanted lists where the sign is wanted now.
func (t *Typing) wanted() (list []Where) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for to, reasons := range t.reasons {
		for reason, until := range reasons {
			if time.Now().After(until) {
				delete(reasons, reason)
			}
		}
		if len(reasons) == 0 {
			delete(t.reasons, to)
			continue
		}
		list = append(list, to)
	}
	return list
}
