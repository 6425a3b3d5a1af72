package ladder

import (
	"slices"
	"time"
)

// Gate is the record of one (provider, key, model): a state machine of plain values, stored as JSON.
// The zero value is open. All its times are wall-clock times in UTC.
//
//	         a stated wait                 content, content …
//	open ───────────────────▶ closed ──▶ asking ──▶ 2 ──▶ 4 … ──▶ open
//	     gate_after turns fail  ▲  (over)  │
//	                            └──────────┘ the asking send fails
type Gate struct {
	HoldUntil time.Time     `json:"hold,omitzero"`     // the provider's word
	HoldFor   time.Duration `json:"hold_for,omitzero"` // … its length when it was given
	DownUntil time.Time     `json:"down,omitzero"`     // end of the current closing while down
	DownFor   time.Duration `json:"down_for,omitzero"` // … its length
	DownSince time.Time     `json:"since,omitzero"`    // zero = not down
	Closings  int           `json:"closings,omitzero"` // in a row while down
	Failing   []string      `json:"failing,omitempty"` // different turns in a row whose sends failed transiently, at most gate_after; empty while down
	Asking    bool          `json:"asking,omitzero"`   // after a closing: one asks for all until content comes
	Width     int           `json:"width,omitzero"`    // requests allowed at once while it opens: 1, 2, 4 …; 0 = no limit of the gate's
}

// Closed tells until when nothing may be sent, and why ("hold" | "down"; "" = now open for Width).
// If both close it, until is the later end and why is hold.
func (g Gate) Closed(now time.Time) (until time.Time, why string) {
	if g.DownUntil.After(now) {
		until, why = g.DownUntil, "down"
	}
	if g.HoldUntil.After(now) {
		why = "hold"
		if g.HoldUntil.After(until) {
			until = g.HoldUntil
		}
	}
	return until, why
}

// Down reports whether the model counts as down, also between its closings.
func (g Gate) Down() bool { return !g.DownSince.IsZero() }

// Failed counts a failed send of a turn (final is false for a request that L1 resends: it only sets
// a hold). asked says that this request asked at the gate after a closing.
func (g Gate) Failed(now time.Time, turn string, f Failure, asked, final bool, c Config) Gate {
	now = now.Round(0).UTC()
	g = g.Clamped(now, 0).held(now, f) // a clock that has gone back must not make an old hold outlast a new one
	if !final || f.Class == "canceled" {
		return g
	}
	switch {
	case g.Down() && c.GateAfter > 0:
		if asked && f.Transient && f.Stated <= 0 {
			g = g.closed(now, c)
		}
	case !f.Transient:
		g.Failing = nil // it answers, if not as we wish: the row is broken
	case c.GateAfter > 0:
		if !slices.Contains(g.Failing, turn) && len(g.Failing) < c.GateAfter {
			g.Failing = append(slices.Clip(g.Failing), turn)
		}
		if len(g.Failing) >= c.GateAfter && f.Stated <= 0 {
			g.DownSince, g.Failing = now, nil
			g = g.closed(now, c)
		}
	}
	return g
}

// held is the gate after a failure's stated wait, if it binds. A hold is never shortened.
func (g Gate) held(now time.Time, f Failure) Gate {
	switch f.Class {
	case "refused", "too_large", "auth", "canceled":
		return g
	}
	wait := ceil(f.Stated)
	if until := now.Add(wait); wait > 0 && until.After(g.HoldUntil) {
		g.HoldUntil, g.HoldFor = until, wait
		g.Asking, g.Width = true, 1
	}
	return g
}

// closed is the gate after its next closing while down: park_base, then twice the last one, up to
// park_cap, or to gate_cap once it has been down for longer than park_horizon; never over gate_cap.
func (g Gate) closed(now time.Time, c Config) Gate {
	limit := min(c.ParkCap, c.GateCap)
	if now.Sub(g.DownSince) > c.ParkHorizon {
		limit = c.GateCap
	}
	next := c.ParkBase
	if g.Closings > 0 {
		next = 2 * g.DownFor
	}
	g.Closings++
	g.DownFor = min(next, limit)
	g.DownUntil = now.Add(g.DownFor)
	g.Asking, g.Width = true, 1
	return g
}

// ContentAt is told at the first content of a request: the model answers, so it is not down, and
// the gate opens for 2, 4 … requests at once, the one that brought the content among them, then
// wholly. Content of a request sent before a hold does not lift that hold.
func (g Gate) ContentAt(now time.Time, concurrency int) Gate {
	if !g.HoldUntil.After(now.Round(0)) {
		g.HoldUntil, g.HoldFor = time.Time{}, 0
		return g.Content(concurrency)
	}
	return Gate{HoldUntil: g.HoldUntil, HoldFor: g.HoldFor, Asking: true, Width: 1}
}

// Content is ContentAt for a caller that knows the gate to be open: a hold is kept as it is, and
// the width grows. The zero value, or a bare hold, is left when the gate is wholly open.
func (g Gate) Content(concurrency int) Gate {
	open := Gate{HoldUntil: g.HoldUntil, HoldFor: g.HoldFor}
	if width := 2 * g.Width; width < concurrency {
		open.Width = width
	}
	return open
}

// Released is what an operator's release leaves: the hold is over, one asks. A gate that is down
// stays so, but is asked now. An open gate is left alone.
func (g Gate) Released(now time.Time) Gate {
	if _, why := g.Closed(now); why == "" {
		return g
	}
	g.HoldUntil, g.HoldFor, g.DownUntil = time.Time{}, 0, time.Time{}
	g.Asking, g.Width = true, 1
	return g
}

// Clamped is the gate after a backward clock step: no end lies further ahead than its own closing,
// nor than longest (0 = no such limit), and it has not been down since the future (P16).
func (g Gate) Clamped(now time.Time, longest time.Duration) Gate {
	now = now.Round(0).UTC()
	clamp := func(until time.Time, own time.Duration) time.Time {
		if longest > 0 && (own == 0 || longest < own) {
			own = longest
		}
		if last := now.Add(own); own > 0 && until.After(last) {
			return last
		}
		return until
	}
	g.HoldUntil = clamp(g.HoldUntil, g.HoldFor)
	g.DownUntil = clamp(g.DownUntil, g.DownFor)
	if g.DownSince.After(now) {
		g.DownSince = now
	}
	return g
}

// Equal reports whether nothing has to be stored anew.
func (g Gate) Equal(o Gate) bool {
	return g.HoldUntil.Equal(o.HoldUntil) && g.HoldFor == o.HoldFor &&
		g.DownUntil.Equal(o.DownUntil) && g.DownFor == o.DownFor && g.DownSince.Equal(o.DownSince) &&
		g.Closings == o.Closings && slices.Equal(g.Failing, o.Failing) && g.Asking == o.Asking && g.Width == o.Width
}

// IsZero reports a gate of which nothing need be remembered.
func (g Gate) IsZero() bool { return g.Equal(Gate{}) }
