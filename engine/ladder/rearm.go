package ladder

import "time"

// accountRetry is how long an account case rests if nobody wakes it (F13).
const accountRetry = time.Hour

// oneShot answers for a re-armed or owed send, which is the only one of its run on this model. A
// stated wait is waited out without using up the re-arm (R4).
func (t *trouble) oneShot() (Decision, bool) {
	switch {
	case !t.s.OneShot:
		return Decision{}, false
	case t.s.Owed:
		return t.oweOrEnd("spent")
	case t.stated > 0 && t.s.Durable && len(t.c.Rearm) > 0:
		p := t.plan(t.c.WaitBase, t.hold()) // the floor keeps a tiny statement from hammering
		d := Decision{Do: Rearm, Rung: "L6", Wait: p.wait, From: p.from, N: max(t.s.Rearms, 1), Max: len(t.c.Rearm)}
		return t.answer(d)
	}
	return t.exhausted(), true
}

// exhausted is reached when this run has no try left: L6, L7 or the end.
func (t *trouble) exhausted() Decision {
	d, ok := t.rearm()
	switch {
	case ok:
	case t.s.FailFast:
		d, _ = t.answer(Decision{Do: End, Why: t.busy()})
	default:
		d, _ = t.oweOrEnd("spent")
	}
	return d
}

// rearm is L6. It waits for the setting, and for a hold if that ends later; a gate that is down
// then lets it ask in its turn (R1, R4).
func (t *trouble) rearm() (Decision, bool) {
	n := t.s.Rearms
	if t.s.FailFast || !t.s.Durable || !t.s.CanRearm || n >= len(t.c.Rearm) {
		return Decision{}, false
	}
	p := t.plan(t.c.Rearm[n], t.hold())
	if p.from == fromBackoff {
		p.from = fromRearm
	}
	return t.answer(Decision{Do: Rearm, Rung: "L6", Wait: p.wait, From: p.from, N: n + 1, Max: len(t.c.Rearm)})
}

// account is L7 for auth and quota without a usable fallback (F9, F13). The model is passed over as if it
// had been left: the others of its chain are only busy.
func (t *trouble) account() (Decision, bool) {
	if !isAccount(t.f.Class) {
		return Decision{}, false
	}
	d, ok := t.oweOrEnd("account")
	if d.Do == Owe {
		d.Cooldown = t.cooldown()
	}
	return d, ok
}

// oweOrEnd is L7, or the end where nothing may be owed. The wait is as long as the gate keeps the
// turn, and for an account case an hour at least; 0 = not known.
func (t *trouble) oweOrEnd(why string) (Decision, bool) {
	if !t.c.Owed || !t.s.Durable || t.s.FailFast {
		return t.answer(Decision{Do: End, Why: why})
	}
	own := time.Duration(0)
	if why == "account" {
		own = accountRetry
	}
	d := Decision{Do: Owe, Rung: "L7", Why: why}
	if p := t.plan(own, t.gate); p.wait > 0 {
		d.Wait, d.From = p.wait, p.from
	}
	return t.answer(d)
}

// busy says which text a fail-fast turn ends with: the busy text for rate limits, overload and
// closed gates, else one of the failure's own (T6).
func (t *trouble) busy() string {
	if t.tooMany() || t.f.Class == "overloaded" || t.gate > 0 || t.stated > 0 {
		return "busy"
	}
	return "spent"
}
