package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"holdfast/store"
)

// A call that was cut off and that must not be made again by itself: its model is told that nobody knows
// whether it has happened, and goes on. The person is told beside the answer, and may have it done
// after all, or leave it.

// unknownPart is where the post of a turn stands that tells of such calls: beside the notice, the answer
// and what does not fit into it.
const unknownPart = 1000

// cutOff is a call as the question has it.
func cutOff(c *toolCall) askedCall {
	one := askedCall{Key: c.key, Name: c.Name, Arguments: c.Arguments}
	if c.called != nil {
		one.Title, one.Destructive = c.called.Title, c.called.Destructive
	}
	return one
}

// askUnknown is the question about a turn's calls that were cut off, with some more, and the post that
// asks it.
func (e *Engine) askUnknown(t *store.Turn, more ...*toolCall) (*store.Approval, []store.Post) {
	var asked []askedCall
	if open, err := e.Store.OpenApproval(t.ID, postUnknown); err == nil {
		_ = json.Unmarshal(open.Calls, &asked) // of our own making
	}
	for _, c := range more {
		asked = append(asked, cutOff(c))
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, nil // of strings and valid JSON: cannot happen
	}
	old, err := e.unknownPost(t.ID)
	if err != nil {
		e.Log.Error("read the post about calls that were cut off", "turn", t.ID.String(), "err", err)
	}
	text := "I was cut off while doing this, and cannot tell whether it happened:\n" + e.inWords(t.ID, asked)
	return &store.Approval{Kind: postUnknown, Calls: body}, []store.Post{e.postOf(t, unknownPart, postUnknown, text, old)}
}

// unknownPost is the post that tells of a turn's calls that were cut off, nil if there is none.
func (e *Engine) unknownPost(turn store.ID) (*store.Post, error) {
	posts, err := e.Store.Posts(turn)
	for _, p := range posts {
		if p.Part == unknownPart {
			return &p, err
		}
	}
	return nil, err
}

// decideUnknown has calls that were cut off done after all, by a turn of its own whose journal begins with
// them, or leaves them. The turn is made first: its key makes it one, whatever happens in between.
func (e *Engine) decideUnknown(ctx context.Context, d Decision, a store.Approval, t store.Turn, asked []askedCall) (store.Turn, error) {
	if a.Decided != 0 {
		return t, store.ErrSettled
	}
	said := "Left as it is:\n" + e.inWords(t.ID, asked)
	if d.Allow {
		said = "Done after all:\n" + e.inWords(t.ID, asked)
		_, err := e.Receive(ctx, Incoming{
			Bot: t.Bot, Surface: t.Surface, Channel: t.Channel, Thread: t.Thread, Key: "do:" + a.ID.String(), Kind: kindButton, Person: t.Person, Lane: t.Lane, Trusted: d.By == "",
			Text: "[Holdfast: these calls were cut off before, and may or may not have happened. They are made now, since a person has asked for it; say what has come of them.]", calls: asked, decided: &decidedStep{All: true, Allow: true, By: d.By},
		})
		if err != nil {
			return t, err
		}
	}
	decided := store.Decision{Approval: a.ID, At: e.now(), Allow: d.Allow, Person: d.By, Command: d.Command}
	if old, err := e.unknownPost(t.ID); err != nil {
		return t, err
	} else if old != nil {
		decided.Posts = []store.Post{e.postOf(&t, unknownPart, postTold, said, old)}
	}
	after, err := e.Store.Decide(decided)
	if errors.Is(err, store.ErrSettled) {
		return after, err
	}
	e.outbox.posted(decided.Posts...)
	return after, err
}

// tellCutOff adds the question about calls that a stop cuts off and of which nobody knows then whether
// they have happened.
func (e *Engine) tellCutOff(t *store.Turn, s *store.Settled) error {
	if t.Calls == 0 {
		return nil
	}
	steps, err := e.Store.Steps(t.ID)
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(openCalls(toolCalls(t.ID, steps)), func(c *toolCall) bool { return c.called == nil || c.called.repeatable() })
	if len(lost) > 0 {
		var posts []store.Post
		s.Ask, posts = e.askUnknown(t, lost...)
		s.Posts = append(s.Posts, posts...)
	}
	return nil
}
