package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// episode is what is stored of a turn's episode: the ladder's record and the notice's clock.
type episode struct {
	ladder.Episode
	GateSince time.Time `json:"gate_since,omitzero"` // began to wait at a gate without a failure of its own
	OneShot   bool      `json:"one_shot,omitzero"`   // re-armed or owed: one request per usable model until a step completes
	Owes      bool      `json:"owes,omitzero"`       // everything is spent
	Before    int       `json:"before,omitzero"`     // requests that the turn had made before its first failed one
	Waits     waitRun   `json:"waits,omitzero"`
}

// episodeOf reads a turn's; one that cannot be read begins anew.
func episodeOf(t store.Turn) episode {
	var ep episode
	if len(t.Episode) > 0 {
		_ = json.Unmarshal(t.Episode, &ep)
	}
	return ep
}

func (ep episode) bytes() []byte {
	b, _ := json.Marshal(ep) // of numbers, times and strings: cannot fail
	return b
}

// judged is everything that is known after a failed request.
type judged struct {
	failure  *llm.Failure
	decision ladder.Decision
	ep       episode
	gates    []store.Gate
	attempt  *store.AttemptEnd // nil: no request has ended with it
	gateKey  string
	gateEnd  store.Time // 0 = open
	at       store.Time // when it was judged: from here on the wait runs
	other    store.Time // an account's failure: when another model of the chain may be asked; 0 = there is none
}

// afterFailure lets the ladder decide on a failed request and carries the decision out.
func (e *Engine) afterFailure(ctx context.Context, r *run, g *gate, t *store.Turn, bot *Bot, n int, f *llm.Failure) (verdict, bool) {
	if cause := context.Cause(ctx); errors.Is(cause, errStop) || errors.Is(cause, errShutdown) {
		e.exit(r) // settled by whoever stopped it, or taken up again at the next start
		return over, false
	} else if ctx.Err() == nil && r.wasCut(f) {
		return e.afterCut(ctx, r, t, n)
	} else if ctx.Err() == nil && f.Class == llm.Canceled && e.Config.TurnDeadline <= r.spentNow() {
		f = &llm.Failure{Class: llm.Canceled, Text: "deadline"}
	}
	e.countAnew(r, t)
	j := e.judge(r, g, t, bot, n, f)
	e.countStated(r, &j.ep, f, j.decision)
	e.exhausted(t, f, j.decision)
	if j.decision.Do == ladder.End || j.decision.Do == ladder.Owe {
		e.Log.Info("turn not re-armed", "turn", t.ID.String(), "why", j.decision.Why)
	}
	if j.decision.Do == ladder.Owe && j.decision.Why == "account" {
		e.raise(alertAccount, r.model, e.now(), fmt.Sprintf("%s refuses the account: %s (%d). Mend the key or the plan; what waits goes on by itself. %s", r.model, f.Text, f.Status, e.link("/operator")))
	}
	e.countRequest(r.model, j.attempt.MS, string(f.Class), f.Text)
	return e.carryOut(ctx, r, t, bot, j)
}

// countAnew reads how many re-arms the conversation has had: a message may have started the count anew
// while the request was under way, or another's turn have used one up since this one was admitted.
func (e *Engine) countAnew(r *run, t *store.Turn) {
	if t.Rearms == 0 && !r.unread {
		return
	}
	if now, err := e.Store.Turn(t.ID); err == nil {
		t.Rearms, r.unread = now.Rearms, false
	}
}

// ended says that no request is under way.
func (r *run) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.request = 0
}

// since is how long the request under way has run.
func (e *Engine) since(r *run) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.sent)
}

// judge counts the failure at the gate and asks the ladder.
func (e *Engine) judge(r *run, g *gate, t *store.Turn, bot *Bot, n int, f *llm.Failure) judged {
	ep := episodeOf(*t)
	ep.countRequest(t.Requests)
	ms := e.since(r).Milliseconds()
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.Wall()
	lf := asLadder(f)
	d, rec := ladder.Judge(g.rec.Gate, t.ID.String(), lf, ep.Episode, r.memory, e.situation(r, t, ep, bot, now), e.Retry)
	e.moved(g, rec, string(f.Class), f.Text)
	if d.Cooldown > 0 {
		g.rec.CoolUntil, g.rec.CoolWhy = now.Add(d.Cooldown), string(f.Class)
		g.dirty = true
	}
	switch f.Class { // from here on the next content lets in whom the account has stopped
	case llm.Auth:
		g.rec.Refused, g.rec.AccountAsked, g.dirty = now, now, true
	case llm.Quota:
		g.rec.AccountAsked, g.dirty = now, true
	}
	if f.Class == llm.TooLarge && f.Limit > 0 {
		g.rec.Limit = f.Limit
		g.dirty = true
	}
	r.ended()
	e.exitLocked(r)
	e.pump()
	ep.Episode = d.Episode
	j := judged{failure: f, decision: d, ep: ep, gates: g.snapshot(), gateKey: g.row.Key, gateEnd: g.end(e.now()), at: store.At(now)}
	if d.Why == "account" {
		j.other = e.otherModel(bot, r.model)
		if d.Do == ladder.Owe && j.other != 0 && j.other.Sub(j.at) < d.Wait {
			j.decision.Wait, j.decision.From = j.other.Sub(j.at), "gate"
		}
	}
	j.attempt = attemptEnd(n, ms, f, j.decision)
	return j
}

