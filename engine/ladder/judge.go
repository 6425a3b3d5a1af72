package ladder

// Judge takes one failed request of a turn through the gate and the ladder and gives the decision
// and the gate as it is then. It fills in what Situation says of the gate (GateUntil, GateHold,
// AskedDown). A request that L1 resends only sets a hold; a send's last one is counted.
func Judge(g Gate, turn string, f Failure, e Episode, r Run, s Situation, c Config) (Decision, Gate) {
	s.AskedDown = s.Asked && g.Down()
	held := g.Failed(s.Now, turn, f, s.Asked, false, c)
	if d := Decide(f, e, r, s.at(held), c); d.Do == Resend {
		return d, held
	}
	counted := g.Failed(s.Now, turn, f, s.Asked, true, c)
	return Decide(f, e, r, s.at(counted), c), counted
}

// at is the situation before that gate.
func (s Situation) at(g Gate) Situation {
	until, why := g.Closed(s.Now)
	s.GateUntil, s.GateHold = until, why == "hold"
	return s
}
