package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/wheel"
	"holdfast/store"
)

// gate is what stands before one (provider, key, model), in memory; its row is written in the
// transactions of the turns that move it. Guarded by Engine.mu.
type gate struct {
	number   int // of its wheel key
	row      store.Gate
	rec      gateRecord
	inFlight int               // requests under way through it
	rows     int               // turns that wait at it as rows
	known    []store.ID        // some of them, for people to see
	inMemory []*run            // turns that wait at it in process (park = false)
	came     int               // turns that have come to wait, ever
	people   int               // whose turns wait, as counted at …
	counted  crowd             // … this
	letting  map[store.ID]bool // rows let in that have not begun their request: they are ready, or stand in line for a slot
	passed   map[store.ID]bool // conversations whose rows were passed over, since another turn had them
	dirty    bool              // moved since its row was written
	recount  bool              // rows may have drifted: the next sweep counts them
	closed   bool              // as last logged
	nobody   int64             // the store's head when nobody was found to suffer from it
	timer    wheel.Timer       // for the end of its closing
	busy     bool              // letIn is at work
	more     bool              // … and was called again meanwhile
}

// gateRecord is what of a gate outlives the process besides the columns of its row.
type gateRecord struct {
	Gate         ladder.Gate `json:"gate,omitzero"`
	CoolUntil    time.Time   `json:"cool,omitzero"`    // L3: passed over until then while another is usable
	AccountAsked time.Time   `json:"account,omitzero"` // when a turn last asked an account that refuses; zero = it has answered since
	Mended       time.Time   `json:"mended,omitzero"`  // when content last let those in whom an account had stopped
	Refused      time.Time   `json:"refused,omitzero"` // when its key was last refused; zero = not since it changed
	CoolWhy      string      `json:"why,omitzero"`
	Limit        int64       `json:"limit,omitzero"`  // stated context limit in tokens (F14)
	Opened       time.Time   `json:"opened,omitzero"` // last time content came after a closing
}

// gateOf finds or makes the gate of PROVIDER/MODEL. Engine.mu is held.
func (e *Engine) gateOf(model string) *gate {
	provider, name, _ := strings.Cut(model, "/")
	keyID := ""
	if s := e.services[provider]; s != nil {
		keyID = s.KeyID
	}
	key := provider + "|" + keyID + "|" + name
	if g := e.gates[key]; g != nil {
		return g
	}
	return e.addGate(store.Gate{Key: key, Provider: provider, Model: name})
}

func (e *Engine) addGate(row store.Gate) *gate {
	g := &gate{number: len(e.gateList), row: row, letting: map[store.ID]bool{}}
	e.gates[row.Key] = g
	e.gateList = append(e.gateList, g)
	return g
}

