package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdfast/engine/ladder"
	"holdfast/store"
)

// askedCall is a call as an approval keeps it.
type askedCall struct {
	Key         string          `json:"key"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitzero"`
	Arguments   json.RawMessage `json:"args"`
	Destructive bool            `json:"destructive,omitzero"`
}

// askApproval asks a person whether calls may be made: the turn waits as a row, for days and over
// restarts if it must, and blocks nobody. A question that is open already stays as it is.
func (e *Engine) askApproval(ctx context.Context, r *run, t *store.Turn, calls []*toolCall, box toolbox) verdict {
	var asked []askedCall
	for _, c := range calls {
		spec, _ := box.spec(c.Name)
		asked = append(asked, askedCall{Key: c.key, Name: c.Name, Title: spec.Title, Arguments: c.Arguments, Destructive: spec.Destructive})
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return e.fail(ctx, r, "cannot answer this: the model's call of a tool cannot be read")
	}
	text := "May I do this? Say “!approve” or “!deny”.\n" + e.inWords(t.ID, asked)
	w := store.Waiting{
		Turn: t.ID, At: e.now(), State: store.Parked, Resumed: t.Resumed, FirstFailed: t.FirstFailed, RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: t.Episode,
		Wait: store.Wait{From: "approval"}, Reason: store.Reason{Why: "approval", Text: text}, Told: store.Told{Ask: &store.Approval{Kind: postApproval, Calls: body}},
	}
	old, err := e.noticeOf(t)
	if err != nil {
		return e.trouble(ctx, r, "read the notice", err)
	}
	if old == nil || old.Kind != postApproval || old.Text != text {
		post := e.noticeAs(t, old, text, 0)
		post.Kind = postApproval
		w.Posts = []store.Post{post}
	}
	e.Crash("waits")
	moved, err := e.storeWait(w)
	if err != nil {
		return e.unwritten(ctx, r, judged{decision: ladder.Decision{Wait: time.Minute}}, err)
	}
	e.Crash("waited")
	e.follow(t, moved)
	if len(w.Posts) > 0 {
		e.logNotice(t, &w.Posts[0], old != nil)
	}
	e.Log.Info("turn parked", "turn", t.ID.String(), "retry_at", "", "parks", t.Parks)
	return over
}

// Decision is a person's word on an approval.
type Decision struct {
	Approval store.ID
	By       string // the person, as the surface names people; "" = an operator at the page or the command line
	Allow    bool
	Command  *store.Command
}

// Decide stores a person's word, with who said it and when, and lets the turn go on. It is for who has asked
// the question and for operators: ErrNotYours else. store.ErrSettled, with the turn
// as it is, if it was decided before or the turn has ended.
func (e *Engine) Decide(ctx context.Context, d Decision) (store.Turn, error) {
	if err := ctx.Err(); err != nil {
		return store.Turn{}, err
	}
	a, err := e.Store.Approval(d.Approval)
	if err != nil {
		return store.Turn{}, err
	}
	before, err := e.ordered(ctx, Order{Turn: a.Turn, By: d.By})
	if err != nil {
		return before, err
	}
	var asked []askedCall
	if err := json.Unmarshal(a.Calls, &asked); err != nil {
		return before, fmt.Errorf("read an approval's calls: %w", err)
	}
	if a.Kind == postUnknown {
		return e.decideUnknown(ctx, d, a, before, asked)
	}
	said := decidedStep{Allow: d.Allow, By: d.By}
	for _, c := range asked {
		said.Keys = append(said.Keys, c.Key)
	}
	decided := store.Decision{Approval: a.ID, At: e.now(), Allow: d.Allow, Person: d.By, Step: line("decided", e.now(), said), Command: d.Command}
	if old, err := e.noticePost(before.ID); err != nil {
		return before, err
	} else if old != nil {
		decided.Posts = []store.Post{e.noticeAs(&before, old, decidedText(d), 0)}
	}
	after, err := e.Store.Decide(decided)
	if err != nil {
		return after, err
	}
	e.Log.Info("approval decided", "turn", after.ID.String(), "allowed", d.Allow)
	e.outbox.posted(decided.Posts...)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.move(after.Was, after.State)
	e.wakeLocked(after.ID, after.Conversation, "message", 0, false)
	e.pump()
	return after, nil
}

// decidedText takes the question's place until the answer comes.
func decidedText(d Decision) string {
	if d.Allow {
		return "Approved; on it."
	}
	return "Not approved; going on without."
}

// decideOn is Decide for who names a turn and not its approval: a button, "!approve".
func (e *Engine) decideOn(ctx context.Context, turn store.ID, kind, by string, allow bool) (store.Turn, error) {
	a, err := e.Store.OpenApproval(turn, kind)
	if err != nil {
		return store.Turn{}, err
	}
	return e.Decide(ctx, Decision{Approval: a.ID, By: by, Allow: allow})
}

// sayDecide is "!approve" and "!deny": about the newest question of the conversation that the person may decide.
func (e *Engine) sayDecide(ctx context.Context, by store.Turn, allow bool) (string, error) {
	open, err := e.Store.OpenTurns(by.Conversation)
	if err != nil {
		return "", err
	}
	foreign := false
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].Reason.Why != "approval" || !Waits(open[i].State) {
			continue
		}
		a, err := e.openApproval(open[i])
		if err != nil || a == nil || a.Kind != postApproval {
			continue
		}
		switch _, err := e.Decide(ctx, Decision{Approval: a.ID, By: by.Person, Allow: allow}); {
		case err == nil && allow:
			return "Approved:\n" + e.inWords(open[i].ID, a.asked()), nil
		case err == nil:
			return "Not approved:\n" + e.inWords(open[i].ID, a.asked()), nil
		case errors.Is(err, ErrNotYours):
			foreign = true
		case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrSettled):
			return "", err
		}
	}
	if foreign {
		return "", ErrNotYours
	}
	return "There is nothing to decide.", nil
}
