package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"holdfast/store"
)

// A question can be asked again, as it was or in other words. Either makes a new turn that takes the
// place of the old one: nothing is changed or deleted, but from then on the context of the
// conversation goes from what was said before the old turn straight to the new one.

// kindButton is the kind of an event that a press made: its text is asked, but nobody has said it.
const kindButton = "button"

// Regenerate asks a turn's question again; the answers that follow leave the old one out of their
// context, and all that came after it. It returns the new turn. store.ErrBusy while the old turn, or
// a later one of its conversation, is not done.
func (e *Engine) Regenerate(ctx context.Context, o Order) (store.Turn, error) {
	t, err := e.ordered(ctx, o)
	if err != nil {
		return t, err
	}
	return e.fork(ctx, o, t, kindButton, "")
}

// EditMessage gives the question that made a turn other words. Until the first step of the answer
// the question itself is changed and the turn goes on; after it, if the turn is done, a new turn
// asks in the new words, as Regenerate does. It returns the turn that answers. store.ErrBegun while
// the answer is under way.
func (e *Engine) EditMessage(ctx context.Context, o Order, text string) (store.Turn, error) {
	t, err := e.ordered(ctx, o)
	if err != nil {
		return t, err
	}
	answers, err := e.answering(t)
	if err != nil {
		return t, err
	}
	if answers.State != store.Done {
		return e.reword(answers.ID, t.ID, text, o.Command)
	}
	return e.fork(ctx, o, t, "message", text)
}

// answering is the turn that answers t's message: t itself, or the one it was merged into.
func (e *Engine) answering(t store.Turn) (store.Turn, error) {
	if t.MergedInto == 0 {
		return t, nil
	}
	return e.Store.Turn(t.MergedInto)
}

// fork makes the new turn; with text that is what t's message now says. What else was asked with it
// is asked again too.
func (e *Engine) fork(ctx context.Context, o Order, t store.Turn, kind, text string) (store.Turn, error) {
	old, err := e.answering(t)
	if err != nil {
		return t, err
	}
	history, err := e.Store.History(old.Conversation, old.ID, 1)
	if err != nil {
		return t, err
	}
	var said []string
	name := ""
	for _, x := range history {
		for _, ev := range x.Events {
			switch {
			case x.Turn != old.ID:
			case ev.ID == t.ID && text != "":
				said = append(said, text)
			case ev.Text != "":
				said = append(said, ev.Text)
			}
			name = cmp.Or(name, ev.Name)
		}
	}
	if len(said) == 0 {
		return t, fmt.Errorf("%w: nothing was asked that could be asked again", store.ErrNotFound)
	}
	key := rand.Text()
	if o.Command != nil {
		key = o.Command.ID
	}
	a, err := e.Receive(ctx, Incoming{
		Bot: old.Bot, Surface: old.Surface, Channel: old.Channel, Thread: old.Thread, Key: "again:" + key, Kind: kind, Person: cmp.Or(o.By, old.Person),
		Name: name, Text: strings.Join(said, "\n\n"), Lane: old.Lane, Trusted: o.By == "", Command: o.Command, supersedes: old.ID,
	})
	if err != nil {
		return t, err
	}
	return e.Store.Turn(a.Turn)
}

// withoutSuperseded leaves out what was asked anew, and all that came after it until then.
func withoutSuperseded(history []store.Exchange) []store.Exchange {
	kept := make([]store.Exchange, 0, len(history))
	for _, x := range history {
		for x.Supersedes != 0 && len(kept) > 0 && kept[len(kept)-1].Turn >= x.Supersedes {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, x)
	}
	return kept
}
