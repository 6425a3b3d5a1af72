package rest

import (
	"context"
	"sync"
	"time"
)

// Channels is what is known of channels; each is looked up once. It is safe for concurrent use.
type Channels struct {
	client *Client

	mu    sync.Mutex
	known map[string]Channel
}

// NewChannels knows none.
func NewChannels(c *Client) *Channels { return &Channels{client: c, known: map[string]Channel{}} }

// Learn notes them.
func (k *Channels) Learn(guild string, list ...Channel) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range list {
		c.Guild = guild
		k.known[c.ID] = c
	}
}

// Get is one, with its ID alone if it cannot be looked up.
func (k *Channels) Get(ctx context.Context, id string) Channel {
	k.mu.Lock()
	c, ok := k.known[id]
	k.mu.Unlock()
	if ok {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := k.client.Channel(ctx, id)
	if err != nil {
		return Channel{ID: id}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[id] = c
	return c
}

// IsIn tells whether a channel is named in a list of channels and guilds, itself, as a thread of a
// named channel, or as one of a named guild.
func (k *Channels) IsIn(ctx context.Context, list []string, guild, channel string) bool {
	for _, id := range list {
		if id == guild || id == channel {
			return true
		}
	}
	if len(list) == 0 {
		return false
	}
	c := k.Get(ctx, channel)
	for _, id := range list {
		if c.IsThread() && id == c.Parent {
			return true
		}
	}
	return false
}