// loadGates reads the closed gates and who waits at each. A key that has changed has another gate:
// the old one stands open, so its waiters run and meet the new one (F8).
func (e *Engine) loadGates(now store.Time) error {
	rows, err := e.Store.Gates()
	if err != nil {
		return fmt.Errorf("read gates: %w", err)
	}
	waiters, err := e.Store.GateWaiters()
	if err != nil {
		return fmt.Errorf("count turns at gates: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range rows {
		g := e.addGate(row)
		if len(row.Record) > 0 {
			if err := json.Unmarshal(row.Record, &g.rec); err != nil {
				return fmt.Errorf("gate %s: %w", row.Key, err)
			}
		}
		if e.gateOf(g.model()) != g {
			g.rec, g.row.Why, g.row.Until, g.row.WaitMS = gateRecord{}, "", 0, 0
			g.dirty = true
		}
	}
	for key, n := range waiters {
		g := e.gates[key]
		switch target, paused := strings.CutPrefix(key, pauseKey); {
		case g != nil:
		case paused:
			g = e.pauseGate(target)
		case strings.HasPrefix(key, goneKey):
			g = e.addGate(store.Gate{Key: key})
		default:
			parts := strings.SplitN(key, "|", 3)
			g = e.addGate(store.Gate{Key: key, Provider: parts[0], Model: parts[len(parts)-1]})
		}
		g.rows = n
	}
	for _, g := range e.gateList {
		g.rec.Gate = g.rec.Gate.Clamped(now.Go(), 0) // the clock may have gone back while nobody looked
		g.rec.past(now.Go())
		if until, why := g.rec.Gate.Closed(now.Go()); why != "" {
			g.row.Why, g.row.Until = why, store.At(until.Add(time.Millisecond-1))
		}
		e.setGateTimer(g, now)
	}
	return nil
}

// model is PROVIDER/MODEL.
func (g *gate) model() string { return g.row.Provider + "/" + g.row.Model }

// end is when its closing ends; 0 = it is open. Engine.mu is held.
func (g *gate) end(now store.Time) store.Time {
	if g.row.Until > now {
		return g.row.Until
	}
	return 0
}

// moved takes a new record over, keeps the row's columns in step and sets the timer. why is the
// failure's class. Engine.mu is held.
func (e *Engine) moved(g *gate, rec ladder.Gate, class, text string) {
	now := e.now()
	g.rec.Gate = rec
	g.dirty = true
	until, why := rec.Closed(now.Go())
	if class != "" {
		g.row.Class, g.row.Error = class, text
		if g.row.Since == 0 {
			g.row.Since = now
		}
	}
	g.row.Why, g.row.Until, g.row.WaitMS = why, 0, 0
	if why != "" {
		g.row.Until = store.At(until.Add(time.Millisecond - 1))
		g.row.WaitMS = lengthOf(rec, until).Milliseconds() + 1 // its end is rounded up
	} else if class == "" && rec.IsZero() {
		g.row.Since = 0
	}
	e.setGateTimer(g, now)
	if closed := why != ""; closed && (!g.closed || class != "") {
		e.Log.Info("gate closed", "until", g.row.Until.Go(), "why", why, "model", g.model())
		g.closed = true
	}
}

// lengthOf is how long the closing that ends then was when it began: it never lies further ahead.
func lengthOf(rec ladder.Gate, until time.Time) time.Duration {
	if until.Equal(rec.HoldUntil) {
		return rec.HoldFor
	}
	return rec.DownFor
}

// setGateTimer arms the wheel for the end of the closing. Engine.mu is held.
func (e *Engine) setGateTimer(g *gate, now store.Time) {
	e.wheel.Cancel(g.timer)
	g.timer = 0
	if g.row.Until > now {
		g.timer = e.wheel.Add(int64(g.row.Until), int64(-1-g.number))
	} else if g.rows > 0 {
		g.timer = e.wheel.Add(int64(now), int64(-1-g.number))
	}
}

// snapshot is the row to be stored with the fact that moves it, nil if nothing has moved. Engine.mu is held.
func (g *gate) snapshot() []store.Gate {
	if !g.dirty {
		return nil
	}
	g.dirty = false
	g.row.Version++
	row := g.row
	row.Record, _ = json.Marshal(g.rec)
	return []store.Gate{row}
}

// passage is the gate's answer to a turn that wants to send.
type passage int

const (
	passed passage = iota
	atGate         // wait at the gate
)

// pass asks the gate. Being down does not stop Try now nor the last waits of a spent episode; a hold
// stops all but a turn that may ask early. Engine.mu is held.
func (g *gate) pass(r *run, ep episode, now time.Time) passage {
	_, why := g.rec.Gate.Closed(now)
	pushes := r.force || ep.Spent
	switch {
	case why == "hold" && !ep.Early, why == "down" && !pushes:
		return atGate
	case why == "" && !pushes && g.rec.Gate.Width > 0 && g.inFlight >= g.rec.Gate.Width:
		return atGate
	}
	delete(g.letting, r.turn)
	g.inMemory = slices.DeleteFunc(g.inMemory, func(q *run) bool { return q == r })
	g.inFlight++
	r.gate = g
	r.asked = r.resends == 0 && (g.rec.Gate.Asking || why == "down")
	return passed
}

// content is told at the first content of a request: the gate opens for more. Engine.mu is held.
func (e *Engine) content(g *gate, concurrency int) {
	e.mended(g)
	if !g.rec.Refused.IsZero() {
		g.rec.Refused, g.dirty = time.Time{}, true
	}
	g.answers()
	if g.rec.Gate.IsZero() {
		return
	}
	e.moved(g, g.rec.Gate.ContentAt(e.Wall(), concurrency), "", "")
	if _, why := g.rec.Gate.Closed(e.Wall()); g.closed && why == "" {
		g.closed, g.rec.Opened = false, e.Wall()
		e.Log.Info("gate opened", "by", "answer", "model", g.model())
	}
	e.letInSoon(g, "gate")
}

// answers notes that the model has answered: what failed before is past. Engine.mu is held.
func (g *gate) answers() {
	if g.row.Since != 0 {
		g.row.Since, g.dirty = 0, true
	}
}

// past lets nothing that has happened lie in the future, as it does after a backward clock step.
func (r *gateRecord) past(now time.Time) {
	for _, t := range []*time.Time{&r.Opened, &r.AccountAsked, &r.Mended, &r.Refused} {
		if t.After(now) {
			*t = now
		}
	}
}

// clampGates follows a backward clock step. Engine.mu is held.
func (e *Engine) clampGates(now store.Time) {
	for _, g := range e.gateList {
		g.rec.past(now.Go())
		if rec := g.rec.Gate.Clamped(now.Go(), 0); !rec.Equal(g.rec.Gate) {
			e.moved(g, rec, "", "")
		}
	}
}

// forgetClosings drops the ends that are past, so that a clock that goes back later does not bring
// them back. Engine.mu is held.
func (e *Engine) forgetClosings(now time.Time) {
	wall := store.At(now)
	for _, g := range e.gateList {
		if rec := &g.rec.Gate; !rec.HoldUntil.After(now) {
			rec.HoldUntil, rec.HoldFor = time.Time{}, 0
		}
		if rec := &g.rec.Gate; !rec.DownUntil.After(now) {
			rec.DownUntil = time.Time{}
		}
		if g.ofModel() && g.row.Until <= wall {
			g.row.Why, g.row.Until, g.row.WaitMS = "", 0, 0
		}
	}
}
