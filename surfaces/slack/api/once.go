package api

import (
	"context"
	"sync"
	"time"
)

// Try is what is known of a message that may have been made before.
type Try struct {
	Again bool      // an earlier try, maybe of another process, may have made it
	Since time.Time // the first try was not before
	Edit  bool      // what an earlier try has made may have an older text
}

// refusalsKept is how many messages are remembered; what is forgotten is looked for in vain.
const refusalsKept = 2000

// refusals remembers the messages, by Message.Post, of which every try so far was surely refused.
type refusals struct {
	mu  sync.Mutex
	all map[string]bool
}

func (r *refusals) has(post string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[post]
}

// note keeps what came of a try.
func (r *refusals) note(post string, t Try, err error) {
	verdict, _ := Judge(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	refused := err != nil && verdict != Unsure && (!t.Again || r.all[post])
	delete(r.all, post)
	if !refused {
		return
	}
	if len(r.all) >= refusalsKept { // of what can never be delivered
		clear(r.all)
	}
	r.all[post] = true
}

// Once makes a message unless an earlier try has, and returns its ts either way. Slack knows no
// idempotency key: every message carries its name as metadata, and where an earlier try may have gone
// through the conversation is read first. A message found gets the wanted text.
func (c *Client) Once(ctx context.Context, m Message, t Try) (ts string, err error) {
	ts, err = c.once(ctx, m, t)
	c.refused.note(m.Post, t, err)
	return ts, err
}

func (c *Client) once(ctx context.Context, m Message, t Try) (string, error) {
	if t.Again && !c.refused.has(m.Post) {
		ts, err := c.find(ctx, m.Channel, m.Thread, m.Post, t.Since)
		if err != nil {
			return "", err
		}
		if ts != "" && t.Edit {
			err = c.Update(ctx, ts, m)
		}
		if verdict, _ := Judge(err); ts != "" && verdict != Never {
			return ts, err
		}
	}
	return c.post(ctx, m)
}
