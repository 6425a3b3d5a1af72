package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/slack/api"
)

// settling is the wait after a lost answer: the request may still be on its way.
const settling = 2 * time.Second

// Post makes a message, once: where an earlier try may have gone through, its message is looked for.
func (s *Surface) Post(ctx context.Context, to engine.Place, p store.Post) (string, error) {
	if err := s.door.Wait(ctx); err != nil {
		return "", err
	}
	ts, err := s.api.Once(ctx, outgoing(to, p), api.Try{Again: p.Tries > 0, Since: p.Created.Go(), Edit: p.Edited != 0})
	if err == nil {
		s.signs.Hide(p.Turn.String(), p.Tries > 0) // the message itself has taken it away
	}
	return ts, s.outcome(p, err)
}

// Edit gives a message of ours the text that it must have now.
func (s *Surface) Edit(ctx context.Context, to engine.Place, p store.Post) error {
	if err := s.door.Wait(ctx); err != nil {
		return err
	}
	err := s.api.Update(ctx, p.Handle, outgoing(to, p))
	if err == nil {
		s.signs.Hide(p.Turn.String(), true)
	}
	return s.outcome(p, err)
}

// works tells people that a post has met what somebody must mend, and when it is mended: the socket
// notices neither.
func (s *Surface) works(wrong error) {
	s.mu.Lock()
	mended := s.broken && wrong == nil && !s.over
	s.broken = wrong != nil
	s.mu.Unlock()
	if wrong != nil {
		s.door.State("down", wrong.Error())
	} else if mended {
		s.door.State("connected", "")
	}
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

// outcome tells the engine what an error means for a post.
func (s *Surface) outcome(p store.Post, err error) error {
	if err == nil {
		s.works(nil)
		return nil
	}
	verdict, err := api.Judge(err)
	switch verdict {
	case api.Later:
		l, _ := errors.AsType[*api.Limited](err)
		return &engine.RetryAfter{After: l.After, Err: err}
	case api.Mend:
		if api.Lasting("bot_token", err) != nil {
			s.works(err)
		}
		return &engine.RetryAfter{After: door.Mendable, Err: err}
	case api.Never:
		return fmt.Errorf("%w: %w", engine.ErrGone, err)
	}
	if p.Tries == 0 {
		return &engine.RetryAfter{After: settling, Err: err}
	}
	return err
}

// Working shows or hides the sign that a turn is being worked on.
func (s *Surface) Working(to engine.Place, turn store.ID, on bool) {
	if on {
		s.signs.Show(turn.String(), api.Sign{Channel: to.Channel, Thread: to.Thread, Asked: func() string { return s.asked(to, turn) }})
	} else {
		s.signs.Hide(turn.String(), true)
	}
}

// Draft is a sign of life: Slack shows no text so far, since a message that streams cannot be edited
// afterwards.
func (s *Surface) Draft(_ engine.Place, turn store.ID, _ string) { s.signs.Alive(turn.String()) }

// asked is the ts of the message that a turn answers; "" if it was none of Slack's.
func (s *Surface) asked(to engine.Place, turn store.ID) string {
	key := s.door.Asked(to.Conversation, turn)
	return key[strings.LastIndex(key, ":")+1:]
}
