package api

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/slack-go/slack"
)

// missedThreads are read of one channel at most.
const missedThreads = 100

// Missed reads what was said in a channel since a moment: its newest messages, then the threads that
// may have grown, those given and those among the newest; each list oldest first. It waits where Slack
// limits it. A thread that cannot be read is passed over; any other error is yielded and ends it.
func (c *Client) Missed(ctx context.Context, channel, since string, threads []string) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		list, grown, err := c.newest(ctx, channel, since)
		if !yield(list, err) || err != nil {
			return
		}
		for _, root := range grown {
			if !slices.Contains(threads, root) {
				threads = append(threads, root)
			}
		}
		for _, root := range threads[:min(len(threads), missedThreads)] {
			list, err := c.repliesSince(ctx, channel, root, since)
			if err != nil && !Passing(err) { // it is gone
				continue
			}
			if !yield(list, err) || err != nil {
				return
			}
		}
	}
}

// newest reads the newest messages of a channel, oldest first, and the roots among them whose
// threads have grown since a moment.
func (c *Client) newest(ctx context.Context, channel, since string) (list []Event, grown []string, err error) {
	var page []slack.Message
	err = patiently(ctx, func() (err error) {
		page, _, err = c.page(ctx, &slack.GetConversationHistoryParameters{ChannelID: channel, Limit: pageSize})
		return err
	})
	for _, m := range slices.Backward(page) {
		list = append(list, eventOf(channel, m))
		if m.LatestReply > since {
			grown = append(grown, m.Timestamp)
		}
	}
	return list, grown, err
}

// repliesSince reads a thread since a moment, oldest first.
func (c *Client) repliesSince(ctx context.Context, channel, root, since string) (list []Event, err error) {
	var page []slack.Message
	err = patiently(ctx, func() (err error) {
		page, _, _, err = c.slack.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: root, Oldest: since, Limit: pageSize})
		return err
	})
	for _, m := range page {
		list = append(list, eventOf(channel, m))
	}
	return list, err
}

// Channels lists those the bot is in, at most so many.
func (c *Client) Channels(ctx context.Context, most int) (list []string, err error) {
	p := &slack.GetConversationsForUserParameters{Types: []string{"public_channel", "private_channel", "mpim", "im"}, Limit: 200, ExcludeArchived: true}
	for len(list) < most {
		var found []slack.Channel
		err := patiently(ctx, func() (err error) {
			found, p.Cursor, err = c.slack.GetConversationsForUserContext(ctx, p)
			return err
		})
		if err != nil {
			return list, err
		}
		for _, ch := range found {
			list = append(list, ch.ID)
		}
		if p.Cursor == "" {
			break
		}
	}
	return list, nil
}

// patiently asks again when Slack says when.
func patiently(ctx context.Context, ask func() error) error {
	for {
		err := ask()
		limited, ok := errors.AsType[*slack.RateLimitedError](err)
		if !ok {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(limited.RetryAfter, time.Second)):
		}
	}
}
