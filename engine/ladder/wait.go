package ladder

// waits is how many in-process waits on one model L4 has in this run. One-shot and asking sends
// have none, so that L3 finds them made: a usable fallback is never kept waiting for them.
func (t *trouble) waits() int {
	switch {
	case t.s.FailFast, t.s.OneShot:
		return 0
	case !t.parking():
		return t.c.Waits
	case t.s.AskedDown:
		return 0
	}
	return min(1, t.c.Waits)
}

// wait is L4: in process, on the same model (P2, P3, F2, F5). With parking off it waits however
// long it takes, since nothing else can.
func (t *trouble) wait() (Decision, bool) {
	made := t.r.Waits[t.s.Model]
	if made >= t.waits() || t.parking() && t.e.Spent {
		return Decision{}, false
	}
	p := t.eager(doubled(t.c.WaitBase, made, longest), true)
	if t.parking() && p.wait >= t.c.ParkFrom {
		return Decision{}, false
	}
	t.r.Waits = with(t.r.Waits, t.s.Model, made+1)
	return t.after(Decision{Do: Wait, Rung: "L4", N: made + 1, Max: t.waits()}, p)
}

// rest is what follows the horizon: those of L4's waits that parking has left out, the second and
// later, once. A hold binds them, being down does not (P9). It is asked only where park has found
// the episode spent, or there is no parking.
func (t *trouble) rest() (Decision, bool) {
	made := max(t.r.Waits[t.s.Model], 1)
	if !t.parking() || made >= t.c.Waits {
		return Decision{}, false
	}
	p := t.plan(doubled(t.c.WaitBase, made, longest), t.hold())
	t.r.Waits = with(t.r.Waits, t.s.Model, made+1)
	return t.after(Decision{Do: Wait, Rung: "L4", N: made + 1, Max: t.c.Waits}, p)
}
