package ladder

import "time"

// fallback is L3: leave the model for the next usable one (F1, F4, F6, F7, F9).
func (t *trouble) fallback() (Decision, bool) {
	if !t.s.FallbackOK || !t.leaves() {
		return Decision{}, false
	}
	t.r.Tried = with(t.r.Tried, t.s.Model, true)
	return t.answer(Decision{Do: Fallback, Rung: "L3", Cooldown: t.cooldown()})
}

// leaves reports the four reasons to leave a model that L3 knows.
func (t *trouble) leaves() bool {
	switch {
	case t.tooMany() && !t.f.HasStated:
		return true
	case t.e.Stated[t.s.Model] > t.c.StatedWaitFallback: // the sum, with this one
		return true
	case isAccount(t.f.Class):
		return true
	}
	return t.r.Waits[t.s.Model] >= t.waits()
}

// cooldown is how long the model is passed over: what it stated, else by class.
func (t *trouble) cooldown() time.Duration {
	if t.stated > 0 {
		return t.stated
	}
	by := t.c.Cooldown
	switch t.f.Class {
	case "rate_limit":
		return by.RateLimit
	case "overloaded":
		return by.Overloaded
	case "server":
		return by.Server
	case "network":
		return by.Network
	case "quota":
		return by.Quota
	}
	if t.f.Status >= 500 {
		return by.Server // a gateway's timeout
	}
	return by.Other
}