// situation gathers what the decision rests on. Engine.mu is held.
func (e *Engine) situation(r *run, t *store.Turn, ep episode, bot *Bot, now time.Time) ladder.Situation {
	_, fallback := e.fallback(r, bot, r.model)
	return ladder.Situation{
		Now: now, Model: r.model, FailFast: t.Lane == failFast, Durable: e.Config.Durable, FallbackOK: fallback,
		Resends: r.resends, Waited: r.waited, Remaining: e.Config.TurnDeadline - r.spentNow(),
		Asked: r.asked, LastRequest: ep.Last(e.Retry), OneShot: ep.OneShot, Owed: ep.Owes,
		Rearms: t.Rearms, CanRearm: t.Lane != failFast && e.surfaces[t.Surface] != nil,
	}
}

// asLadder is a failure in the ladder's words.
func asLadder(f *llm.Failure) ladder.Failure {
	return ladder.Failure{
		Class: string(f.Class), Status: f.Status, Transient: f.Transient, Stated: f.Stated, HasStated: f.HasStated, Begun: f.Begun, Silent: f.Silent,
	}
}

// attemptEnd is the request's row as it ends.
func attemptEnd(n int, ms int64, f *llm.Failure, d ladder.Decision) *store.AttemptEnd {
	stated := int64(-1)
	if f.HasStated {
		stated = f.Stated.Milliseconds()
	}
	outcome := map[ladder.Action]string{
		ladder.Resend: "retry", ladder.Wait: "retry", ladder.Trim: "retry", ladder.Park: "park", ladder.Fallback: "fallback",
		ladder.Rearm: "rearm", ladder.Owe: "owed", ladder.End: "failed",
	}[d.Do]
	return &store.AttemptEnd{
		N: n, Status: f.Status, Class: string(f.Class), StatedMS: stated, WaitMS: d.Wait.Milliseconds(), WaitFrom: d.From, Rung: d.Rung,
		Outcome: outcome, RequestID: f.RequestID, MS: ms, Error: f.Text,
	}
}

// carryOut does what the ladder has decided.
func (e *Engine) carryOut(ctx context.Context, r *run, t *store.Turn, bot *Bot, j judged) (verdict, bool) {
	d := j.decision
	r.memory = d.Run
	if d.Do != ladder.Resend {
		r.prepared, r.resends = nil, 0
	}
	if r.condenses != 0 && d.Do == ladder.End && j.failure.Class != llm.Canceled && t.Lane != failFast {
		return e.withoutSummary(ctx, r, t, j)
	}
	if d.Wait > 0 {
		e.logRetry(r, t, j)
	}
	switch d.Do {
	case ladder.Resend:
		r.resends++
		return e.waitFor(ctx, r, t, j, store.Retrying), false
	case ladder.Wait:
		return e.waitFor(ctx, r, t, j, store.Retrying), false
	case ladder.Trim, ladder.Fallback:
		return e.goOn(ctx, r, t, bot, j)
	case ladder.Park:
		return e.waitFor(ctx, r, t, j, store.Parked), false
	case ladder.Rearm:
		return e.waitFor(ctx, r, t, j, store.Rearming), false
	case ladder.Owe:
		return e.waitFor(ctx, r, t, j, store.Owed), false
	}
	return e.settleFailed(ctx, r, t, j), false
}

// logRetry is the one line for every wait after a failed request (T7).
func (e *Engine) logRetry(r *run, t *store.Turn, j judged) {
	d, f := j.decision, j.failure
	provider, model := splitModel(r.model)
	e.Log.Info("llm transient failure — retrying", "attempt", max(d.N, 1), "max", d.Max, "status", f.Status, "wait_ms", d.Wait.Milliseconds(),
		"wait_from", d.From, "rung", d.Rung, "provider", provider, "model", model, "turn", t.ID.String())
}

// goOn records a failure after which the run goes on at once: another model, or a shorter text.
func (e *Engine) goOn(ctx context.Context, r *run, t *store.Turn, bot *Bot, j judged) (verdict, bool) {
	from := r.model
	w := e.waitingRow(r, t, j, store.Retrying)
	w.Wait = store.Wait{} // it may stand in line for a slot, and then goes on at any time of day
	moved, err := e.storeWait(w)
	if err != nil {
		return e.unwritten(ctx, r, j, err), false
	}
	e.follow(t, moved)
	if j.decision.Do == ladder.Fallback {
		e.mu.Lock()
		to, _ := e.fallback(r, bot, from)
		e.mu.Unlock()
		e.Log.Info("fallback", "from", from, "to", to, "until", e.Wall().Add(j.decision.Cooldown).UTC(), "turn", t.ID.String())
	}
	return over, true
}

// storeWorks is told of a fact that was written: what kept the store from that is past. Engine.mu is held.
func (e *Engine) storeWorks() {
	if _, open := e.open[alertStore+"|store"]; open {
		e.runs.Go(func() { e.clear(alertStore, "store") })
	}
}

// follow takes a turn's new row over and keeps the counters in step.
func (e *Engine) follow(t *store.Turn, moved store.Turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.move(moved.Was, moved.State)
	e.tally.wait(t, &moved)
	e.leaveGate(t)
	e.storeWorks()
	*t = moved
}
