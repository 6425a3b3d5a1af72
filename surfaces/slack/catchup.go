package slack

import (
	"context"
	"errors"
	"slices"
	"time"

	slackapi "github.com/slack-go/slack"
)

// Bounds of catching up.
const (
	catchUpTurns   = 50               // of one conversation
	catchUpPage    = 100              // of a channel: its newest messages
	catchUpThreads = 100              // of a channel: threads that are looked into
	catchUpOverlap = 10 * time.Minute // what may still have been on its way when the last process ended
)

// catchUp takes in what was said while no line stood (S2). What is known already changes nothing. Of
// a channel the newest messages are read, and the threads that have grown since: those among them
// and those where the bot has been spoken to.
func (s *Surface) catchUp(ctx context.Context) {
	s.taking.Lock()
	seen := s.memory.Seen
	if seen == "" { // the first start: nothing was missed
		s.memory.saw("", tsOf(time.Now()))
	}
	s.taking.Unlock()
	if seen == "" || s.cfg.CatchUp <= 0 {
		return
	}
	since := max(tsOf(timeOf(seen).Go().Add(-catchUpOverlap)), tsOf(time.Now().Add(-s.cfg.CatchUp)))
	threads := s.knownThreads(since)
	for _, channel := range s.channels(ctx) {
		if err := s.catchUpChannel(ctx, channel, since, threads[channel]); err != nil && ctx.Err() == nil {
			s.Log.Warn("a channel could not be caught up", "surface", s.Name(), "channel", channel, "err", err)
		}
	}
}

// channels are those the bot is in, if it may ask, and those where it has heard something.
func (s *Surface) channels(ctx context.Context) []string {
	s.taking.Lock()
	list := slices.Clone(s.memory.Channels)
	s.taking.Unlock()
	p := &slackapi.GetConversationsForUserParameters{Types: []string{"public_channel", "private_channel", "mpim", "im"}, Limit: 200, ExcludeArchived: true}
	for {
		var found []slackapi.Channel
		var next string
		err := s.patiently(ctx, func() (err error) {
			found, next, err = s.api.GetConversationsForUserContext(ctx, p)
			return err
		})
		if err != nil {
			s.Log.Info("the bot's channels cannot be listed; those where it has heard something are caught up", "surface", s.Name(), "err", err)
			return list
		}
		for _, c := range found {
			if !slices.Contains(list, c.ID) {
				list = append(list, c.ID)
			}
		}
		if p.Cursor = next; next == "" || len(list) >= channelsKept {
			return list
		}
	}
}

// knownThreads are those where the bot has been spoken to of late, by channel.
func (s *Surface) knownThreads(since string) map[string][]string {
	known := map[string][]string{}
	chats, err := s.engine.Load().Store.Chats(0, 500)
	if err != nil {
		s.Log.Error("conversations cannot be read", "surface", s.Name(), "err", err)
	}
	oldest := timeOf(since).Add(-7 * 24 * time.Hour)
	for _, c := range chats {
		if c.Surface == s.Name() && c.Thread != "" && c.Active > oldest {
			known[c.Channel] = append(known[c.Channel], c.Thread)
		}
	}
	return known
}

func (s *Surface) catchUpChannel(ctx context.Context, channel, since string, threads []string) error {
	var page *slackapi.GetConversationHistoryResponse
	err := s.patiently(ctx, func() (err error) {
		page, err = s.api.GetConversationHistoryContext(ctx, &slackapi.GetConversationHistoryParameters{ChannelID: channel, Limit: catchUpPage})
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range page.Messages {
		if m.LatestReply > since && !slices.Contains(threads, m.Timestamp) {
			threads = append(threads, m.Timestamp)
		}
	}
	slices.Reverse(page.Messages) // oldest first
	if err := s.takeAll(ctx, channel, since, page.Messages); err != nil {
		return err
	}
	for _, root := range threads[:min(len(threads), catchUpThreads)] {
		var replies []slackapi.Message
		err := s.patiently(ctx, func() (err error) {
			replies, _, _, err = s.api.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{ChannelID: channel, Timestamp: root, Oldest: since, Limit: catchUpPage})
			return err
		})
		if err == nil {
			err = s.takeAll(ctx, channel, since, replies)
		}
		if err != nil && reason(err) == "" {
			return err
		}
	}
	return nil
}

// takeAll takes in what a list has for the bot, oldest first; of each conversation the newest only.
func (s *Surface) takeAll(ctx context.Context, channel, since string, list []slackapi.Message) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	var chosen []event
	count := map[string]int{}
	for _, m := range slices.Backward(list) {
		e := eventOf(channel, m)
		if e.TS <= since || !s.wants(e) || count[e.thread()] == catchUpTurns {
			continue
		}
		count[e.thread()]++
		chosen = append(chosen, e)
	}
	for _, e := range slices.Backward(chosen) {
		if err := s.take(ctx, e); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		s.memory.saw(channel, list[len(list)-1].Timestamp)
	}
	return nil
}

// eventOf is a message of a history as the event that it was.
func eventOf(channel string, m slackapi.Message) event {
	e := event{
		Type: "message", SubType: m.SubType, Channel: channel, User: m.User, Bot: m.BotID, Text: m.Text, TS: m.Timestamp,
		Thread: m.ThreadTimestamp, Sent: m.ClientMsgID, Team: m.Team,
	}
	for _, f := range m.Files {
		e.Files = append(e.Files, struct{ Name, Title string }{f.Name, f.Title})
	}
	return e
}

// patiently asks again when Slack says when.
func (s *Surface) patiently(ctx context.Context, ask func() error) error {
	for {
		err := ask()
		limited, ok := errors.AsType[*slackapi.RateLimitedError](err)
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
