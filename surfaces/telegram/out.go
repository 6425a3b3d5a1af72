package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/telegram/bot"
)

// sendsInDoubt is how often a message is sent while it is not known whether one has arrived.
const sendsInDoubt = 2

// Post makes a message. If an earlier try may have gone through, a mere notice is not sent again (the
// answer then comes as a message of its own), and anything else once more: two copies at the worst
// rather than none. After that it has failed, and says so.
func (s *Surface) Post(ctx context.Context, to engine.Place, p store.Post) (string, error) {
	o, err := s.outgoing(ctx, to, p)
	if err != nil {
		return "", err
	}
	n := s.doubtsOf(p)
	switch {
	case n > 0 && engine.IsNotice(p.Kind):
		return "", nil
	case n >= sendsInDoubt:
		return "", fmt.Errorf("%w: it was sent twice and confirmed neither time; it may be there", engine.ErrGone)
	}
	handle, err := s.bot.Make(ctx, o)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := errors.AsType[bot.Doubt](err); ok {
		n++
	}
	remember(s.doubts, p.ID, n)
	if err == nil {
		delete(s.doubts, p.ID)
	}
	return handle, outcome(err)
}

// doubtsOf counts tries of a post whose outcome is unknown; of an earlier process's only that there
// was one.
func (s *Surface) doubtsOf(p store.Post) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, known := s.doubts[p.ID]; known || p.Tries == 0 {
		return n
	}
	return 1
}

// Edit gives a message of ours the text that it must have now. That can be repeated at will.
func (s *Surface) Edit(ctx context.Context, to engine.Place, p store.Post) error {
	o, err := s.outgoing(ctx, to, p)
	if err != nil {
		return err
	}
	o.ID = p.Handle
	return outcome(s.bot.Edit(ctx, o))
}

// outgoing is the message that a post must be. It ends the sign of the post's turn.
func (s *Surface) outgoing(ctx context.Context, to engine.Place, p store.Post) (o bot.Outgoing, err error) {
	if err := s.door.Wait(ctx); err != nil {
		return o, err
	}
	s.Working(to, p.Turn, false)
	o = bot.Outgoing{Chat: to.Channel, Topic: to.Thread, Text: p.Text, Mode: "HTML", Preview: bot.Preview{Off: true}}
	if strings.TrimSpace(o.Text) == "" {
		o.Text = "…" // Telegram takes no empty message
	}
	if engine.IsNotice(p.Kind) { // a plain sentence
		o.Mode, o.Keyboard = "", buttons(p)
	}
	if group := strings.HasPrefix(to.Channel, "-"); group && p.Part == 0 && p.Kind != "mention" {
		o.ReplyTo = s.asked(p)
	}
	return o, nil
}

// asked is the message that a post answers; nil if it was none.
func (s *Surface) asked(p store.Post) *bot.Reply {
	_, id, _ := strings.Cut(s.door.Asked(p.Conversation, p.Turn), ":")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	return &bot.Reply{ID: n, Anyway: true}
}

// outcome tells the engine what an error means for a post.
func outcome(err error) error {
	switch r := bot.Refusal(err); {
	case r == nil:
		return err
	case r.RetryAfter > 0:
		return &engine.RetryAfter{After: r.RetryAfter, Err: err}
	case bot.BadToken(err):
		return &engine.RetryAfter{After: door.Mendable, Err: fmt.Errorf("send: %s", bot.NewToken)}
	case r.Code == 429 || r.Code >= 500:
		return err
	}
	// Deleted or too old to be edited, the bot blocked or removed, the chat gone, or a form that will not get better.
	return fmt.Errorf("%w: %w", engine.ErrGone, err)
}

// Working shows or hides that the bot is typing.
func (s *Surface) Working(to engine.Place, turn store.ID, on bool) {
	s.typing.Set(bot.Where{Chat: to.Channel, Topic: to.Thread}, int64(turn), on)
}

// Draft shows nothing: Telegram allows too few edits.
func (s *Surface) Draft(engine.Place, store.ID, string) {}
