package engine

import (
	"context"
	"time"

	"holdfast/engine/ladder"
	"holdfast/store"
)

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

// refusing reports whether its key was refused lately; like everything that an account has stopped it
// is tried again once an hour.
func (g *gate) refusing(now time.Time) bool { return now.Before(g.rec.Refused.Add(accountAsk)) }

// alsoOpens is told of content that came to a turn which had waited for another model's account: who
// waits with it may ask too, since they have the same way out. Engine.mu is held.
func (e *Engine) alsoOpens(r *run) {
	g := e.gates[r.account]
	if g != nil && g != r.gate {
		e.mended(g)
	}
}

// mended lets in whom an account has stopped, since there is content: not twice within gate_cap, so that one
// that answers every other request is not asked without a pause. Engine.mu is held.
func (e *Engine) mended(g *gate) {
	now := e.Wall()
	if g.rec.AccountAsked.IsZero() || now.Sub(g.rec.Mended) < e.Retry.GateCap {
		return
	}
	g.rec.AccountAsked, g.rec.Opened, g.rec.Mended, g.dirty = time.Time{}, now, now, true
	e.letInSoon(g, "gate")
}

// accountGate is the gate at which a turn waits for an account to be mended, "" if it does not.
func accountGate(t *store.Turn) string {
	if t.State == store.Owed && t.Reason.Why == "account" {
		return t.Wait.Gate
	}
	return ""
}
