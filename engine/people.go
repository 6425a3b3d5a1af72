package engine

// crowd is what tells one crowd of turns at a gate from another, without naming them.
type crowd struct{ rows, inMemory, came int }

// held is how many turns wait at the gate. Engine.mu is held.
func (g *gate) held() int { return g.rows + len(g.inMemory) }

// crowd is that of now. Engine.mu is held.
func (g *gate) crowd() crowd { return crowd{g.rows, len(g.inMemory), g.came} }

// countPeople counts whose turns wait at gates where somebody has come or gone since the last count. It
// is asked for by who shows that, so that nobody counts where nobody looks.
func (e *Engine) countPeople() {
	type at struct {
		*gate
		key, provider, model string
		crowd                crowd
	}
	var stale []at
	e.mu.Lock()
	for _, g := range e.gateList {
		switch now := g.crowd(); {
		case now == g.counted:
		case g.held() == 0:
			g.people, g.counted = 0, now
		default:
			stale = append(stale, at{g, g.row.Key, g.row.Provider, g.row.Model, now})
		}
	}
	e.mu.Unlock()
	for _, a := range stale {
		n, err := e.Store.PeopleAt(a.key, a.provider, a.model)
		if err != nil {
			e.Log.Error("count people at a gate", "model", a.model, "err", err)
			continue // the last count stands
		}
		e.mu.Lock()
		a.gate.people, a.gate.counted = n, a.crowd
		e.mu.Unlock()
	}
}
