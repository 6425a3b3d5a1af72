package slack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/slack/api"
)

const (
	settling = 2 * time.Second // after a lost answer: the request may still be on its way
	mendable = 5 * time.Minute // between two tries at what somebody must mend
)

// Post makes a message. Slack knows no idempotency key: every message carries its post's id as
// metadata, and where an earlier try may have gone through the conversation is read first.
func (s *Surface) Post(ctx context.Context, to engine.Place, p store.Post) (string, error) {
	m := outgoing(to, p)
	if p.Tries > 0 && !s.surelyUnsent(p.ID) {
		ts, err := s.api.Find(ctx, to.Channel, to.Thread, m.Post, p.Created.Go())
		switch {
		case err != nil:
			return "", s.outcome(p, err)
		case ts != "" && p.Edited == 0:
			s.note(p, false)
			return ts, nil
		case ts != "": // its text may be an older one
			err := s.outcome(p, s.api.Update(ctx, ts, m))
			if !errors.Is(err, engine.ErrGone) {
				return ts, err
			}
		}
	}
	ts, err := s.api.Post(ctx, m)
	if err != nil {
		return "", s.outcome(p, err)
	}
	s.note(p, false)
	s.works(nil)
	s.signs.Hide(p.Turn.String(), false)
	return ts, nil
}

// works tells people that a post has met what somebody must mend, and when it is mended: the socket does
// not notice either.
func (s *Surface) works(wrong error) {
	s.mu.Lock()
	mended := s.broken && wrong == nil && !s.over
	s.broken = wrong != nil
	s.mu.Unlock()
	switch e := s.engine.Load(); {
	case e == nil:
	case wrong != nil:
		e.SurfaceState(s.Name(), "down", wrong.Error())
	case mended:
		e.SurfaceState(s.Name(), "connected", "")
	}
}

// Edit gives a message of ours the text that it must have now.
func (s *Surface) Edit(ctx context.Context, to engine.Place, p store.Post) error {
	err := s.outcome(p, s.api.Update(ctx, p.Handle, outgoing(to, p)))
	if err == nil {
		s.signs.Hide(p.Turn.String(), true)
	}
	return err
}

// outgoing is what a post says: an answer in Markdown; a notice, with its buttons and its clock, and a
// mention in Slack's own markup, since Markdown shows neither.
func outgoing(to engine.Place, p store.Post) api.Message {
	m := api.Message{Channel: to.Channel, Thread: to.Thread, Turn: p.Turn.String(), Part: p.Part, Post: p.ID.String()}
	if engine.IsNotice(p.Kind) || p.Kind == "mention" {
		m.Text, m.Buttons = p.Text, buttons(p)
	} else {
		m.Markdown = p.Text
	}
	return m
}

// surelyUnsent reports whether every earlier try of a post was refused, as far as this process knows.
func (s *Surface) surelyUnsent(post store.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsent[post]
}

// note keeps whether the tries of a post so far were all refused.
func (s *Surface) note(p store.Post, refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused = refused && (p.Tries == 0 || s.unsent[p.ID]); refused {
		s.unsent[p.ID] = true
	} else {
		delete(s.unsent, p.ID)
	}
}

// outcome tells the engine what an error means for a post, and notes whether it may be out.
func (s *Surface) outcome(p store.Post, err error) error {
	if err == nil {
		s.works(nil)
		return nil
	}
	verdict, err := api.Judge(err)
	s.note(p, verdict != api.Unsure)
	switch verdict {
	case api.Later:
		l, _ := errors.AsType[*api.Limited](err)
		return &engine.RetryAfter{After: l.After, Err: err}
	case api.Mend:
		if api.Lasting("bot_token", err) != nil {
			s.works(err)
		}
		return &engine.RetryAfter{After: mendable, Err: err}
	case api.Never:
		return fmt.Errorf("%w: %w", engine.ErrGone, err)
	}
	if p.Tries == 0 {
		return &engine.RetryAfter{After: settling, Err: err}
	}
	return err
}
