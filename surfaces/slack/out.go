package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"holdfast/engine"
	"holdfast/store"
)

const (
	settling   = 2 * time.Second // after a lost answer: the request may still be on its way
	mendable   = 5 * time.Minute // between two tries at what an operator must mend
	limitedFor = 30 * time.Second
	findPages  = 5 // of 100 messages
	findBefore = 5 * time.Minute
	turnEvent  = "holdfast_turn"
)

// Methods that limits are kept for.
const (
	methodPost   = "chat.postMessage"
	methodUpdate = "chat.update"
)

// Post makes a message. Slack knows no idempotency key: every message carries its post's id as
// metadata, and where an earlier try may have gone through the conversation is read first.
func (s *Surface) Post(ctx context.Context, to engine.Place, p store.Post) (string, error) {
	if p.Tries > 0 && !s.surelyUnsent(p.ID) {
		made, err := s.find(ctx, to, p)
		if err != nil {
			return "", s.outcome(p, err)
		}
		if made != "" && p.Edited == 0 {
			return s.made(p, made)
		}
		if made != "" { // its text may be an older one
			err := s.update(ctx, to, p, made)
			if !errors.Is(err, engine.ErrGone) {
				return made, err
			}
		}
	}
	if err := s.held(p, methodPost, to.Channel, postGap, 0); err != nil {
		return "", err
	}
	options := append(s.content(p), slackapi.MsgOptionMetadata(slackapi.SlackMetadata{
		EventType: turnEvent, EventPayload: map[string]any{"turn": p.Turn.String(), "part": p.Part, "post": p.ID.String()},
	}), slackapi.MsgOptionDisableLinkUnfurl(), slackapi.MsgOptionDisableMediaUnfurl())
	thread := options
	if to.Thread != "" {
		thread = append(slices.Clone(options), slackapi.MsgOptionTS(to.Thread))
	}
	_, ts, err := s.api.PostMessageContext(ctx, to.Channel, thread...)
	if reason(err) == "cannot_reply_to_message" { // better beside its thread than not at all
		_, ts, err = s.api.PostMessageContext(ctx, to.Channel, options...)
	}
	if err != nil {
		return "", s.failed(methodPost, p, err)
	}
	s.working.quiet(p.Turn, false)
	return s.made(p, ts)
}

// Edit gives a message of ours the text that it must have now.
func (s *Surface) Edit(ctx context.Context, to engine.Place, p store.Post) error {
	return s.update(ctx, to, p, p.Handle)
}

func (s *Surface) update(ctx context.Context, to engine.Place, p store.Post, ts string) error {
	if err := s.held(p, methodUpdate, "", updateGap, updateBurst); err != nil {
		return err
	}
	_, _, _, err := s.api.UpdateMessageContext(ctx, to.Channel, ts, s.content(p)...)
	if err != nil {
		return s.failed(methodUpdate, p, err)
	}
	s.working.quiet(p.Turn, true)
	return nil
}

// content is what a post says: an answer in Markdown, which the whole message then is; a notice with
// its buttons and its clock, which Markdown would not show.
func (s *Surface) content(p store.Post) []slackapi.MsgOption {
	text := p.Text
	if strings.TrimSpace(text) == "" {
		text = "…" // Slack takes no empty message
	}
	switch p.Kind {
	case "notice":
		return []slackapi.MsgOption{slackapi.MsgOptionText(text, false), slackapi.MsgOptionBlocks(notice(p.Turn, text)...)}
	case "mention":
		return []slackapi.MsgOption{slackapi.MsgOptionText(text, false)}
	}
	return []slackapi.MsgOption{slackapi.MsgOptionMarkdownText(text)}
}

// find looks for a message that an earlier try of a post has made; "" if there is none.
func (s *Surface) find(ctx context.Context, to engine.Place, p store.Post) (string, error) {
	oldest := tsOf(p.Created.Go().Add(-findBefore))
	cursor := ""
	for range findPages {
		var list []slackapi.Message
		var err error
		if to.Thread == "" {
			var page *slackapi.GetConversationHistoryResponse
			page, err = s.api.GetConversationHistoryContext(ctx, &slackapi.GetConversationHistoryParameters{
				ChannelID: to.Channel, Oldest: oldest, Limit: 100, Cursor: cursor, IncludeAllMetadata: true,
			})
			if err == nil {
				list, cursor = page.Messages, page.ResponseMetaData.NextCursor
			}
		} else {
			list, _, cursor, err = s.api.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{
				ChannelID: to.Channel, Timestamp: to.Thread, Oldest: oldest, Limit: 100, Cursor: cursor, IncludeAllMetadata: true,
			})
		}
		if reason(err) == "thread_not_found" {
			return "", nil
		} else if err != nil {
			return "", fmt.Errorf("look for an earlier try: %w", err)
		}
		for _, m := range list {
			if m.Metadata.EventType == turnEvent && m.Metadata.EventPayload["post"] == p.ID.String() {
				return m.Timestamp, nil
			}
		}
		if cursor == "" {
			break
		}
	}
	return "", nil
}

// made is the end of a post that is out.
func (s *Surface) made(p store.Post, ts string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unsent, p.ID)
	return ts, nil
}

// surelyUnsent reports whether every earlier try of a post was refused, as far as this process knows.
func (s *Surface) surelyUnsent(post store.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsent[post]
}

// note keeps whether a post may be out.
func (s *Surface) note(p store.Post, refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused {
		s.unsent[p.ID] = p.Tries == 0 || s.unsent[p.ID]
	} else {
		delete(s.unsent, p.ID)
	}
}

// held is when a post's turn comes, nil for now: Slack's limits are kept before they are met.
func (s *Surface) held(p store.Post, method, channel string, gap time.Duration, burst int) error {
	wait := s.pace.wait(method, channel, p.ID, gap, burst)
	if wait <= 0 {
		return nil
	}
	s.note(p, true)
	return &engine.RetryAfter{After: wait, Err: fmt.Errorf("%s waits for its turn", method)}
}

// failed holds a method that is limited, and tells what an error means.
func (s *Surface) failed(method string, p store.Post, err error) error {
	if l, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		s.pace.hold(method, l.RetryAfter)
	}
	return s.outcome(p, err)
}

// outcome tells the engine what an error means for a post, and notes whether it may be out.
func (s *Surface) outcome(p store.Post, err error) error {
	if l, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		s.note(p, true)
		return &engine.RetryAfter{After: max(l.RetryAfter, time.Second), Err: err}
	}
	why := reason(err)
	switch why {
	case "", "internal_error", "fatal_error", "request_timeout", "service_unavailable", "update_failed": // it may have been done
		s.note(p, false)
		if p.Tries == 0 {
			return &engine.RetryAfter{After: settling, Err: err}
		}
		return err
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		s.note(p, true)
		return &engine.RetryAfter{After: limitedFor, Err: err}
	}
	s.note(p, true)
	if advice := advice("bot_token", why); advice != "" {
		s.down(advice)
		return &engine.RetryAfter{After: mendable, Err: fmt.Errorf("%w: %s", err, advice)}
	}
	if advice := blocked(why); advice != "" {
		return &engine.RetryAfter{After: mendable, Err: fmt.Errorf("%w: %s", err, advice)}
	}
	// Deleted, too old, not ours, archived, without the bot, or a form that will not get better.
	return fmt.Errorf("%w: %w", engine.ErrGone, err)
}

// down tells people that nothing can go out.
func (s *Surface) down(why string) {
	if e := s.engine.Load(); e != nil {
		e.SurfaceState(s.Name(), "down", why)
	}
}
