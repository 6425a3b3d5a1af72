package ladder

import "time"

// resend is L1: only in an episode's first run, only before anything of an answer has come, and not
// where the send is the one request that may be made (T1–T6).
func (t *trouble) resend() (Decision, bool) {
	no := Decision{}
	switch {
	case t.e.Resumed, t.s.OneShot, t.s.Asked, t.s.AskedDown, t.f.Begun, t.f.Silent:
		return no, false
	case t.s.Resends >= t.c.Resends, !t.resendable():
		return no, false
	case t.tooMany() && !t.f.HasStated && t.s.FallbackOK:
		return no, false // F1
	}
	p := t.plan(doubled(t.c.ResendBase, t.s.Resends, longest), t.hold())
	if !t.s.FailFast && t.c.ResendLongest > 0 && p.wait > t.c.ResendLongest ||
		p.wait > t.s.Remaining || t.overFailFast(p.wait) || t.closed(p) {
		return no, false
	}
	return t.after(Decision{Do: Resend, Rung: "L1", N: t.s.Resends + 1, Max: t.c.Resends}, p)
}

// resendable reports the kinds L1 is for: network errors, 429 and 5xx. Everything else, 408
// included, is left to the rungs below.
func (t *trouble) resendable() bool {
	status := t.f.Status
	return status == 429 || status >= 500 && status <= 599 || status == 0 && t.f.Class == "network"
}

// tooMany reports a 429, also one that came inside a 200 (K4-18).
func (t *trouble) tooMany() bool { return t.f.Status == 429 || t.f.Class == "rate_limit" }

// overFailFast reports a wait that the fail-fast lane does not begin (T6).
func (t *trouble) overFailFast(wait time.Duration) bool {
	return t.s.FailFast && t.s.Waited+wait > t.c.FailFastWait
}

// closed reports a gate that would not let the resend through: another's hold that ends later than
// the resend's own wait, or a model that has gone down meanwhile.
func (t *trouble) closed(p plan) bool {
	return p.from == fromGate || t.gate > 0 && !t.s.GateHold
}
