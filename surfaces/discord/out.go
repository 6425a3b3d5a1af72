package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/discord/gateway"
	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/door"
)

// Post makes a message, once: what an earlier try has made is found by its nonce, and when Discord
// may have forgotten that, in the channel.
func (s *Surface) Post(ctx context.Context, to engine.Place, p store.Post) (handle string, err error) {
	o, err := s.prepare(ctx, to, p)
	if err != nil {
		return "", err
	}
	others, err := s.door.Handles(p.Turn)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	t := rest.Try{Name: name(p), Again: p.Tries > 0, Since: p.Created.Go(), Self: s.me, Not: others}
	s.mu.Unlock()
	if p.Created == 0 { // an alert
		t.Since = time.Now().Add(-time.Hour)
	}
	handle, err = s.rest.Once(ctx, to.Channel, o, t)
	return handle, s.outcome(err)
}

// Edit gives a message of ours the text that it must have now.
func (s *Surface) Edit(ctx context.Context, to engine.Place, p store.Post) error {
	o, err := s.prepare(ctx, to, p)
	if err != nil {
		return err
	}
	return s.outcome(s.rest.Change(ctx, to.Channel, p.Handle, o, name(p)))
}

// name is a message's, for its nonces: an alert's messages have one id.
func name(p store.Post) string { return fmt.Sprintf("hf-%s-%d", p.ID, p.Part) }

// prepare ends the sign of the post's turn and returns the message that it must be.
func (s *Surface) prepare(ctx context.Context, to engine.Place, p store.Post) (o rest.Outgoing, err error) {
	if err := s.door.Wait(ctx); err != nil {
		return o, err
	}
	s.typing.Quiet(ctx, to.Channel, int64(p.Turn))
	o = rest.Outgoing{Content: p.Text, Mentions: rest.Notify(), Rows: buttons(p)}
	if strings.TrimSpace(o.Content) == "" {
		o.Content = "…" // Discord takes no empty message
	}
	if p.Kind == "mention" {
		o.Mentions = rest.Notify(rest.MentionedIn(p.Text)...)
		return o, nil
	}
	if p.Part == 0 && p.Handle == "" {
		id := s.door.Asked(p.Conversation, p.Turn)
		if id != "" && !strings.HasPrefix(keyMessage+id, keyPress) {
			o.ReplyTo = &rest.Reference{Message: id}
		}
	}
	return o, nil
}

// outcome tells the engine what an error means for a post.
func (s *Surface) outcome(err error) error {
	if l, ok := errors.AsType[*rest.Limited](err); ok {
		return &engine.RetryAfter{After: l.After, Err: err}
	}
	switch {
	case rest.BadToken(err):
		fatal := gateway.ForGood(gateway.BadToken)
		s.door.State("down", fatal.Error())
		return &engine.RetryAfter{After: door.Mendable, Err: fatal}
	case rest.CodeOf(err) == rest.MissingPermissions:
		return &engine.RetryAfter{After: door.Mendable, Err: fmt.Errorf("%w; give the bot Send Messages and Send Messages in Threads in that channel", err)}
	case rest.Refused(err): // unknown, closed to the bot, deleted, archived, or a form that will not get better
		return fmt.Errorf("%w: %w", engine.ErrGone, err)
	}
	return err
}

// Working shows or hides that the bot is typing.
func (s *Surface) Working(to engine.Place, turn store.ID, on bool) {
	s.typing.Set(to.Channel, int64(turn), on)
}

// Draft shows nothing: an edit for every piece of an answer would use up what Discord allows.
func (s *Surface) Draft(engine.Place, store.ID, string) {}
