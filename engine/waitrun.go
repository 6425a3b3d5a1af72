package engine

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// waitRun is the run of waits that providers have stated to one turn, for the alert provider_wait
// (R10): it begins with the first such wait, and ends when a step completes or the turn settles.
type waitRun struct {
	Begin  time.Time `json:"begin,omitzero"`
	End    time.Time `json:"end,omitzero"` // of the latest wait; when it was cut short, then
	N      int       `json:"n,omitzero"`
	Raised bool      `json:"raised,omitzero"`
}

// stated counts one more stated wait and reports whether the run is now to be told: at once for a
// single wait over the limit, else when a wait begins more than the limit after the first.
func (w *waitRun) stated(now time.Time, wait, limit time.Duration) bool {
	if w.N == 0 {
		w.Begin = now
	}
	w.N++
	w.End = now.Add(wait)
	tell := limit > 0 && !w.Raised && (wait > limit || now.Sub(w.Begin) > limit)
	w.Raised = w.Raised || tell
	return tell
}

// cut ends the latest wait early: released, or started by a message or an operator.
func (w *waitRun) cut(now time.Time) {
	if w.N > 0 && now.Before(w.End) {
		w.End = now
	}
}

// over reports at the run's end whether it has lasted longer than the limit and was not told yet.
func (w *waitRun) over(now time.Time, limit time.Duration) bool {
	w.cut(now)
	return limit > 0 && w.N > 0 && !w.Raised && w.length() > limit
}

func (w *waitRun) length() time.Duration { return w.End.Sub(w.Begin) }

// countStated counts a failed request's stated wait for the alert. It is told of every wait that the
// ladder has decided on.
func (e *Engine) countStated(r *run, ep *episode, f *llm.Failure, d ladder.Decision) {
	if f.Stated <= 0 || d.Wait <= 0 || d.Do == ladder.Resend {
		return
	}
	if !r.cutAt.IsZero() {
		ep.Waits.cut(r.cutAt)
		r.cutAt = time.Time{}
	}
	if ep.Waits.stated(e.Wall(), f.Stated, e.Alerts.ProviderWait) {
		e.raiseWait(r.model, ep.Waits)
	}
}

// raiseWait tells how long a provider has made one turn wait.
func (e *Engine) raiseWait(model string, w waitRun) {
	e.raise(alertProviderWait, model, store.At(w.Begin), fmt.Sprintf("%s has made one turn wait %s, in %s. %s",
		model, w.length().Round(time.Second), count(w.N, "wait"), e.link("/operator")))
}

// endWaits ends a turn's run of stated waits, when a step has completed or the turn has settled.
func (e *Engine) endWaits(r *run, t *store.Turn) {
	ep := episodeOf(*t)
	if !r.cutAt.IsZero() {
		ep.Waits.cut(r.cutAt)
	}
	if ep.Waits.over(e.Wall(), e.Alerts.ProviderWait) {
		e.raiseWait(t.Model, ep.Waits)
	}
}

// exhausted counts an exhaustion of a bot for the alert hard_down; the third in a row raises it.
func (e *Engine) exhausted(t *store.Turn, f *llm.Failure, d ladder.Decision) {
	spent := d.Do == ladder.Rearm && d.From != "retry-after" || (d.Do == ladder.Owe || d.Do == ladder.End) && d.Why == "spent"
	if !spent || t.Lane == failFast || e.Alerts.HardDown <= 0 {
		return
	}
	e.mu.Lock()
	e.streak[t.Bot]++
	n := e.streak[t.Bot]
	e.mu.Unlock()
	if n >= e.Alerts.HardDown {
		e.raise(alertHardDown, t.Bot, t.FirstFailed, fmt.Sprintf("the bot %s has come to the end of its tries %d times in a row; last error: %s. %s", t.Bot, n, f.Text, e.link("/operator")))
	}
}

// answered is told when a step has completed: the bot and its model work.
func (e *Engine) answered(bot, model string) {
	e.mu.Lock()
	delete(e.streak, bot)
	e.mu.Unlock()
	e.clear(alertHardDown, bot)
	e.clear(alertAccount, bot)
	for _, kind := range []string{alertOutage, alertProviderWait, alertAccount} {
		e.clear(kind, model)
	}
}

// withoutURL takes the address, which may hold a secret, out of an HTTP client's error.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
