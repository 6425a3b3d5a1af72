package api

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

const (
	lookUpWithin = time.Second // an event must be acknowledged within three
	namesKept    = 10000
)

// Names knows how people and channels are called. Each is asked for once; what is not told soon is
// called by its id.
type Names struct {
	client *Client
	log    *slog.Logger

	mu    sync.Mutex
	known map[string]string
}

// NewNames makes it.
func NewNames(c *Client, log *slog.Logger) *Names {
	return &Names{client: c, log: log, known: map[string]string{}}
}

// Person is how a person is called.
func (n *Names) Person(ctx context.Context, id string) string {
	return n.lookUp(ctx, id, func(ctx context.Context) (string, error) {
		u, err := n.client.slack.GetUserInfoContext(ctx, id)
		if err != nil {
			return "", err
		}
		return cmp.Or(u.Profile.DisplayName, u.RealName, u.Name), nil
	})
}

// Words are a message's text as people read it, without a mention of me around it.
func (n *Names) Words(ctx context.Context, e Event, me Self) string {
	return words(e.Text, me.User, func(id string) string { return n.Person(ctx, id) })
}

// Channel is how a channel is called, with its sign.
func (n *Names) Channel(ctx context.Context, id string) string {
	return n.lookUp(ctx, id, func(ctx context.Context) (string, error) {
		ch, err := n.client.slack.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
		if err != nil {
			return "", err
		}
		return "#" + ch.Name, nil
	})
}

func (n *Names) lookUp(ctx context.Context, id string, ask func(context.Context) (string, error)) string {
	n.mu.Lock()
	name, known := n.known[id]
	n.mu.Unlock()
	if known {
		return name
	}
	within, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	name, err := ask(within)
	if ctx.Err() != nil { // whoever asks has no time left: that says nothing about the name
		return cmp.Or(name, id)
	}
	if err != nil {
		n.log.Debug("a name could not be looked up", "id", id, "err", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= namesKept {
		clear(n.known)
	}
	n.known[id] = cmp.Or(name, id)
	return n.known[id]
}
