package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slack-go/slack"
)

const (
	pageSize  = 100
	findPages = 5

	threadPage  = 1000 // the most that Slack gives at once: it begins with the oldest
	threadPages = 3
	findBefore  = 5 * time.Minute // how far our clock may be ahead of Slack's
)

// find looks for the message of a post (see Message.Post) that was made at a moment or later; "" if
// there is none.
func (c *Client) find(ctx context.Context, channel, thread, post string, since time.Time) (ts string, err error) {
	oldest, cursor := Stamp(since.Add(-findBefore)), ""
	for range findPages {
		var list []slack.Message
		if thread == "" {
			list, cursor, err = c.page(ctx, &slack.GetConversationHistoryParameters{ChannelID: channel, Oldest: oldest, Limit: pageSize, Cursor: cursor, IncludeAllMetadata: true})
		} else {
			list, _, cursor, err = c.slack.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: channel, Timestamp: thread, Oldest: oldest, Limit: pageSize, Cursor: cursor, IncludeAllMetadata: true,
			})
		}
		if reason(err) == "thread_not_found" {
			return "", nil
		} else if err != nil {
			return "", fmt.Errorf("look for an earlier try: %w", err)
		}
		for _, m := range list {
			if m.Metadata.EventType == turnEvent && m.Metadata.EventPayload["post"] == post {
				return m.Timestamp, nil
			}
		}
		if cursor == "" {
			break
		}
	}
	return "", nil
}

func (c *Client) page(ctx context.Context, p *slack.GetConversationHistoryParameters) ([]slack.Message, string, error) {
	r, err := c.slack.GetConversationHistoryContext(ctx, p)
	if err != nil {
		return nil, "", err
	}
	return r.Messages, r.ResponseMetaData.NextCursor, nil
}

// Thread reads what was said in a thread before a message of it, oldest first: of a longer thread the
// root and the newest, at most so many. Nil, with nothing asked, if that is the root itself. It is never
// repeated, and gives way to what looks for messages of the bot's, which has the same limit.
func (c *Client) Thread(ctx context.Context, channel, root, before string, most int) (list []Event, err error) {
	if before <= root {
		return nil, nil
	}
	p := &slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: root, Latest: before, Limit: threadPage}
	for range threadPages {
		if !c.pace.spare(methodReplies, repliesGap, repliesBurst) {
			return nil, fmt.Errorf("%s waits for its turn", methodReplies)
		}
		var page []slack.Message
		if page, _, p.Cursor, err = c.slack.GetConversationRepliesContext(ctx, p); err != nil {
			return nil, c.pace.met(methodReplies, err)
		}
		for _, m := range page {
			if m.Timestamp < before {
				list = append(list, eventOf(channel, m))
			}
		}
		if p.Cursor == "" {
			break
		}
	}
	if len(list) > most {
		list = slices.Delete(list, 1, len(list)-most+1)
	}
	return list, nil
}
