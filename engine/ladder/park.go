package ladder

// park is L5: the turn becomes a row (P3–P5, P9, P17). What counts against the horizon must fit
// into it; a wait that does not, or one park too many, spends the episode for good.
func (t *trouble) park() (Decision, bool) {
	if !t.parking() || t.e.Spent {
		return Decision{}, false
	}
	p := t.eager(doubled(t.c.ParkBase, t.e.Parks, t.c.ParkCap), false)
	counted := t.counted(p)
	if t.e.Parks >= t.c.MaxParks || counted > 0 && t.e.Backoff+counted > t.c.ParkHorizon {
		t.e.Spent = true
		return Decision{}, false
	}
	t.e.Parks++
	return t.after(Decision{Do: Park, Rung: "L5", N: t.e.Parks, Max: t.c.MaxParks}, p)
}
