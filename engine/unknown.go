package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"holdfast/store"
)

// A call that was cut off and that must not be made again by itself: its model is told that nobody knows
// whether it has happened, and goes on. The person is told beside the answer, and may have it done
// after all, or leave it.

// unknownPart is where the post of a turn stands that tells of such calls: beside the notice, the answer
// and what does not fit into it.
const unknownPart = 1000

// askUnknown is the question about a turn's calls that were cut off, with one more, and the post that
// asks it.
func (e *Engine) askUnknown(t *store.Turn, c *toolCall) (*store.Approval, []store.Post) {
	one := askedCall{Key: c.key, Name: c.Name, Arguments: c.Arguments}
	if c.called != nil {
		one.Title, one.Destructive = c.called.Title, c.called.Destructive
	}
	asked := []askedCall{one}
	if open, err := e.Store.OpenApproval(t.ID, postUnknown); err == nil {
		var before []askedCall
		_ = json.Unmarshal(open.Calls, &before) // of our own making
		asked = append(before, one)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, nil // of strings and valid JSON: cannot happen
	}
	post := store.Post{Turn: t.ID, Conversation: t.Conversation, Part: unknownPart, Kind: postUnknown, State: "pending", Text: "I was cut off while doing this, and cannot tell whether it happened: " + inWords(asked)}
	if surface, _ := e.place(t); surface != nil && surface.Traits().Local {
		post.State = "done"
	}
	if old, err := e.unknownPost(t.ID); err == nil && old != nil {
		post.ID, post.Handle = old.ID, old.Handle
	}
	return &store.Approval{Kind: postUnknown, Calls: body}, []store.Post{post}
}

// inWords is a list of calls in one line that does no harm.
func inWords(calls []askedCall) string {
	var words []string
	for _, c := range calls {
		words = append(words, harmless(titleOf(c.Title, c.Name), 80)+" "+harmless(string(c.Arguments), argumentsShown))
	}
	return strings.Join(words, "; ")
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

// decideUnknown has calls that were cut off done after all, by a turn of its own that says so to the
// model, or leaves them. The turn is made first: its key makes it one, whatever happens in between.
func (e *Engine) decideUnknown(ctx context.Context, d Decision, t store.Turn, asked []askedCall) (store.Turn, error) {
	a, err := e.Store.Approval(d.Approval)
	if err != nil {
		return t, err
	}
	if a.Decided != 0 {
		return t, store.ErrSettled
	}
	said := "Left as it is: " + inWords(asked)
	if d.Allow {
		said = "Asked for again: " + inWords(asked)
		_, err := e.Receive(ctx, Incoming{
			Bot: t.Bot, Surface: t.Surface, Channel: t.Channel, Thread: t.Thread, Key: "do:" + a.ID.String(), Kind: kindButton, Person: t.Person, Lane: t.Lane, Trusted: d.By == "",
			Text: fmt.Sprintf("[Holdfast: these calls were cut off, and may or may not have happened. You are asked to make them now: %s]", calls(asked)),
		})
		if err != nil {
			return t, err
		}
	}
	decided := store.Decision{Approval: a.ID, At: e.now(), Allow: d.Allow, Person: d.By, Command: d.Command}
	if old, err := e.unknownPost(t.ID); err != nil {
		return t, err
	} else if old != nil {
		old.Text, old.Kind, old.State = said, postTold, "pending"
		if surface, _ := e.place(&t); surface != nil && surface.Traits().Local {
			old.State = "done"
		}
		decided.Posts = []store.Post{*old}
	}
	after, err := e.Store.Decide(decided)
	if errors.Is(err, store.ErrSettled) {
		return after, err
	}
	e.outbox.poke()
	return after, err
}

// calls are calls as a model reads them.
func calls(asked []askedCall) string {
	var words []string
	for _, c := range asked {
		words = append(words, c.Name+" with "+string(c.Arguments))
	}
	return strings.Join(words, "; ")
}
