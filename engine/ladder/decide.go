package ladder

import (
	"maps"
	"time"
)

// What decided the length of a wait.
const (
	fromBackoff = "backoff"     // our own rule
	fromStated  = "retry-after" // stated to this turn
	fromGate    = "gate"        // stated to or met by another
	fromRearm   = "rearm"
)

// trouble is one failed request with all that bears on it. The rungs are its methods; each answers
// or leaves it to the next, and may leave a mark in the episode.
type trouble struct {
	f      Failure
	e      Episode
	r      Run
	s      Situation
	c      Config
	stated time.Duration // in whole milliseconds, rounded up
	gate   time.Duration // until the gate's end, likewise; 0 = open
}

// Decide answers for one failed request, already counted in e.Requests and at the gate. It changes
// neither e nor r.
func Decide(f Failure, e Episode, r Run, s Situation, c Config) Decision {
	t := weigh(f, e, r, s, c)
	for _, rung := range []func() (Decision, bool){
		t.endsAtOnce, t.ceiling, t.resend, t.fallback, t.account, t.statedLimits,
		t.oneShot, t.wait, t.park, t.rest,
	} {
		if d, ok := rung(); ok {
			return d
		}
	}
	return t.exhausted()
}

// weigh makes the copies and sums that the rungs work on.
func weigh(f Failure, e Episode, r Run, s Situation, c Config) *trouble {
	f.HasStated = f.HasStated || f.Stated > 0
	t := &trouble{f: f, e: e, r: r, s: s, c: c, stated: ceil(f.Stated)}
	if !s.GateUntil.IsZero() {
		t.gate = ceil(s.GateUntil.Sub(s.Now.Round(0))) // a gate's times are wall-clock times
	}
	t.e.Early = false
	if t.stated > 0 {
		t.e.Stated = with(e.Stated, s.Model, e.Stated[s.Model]+t.stated)
	}
	return t
}

// answer completes a decision.
func (t *trouble) answer(d Decision) (Decision, bool) {
	switch d.Do {
	case Park, Rearm, Owe:
		t.e.Resumed = true
	}
	d.Episode, d.Run = t.e, t.r
	return d, true
}

// after completes a decision that waits for p, and counts the wait.
func (t *trouble) after(d Decision, p plan) (Decision, bool) {
	d.Wait, d.From = p.wait, p.from
	t.e.Backoff += t.counted(p)
	t.e.Early = p.early
	if p.half {
		t.e.Halved = with(t.e.Halved, t.s.Model, true)
	}
	return t.answer(d)
}

// parking reports whether waits may become parks.
func (t *trouble) parking() bool { return t.c.Park && t.s.Durable && !t.s.FailFast }

// atCeiling reports whether no further request is allowed; an owed turn's are not counted.
func (t *trouble) atCeiling() bool { return t.s.LastRequest && !t.s.Owed }

// endsAtOnce answers what no waiting mends: the list in DESIGN.md §4.
func (t *trouble) endsAtOnce() (Decision, bool) {
	end := func(why string) (Decision, bool) { return t.answer(Decision{Do: End, Why: why}) }
	late := t.s.Remaining <= 0
	switch class := t.f.Class; {
	case class == "canceled" && late:
		return end("deadline")
	case class == "canceled", class == "refused", class == "unclassified":
		return end(class)
	case class == "too_large" && t.e.Trimmed:
		return end(class)
	case class == "too_large" && !late && !t.atCeiling():
		t.e.Trimmed = true
		return t.answer(Decision{Do: Trim})
	case class == "too_large", isAccount(class):
	case class == "network" && !t.f.Transient && t.f.Status == 0:
		return end("certificate")
	case !t.f.Transient:
		return end("no_retry")
	}
	if late {
		return end("deadline")
	}
	return Decision{}, false
}

// ceiling owes a turn whose episode may make no further request (P18).
func (t *trouble) ceiling() (Decision, bool) {
	if !t.atCeiling() {
		return Decision{}, false
	}
	return t.oweOrEnd("max_requests")
}

// statedLimits answers waits that the settings find too long (F4, P17). The fail-fast lane has its own limit.
func (t *trouble) statedLimits() (Decision, bool) {
	switch {
	case t.s.FailFast:
		return Decision{}, false
	case t.c.StatedWaitMode == "end" && t.stated >= t.c.StatedWaitEnd && !t.s.FallbackOK:
		return t.answer(Decision{Do: End, Why: "stated_wait"})
	case t.stated > t.c.StatedWaitMax:
		return t.oweOrEnd("stated_wait")
	}
	return Decision{}, false
}

// isAccount reports a failure that only the account's owner mends.
func isAccount(class string) bool { return class == "auth" || class == "quota" }

// with is m with one entry set; m itself stays as it is.
func with[V any](m map[string]V, key string, value V) map[string]V {
	m = maps.Clone(m)
	if m == nil {
		m = make(map[string]V)
	}
	m[key] = value
	return m
}
