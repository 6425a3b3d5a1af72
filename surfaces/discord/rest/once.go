package rest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	nonceHolds = time.Minute     // Discord knows a nonce for "a few minutes"; within this it surely does
	remakes    = 4               // nonces of one message: each that was deleted has taken one
	findPages  = 5               // of 100 messages
	findBefore = 5 * time.Minute // how far our clock may be ahead of Discord's
	triesKept  = 2000            // messages and channels; what is forgotten is looked for in vain, or an old notice stays
)

// errDeleted is the end of a message that is deleted each time it is made.
var errDeleted = errors.New("it was deleted each time it was made")

// Try is what is known of a message that may have been made before.
type Try struct {
	Name  string    // the message's own, up to 20 characters: its nonces begin with it
	Again bool      // an earlier try, maybe of another process, may have made it
	Since time.Time // the first try was not before
	Self  string    // the bot's own user id
	Not   []string  // other messages of the bot
}

// nonce names the n-th message of a try.
func (t Try) nonce(n int) string { return fmt.Sprintf("%s-%d", t.Name, n) }

// tries is what a process remembers of messages that are not out yet, by name.
type tries struct {
	mu      sync.Mutex
	refused map[string]bool   // every try so far was refused: it is surely not out
	spent   map[string]int    // messages that are no more or cannot be edited any more: nonces not to be used again
	old     map[string]string // the last of these, if it is still there
	told    map[string]bool   // what Tell has said
}

func newTries() tries {
	return tries{refused: map[string]bool{}, spent: map[string]int{}, old: map[string]string{}, told: map[string]bool{}}
}

// keep notes one of triesKept at most.
func keep[V any](known map[string]V, key string, v V) {
	if _, is := known[key]; !is && len(known) >= triesKept {
		clear(known)
	}
	known[key] = v
}

// Once makes a message unless an earlier try has, and returns its id either way. Discord makes only
// one message of each nonce and remembers that for some minutes, so a try whose outcome is unknown is
// simply repeated; later the channel is searched first. A message found gets the wanted content. It
// returns *Limited at once.
func (c *Client) Once(ctx context.Context, channel string, o Outgoing, t Try) (id string, err error) {
	c.tries.mu.Lock()
	old, spent, first := c.tries.old[t.Name], c.tries.spent[t.Name], !t.Again
	t.Again, t.Not = t.Again && !c.tries.refused[t.Name], append(t.Not, old)
	c.tries.mu.Unlock()
	id, err = c.make(ctx, channel, o, t, spent)
	c.tries.mu.Lock()
	_, limited := errors.AsType[*Limited](err)
	switch {
	case err == nil:
		delete(c.tries.refused, t.Name)
		delete(c.tries.old, t.Name)
	case !limited && !Refused(err):
		delete(c.tries.refused, t.Name)
	case first:
		keep(c.tries.refused, t.Name, true)
	}
	c.tries.mu.Unlock()
	if err == nil && old != "" {
		_ = c.Delete(ctx, channel, old) // if that fails too, an old notice stays
	}
	return id, err
}

func (c *Client) make(ctx context.Context, channel string, o Outgoing, t Try, spent int) (id string, err error) {
	content := ""
	if t.Again && time.Since(t.Since) > nonceHolds {
		if id, err = c.find(ctx, channel, o, t); err != nil {
			return "", err
		}
	}
	for n := spent; id == ""; n++ {
		if n == spent+remakes {
			return "", &Error{Call: "make a message", Status: 404, Code: UnknownMessage, Message: errDeleted.Error()}
		}
		o.Nonce = t.nonce(n)
		m, err := c.Create(ctx, channel, o)
		if CodeOf(err) == UnknownMessage { // that of this nonce has been deleted
			continue
		} else if err != nil {
			return "", err
		}
		id, content = m.ID, m.Content
	}
	if t.Again && content != strings.TrimSpace(o.Content) { // made by an earlier try, maybe with an older text
		_, err = c.Edit(ctx, channel, id, o)
	}
	return id, err
}

// find looks for a message that an earlier try has made: one of ours with the nonce, the same message
// to answer or the same text. "" if there is none.
func (c *Client) find(ctx context.Context, channel string, o Outgoing, t Try) (string, error) {
	after := IDAt(t.Since.Add(-findBefore))
	if o.ReplyTo != nil && Later(o.ReplyTo.Message, after) {
		after = o.ReplyTo.Message
	}
	for m, err := range c.Since(ctx, channel, after, findPages) {
		if err != nil {
			return "", err
		}
		same := m.HasNonce(t.nonce(0)) || m.Content == strings.TrimSpace(o.Content) || o.ReplyTo.Is(m.Reference)
		if same && m.Author.ID == t.Self && !slices.Contains(t.Not, m.ID) {
			return m.ID, nil
		}
	}
	return "", nil
}

// Change edits the message of a name. In a thread that has been archived it opens the thread for
// that. If the message is no more, or the thread may not be opened, the next Once of that name makes a
// new one and takes the old one away.
func (c *Client) Change(ctx context.Context, channel, id string, o Outgoing, name string) error {
	_, err := c.Edit(ctx, channel, id, o)
	if CodeOf(err) == ThreadArchived && c.open(ctx, channel) == nil {
		_, err = c.Edit(ctx, channel, id, o)
	}
	if code := CodeOf(err); code == ThreadArchived || code == UnknownMessage {
		c.tries.mu.Lock()
		defer c.tries.mu.Unlock()
		keep(c.tries.spent, name, c.tries.spent[name]+1)
		if code == ThreadArchived {
			keep(c.tries.old, name, id)
		}
	}
	return err
}

// Tell says something in a channel, unless it stands there already among the last 50 messages.
func (c *Client) Tell(ctx context.Context, channel, text, self string) error {
	c.tries.mu.Lock()
	told := c.tries.told[channel+text]
	c.tries.mu.Unlock()
	if told {
		return nil
	}
	list, err := c.Messages(ctx, channel, "", 50)
	if err == nil && !slices.ContainsFunc(list, func(m Message) bool { return m.Author.ID == self && m.Content == text }) {
		_, err = c.Create(ctx, channel, Outgoing{Content: text, Mentions: Notify(), Rows: Buttons(), Nonce: "t" + channel})
	}
	if err == nil {
		c.tries.mu.Lock()
		keep(c.tries.told, channel+text, true)
		c.tries.mu.Unlock()
	}
	return err
}
