package door

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

const (
	// LateEdit is how old a message may be when an edit that adds the first mention still makes a turn.
	LateEdit = 15 * time.Minute

	// CatchUpTurns are made of one conversation at most when it is caught up.
	CatchUpTurns = 50
)

// Receive hands a message to the engine, which has stored it when this returns; whose it is and the
// surface are filled in, and without a Title it is a direct message. It reports whether it is taken
// in: not if the config does not have the bot. The error says that it must come again.
func (d *Door) Receive(ctx context.Context, in engine.Incoming) (taken bool, err error) {
	in.Bot, in.Surface, in.Title = d.bot, d.name, cmp.Or(in.Title, "Direct messages")
	if in.Text == "" && len(in.Dropped) == 0 {
		in.Text = "(a mention without words)"
	}
	_, err = d.engine.Receive(ctx, in)
	if errors.Is(err, engine.ErrNoBot) {
		d.log.Error("a message has no bot to answer it", "surface", d.name, "err", err)
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("take in %s: %w", in.Key, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.talks[place{in.Channel, in.Thread}] = true
	return true, nil
}

// Edited changes the question that a message asked (S10), unless it is too late for that. It reports
// whether the message has asked none: then the edit may have added the mention.
func (d *Door) Edited(ctx context.Context, key, words string) (fresh bool, err error) {
	err = d.engine.EditQuestion(ctx, d.bot, key, words)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return true, nil
	case err != nil && !engine.TooLate(err):
		return false, fmt.Errorf("change %s: %w", key, err)
	}
	return false, nil
}

// Deleted cancels the waiting turn of a message that is no more (S10), unless it answers others too.
func (d *Door) Deleted(ctx context.Context, key string) {
	if err := d.engine.DeleteQuestion(ctx, d.bot, key); err != nil && !engine.TooLate(err) {
		d.log.Warn("a deleted message's turn could not be cancelled", "surface", d.name, "err", err)
	}
}

// WithFiles is a text with the names of what came along; "" if there is neither.
func WithFiles(text string, files []string) string {
	for _, name := range files {
		text += " [file: " + name + "]"
	}
	return strings.TrimSpace(text)
}
