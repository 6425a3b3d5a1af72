package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdfast/engine/ladder"
	"holdfast/store"
)

// askWhetherWanted lets an owed turn whose last message is old ask, by its notice, whether it is
// still wanted, instead of running by itself (R13). It then waits for a reply, a button or an operator.
func (e *Engine) askWhetherWanted(ctx context.Context, r *run, t *store.Turn) verdict {
	asked, err := e.question(t)
	if err != nil {
		return e.trouble(ctx, r, "read the question", err)
	}
	w := store.Waiting{
		Turn: t.ID, At: e.now(), State: store.Owed, Resumed: t.Resumed, FirstFailed: t.FirstFailed, RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: t.Episode,
		Wait: store.Wait{From: "approval"}, Reason: t.Reason,
	}
	w.Reason.Why, w.Reason.Text = "stale", fmt.Sprintf("I can answer now; you asked %s ago: “%s” Still wanted?", age(w.At.Sub(t.Spoken)), asked)
	old, err := e.noticeOf(t)
	if err != nil {
		return e.trouble(ctx, r, "read the notice", err)
	}
	w.Posts = []store.Post{e.noticeAs(t, old, w.Reason.Text+" Say yes, or !stop to drop it.", 0)}
	w.Posts[0].Kind = postStale
	moved, err := e.storeWait(w)
	if err != nil {
		return e.unwritten(ctx, r, judged{decision: ladder.Decision{Wait: time.Minute}}, err)
	}
	e.follow(t, moved)
	e.logNotice(t, &w.Posts[0], old != nil)
	e.Log.Info("turn owed", "turn", t.ID.String(), "why", "stale")
	return over
}

// asksWhetherWanted reports a turn that waits for the answer to that question and for nothing else.
func asksWhetherWanted(t *store.Turn) bool {
	return t.State == store.Owed && t.Reason.Why == "stale"
}

// question is the beginning of what a turn was asked.
func (e *Engine) question(t *store.Turn) (string, error) {
	asked, err := e.Store.Asked(t.ID)
	if err != nil || len(asked) == 0 {
		return "", err
	}
	text := []rune(strings.Join(strings.Fields(asked[0].Text), " "))
	return string(text[:min(len(text), questionShown)]), nil
}

// questionShown is how many characters of an old question are repeated.
const questionShown = 80

// age is a duration as people say it.
func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d/time.Hour))
	}
	return fmt.Sprintf("%d minutes", int(d/time.Minute))
}
