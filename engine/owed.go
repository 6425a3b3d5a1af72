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

// accountAsk is how often one of the turns that an account has stopped asks again (F13).
const accountAsk = time.Hour

// accountWaits lets one turn in an hour ask at an account that refuses; until is when this one may. Where
// another model of its chain is usable again it may at once, and otherwise no later than one can be.
func (e *Engine) accountWaits(r *run, t *store.Turn) (until store.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g, bot := e.gates[t.Wait.Gate], e.bots[t.Bot]
	if g == nil || bot == nil || !g.ofModel() || e.gateOf(g.model()) != g { // its key, or the config, has changed
		return 0
	}
	now := e.Wall()
	if _, ok := e.fallback(r, bot, g.model()); ok {
		return 0
	}
	if next := g.rec.AccountAsked.Add(accountAsk); now.Before(next) {
		return sooner(store.At(next), e.otherModel(bot, g.model()))
	}
	g.rec.AccountAsked, g.dirty = now, true
	return 0
}

// otherModel is when a turn whose account at one model of its chain refuses may ask another one, which was
// only busy: at the end of what closes it, and like every owed turn gate_cap from now at the earliest. 0 if
// there is none. Engine.mu is held.
func (e *Engine) otherModel(bot *Bot, refuses string) (at store.Time) {
	now := e.Wall()
	for _, m := range bot.Models {
		s := e.serviceOf(m)
		if m == refuses || s == nil || s.NoKey {
			continue
		}
		g := e.gateOf(m)
		if g.refusing(now) || !g.rec.AccountAsked.IsZero() { // its own account is no better
			continue
		}
		next := max(g.end(store.At(now)), store.At(now.Add(e.Retry.GateCap)))
		if g.cooling(now) {
			next = max(next, store.At(g.rec.CoolUntil))
		}
		at = sooner(at, next)
	}
	return at
}

// sooner is the earlier of two moments, where 0 is never.
func sooner(a, b store.Time) store.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// waitForAccount lets an owed turn wait for its turn to ask.
func (e *Engine) waitForAccount(ctx context.Context, r *run, t *store.Turn, until store.Time) verdict {
	w := store.Waiting{
		Turn: t.ID, At: e.now(), State: store.Owed, Resumed: t.Resumed, FirstFailed: t.FirstFailed, RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: t.Episode,
		Wait: store.Wait{RetryAt: until, Gate: t.Wait.Gate, From: "gate", MS: int64(until - e.now())}, Reason: t.Reason,
	}
	moved, err := e.storeWait(w)
	if err != nil {
		return e.unwritten(ctx, r, judged{decision: ladder.Decision{Wait: time.Minute}}, err)
	}
	e.follow(t, moved)
	e.asRow(t, until)
	return over
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
