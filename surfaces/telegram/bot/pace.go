package bot

import (
	"strings"
	"sync"
	"time"
)

// What Telegram allows a bot to send, by its FAQ: about one message a second in a chat, with short
// bursts, 20 a minute in a group, 30 a second in all.
const (
	burst        = 3
	chatEvery    = time.Second
	groupEvery   = 3 * time.Second
	overall      = 25 // a second
	chatsCounted = 1000
)

// pace counts what is sent, so that Telegram need not refuse it.
type pace struct {
	mu     sync.Mutex
	chats  map[string]time.Time // when the burst of a chat is whole again
	held   map[string]time.Time // until when Telegram wants nothing for a chat
	second time.Time            // the second being counted …
	spent  int                  // … and what was sent in it
}

func newPace() pace { return pace{chats: map[string]time.Time{}, held: map[string]time.Time{}} }

// take counts a message that is about to be sent; if it must not be, it says for how long.
func (p *pace) take(chat string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.held[chat]; now.Before(until) {
		return until.Sub(now)
	}
	delete(p.held, chat)
	every := chatEvery
	if strings.HasPrefix(chat, "-") {
		every = groupEvery
	}
	whole := p.chats[chat]
	if whole.Before(now) {
		whole = now
	}
	if wait := whole.Sub(now) - (burst-1)*every; wait > 0 {
		return wait
	}
	if now.Sub(p.second) >= time.Second {
		p.second, p.spent = now, 0
	}
	if p.spent >= overall {
		return p.second.Add(time.Second).Sub(now)
	}
	p.spent++
	p.chats[chat] = whole.Add(every)
	if len(p.chats) > chatsCounted {
		for c, t := range p.chats {
			if t.Before(now) {
				delete(p.chats, c)
			}
		}
	}
	return 0
}

// hold lets a chat be until then.
func (p *pace) hold(chat string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[chat] = until
}
