package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"holdfast/store"
)

// Figures is what the metrics tell: gauges as they stand, and counts since the process began.
type Figures struct {
	Turns    map[store.State]int64
	Lost     int64
	Gates    map[string]int // closed ones, by why
	Alerts   map[string]int // open ones, by kind
	Settled  map[store.Outcome]int64
	Requests []RequestCount           // in no order
	Waits    map[string]time.Duration // planned waits, by what decided their length
	Parks    int64
	Rearms   int64
	Lag      Lag // of turns resumed at a time that was set
}

// RequestCount counts requests that have ended alike.
type RequestCount struct {
	Provider, Model string
	Class           string // "" = a success
	N               int64
}

// LagBounds are the upper ends of the buckets of Lag, in seconds.
func LagBounds() []float64 {
	return []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600}
}

// Lag is how late turns were resumed: a histogram over LagBounds.
type Lag struct {
	Counts []uint64 // by bucket, not added up; the last is beyond the last bound
	Sum    time.Duration
}

func newLag() Lag { return Lag{Counts: make([]uint64, len(LagBounds())+1)} }

func (l *Lag) add(late time.Duration) {
	i, _ := slices.BinarySearch(LagBounds(), late.Seconds())
	l.Counts[i]++
	l.Sum += late
}

// Figures reads them.
func (e *Engine) Figures() Figures {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := Figures{
		Turns: maps.Clone(e.tally.turns), Lost: e.lost(), Gates: map[string]int{}, Alerts: map[string]int{}, Settled: maps.Clone(e.tally.settled), Waits: maps.Clone(e.tally.waits),
		Parks: e.tally.parks, Rearms: e.tally.rearms, Lag: Lag{Counts: slices.Clone(e.tally.lag.Counts), Sum: e.tally.lag.Sum},
	}
	now := e.Wall()
	for _, g := range e.gateList {
		if _, why := g.rec.Gate.Closed(now); why != "" {
			f.Gates[why]++
		}
	}
	for _, a := range e.open {
		f.Alerts[a.Kind]++
	}
	for kind, n := range e.tally.requests {
		provider, model := splitModel(kind.model)
		f.Requests = append(f.Requests, RequestCount{provider, model, kind.class, n})
	}
	return f
}

// wait counts a wait that begins. A wait at a gate that only goes on was counted when it began.
func (t *tally) wait(before, now *store.Turn) {
	if !Waits(now.State) || now.From == "" {
		return
	}
	if now.From != "gate" || before.From != "gate" {
		t.waits[now.From] += time.Duration(now.MS) * time.Millisecond
	}
	t.parks += int64(max(0, now.Parks-before.Parks))
	if now.State == store.Rearming && now.Rearms > before.Rearms {
		t.rearms++
	}
}

// resumedLate counts how late a turn was resumed, if a time was set for it.
func (e *Engine) resumedLate(r *run) {
	if r.due == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.lag.add(r.late)
}

const (
	minutesKept = 60
	tookKept    = 31
)

// modelTally is how one model has done lately.
type modelTally struct {
	minutes [minutesKept]struct {
		minute     int64 // since 1970
		ok, failed int32
	}
	took    []int64 // ms of the latest answers, a ring
	next    int     // in took
	lastOK  store.Time
	lastErr string
	errAt   store.Time
}

// count adds a request that has ended; text is why it failed, "" if it did not.
func (m *modelTally) count(now store.Time, ms int64, class, text string) {
	minute := int64(now) / time.Minute.Milliseconds()
	slot := &m.minutes[minute%minutesKept]
	if slot.minute != minute {
		slot.minute, slot.ok, slot.failed = minute, 0, 0
	}
	if class != "" {
		slot.failed++
		m.lastErr, m.errAt = cmp.Or(text, class), now
		return
	}
	slot.ok++
	m.lastOK = now
	if len(m.took) < tookKept {
		m.took = append(m.took, ms)
		return
	}
	m.took[m.next] = ms
	m.next = (m.next + 1) % tookKept
}

// hour sums the last hour up.
func (m *modelTally) hour(now store.Time) (requests, failures int) {
	minute := int64(now) / time.Minute.Milliseconds()
	for _, slot := range m.minutes {
		if slot.minute > minute-minutesKept && slot.minute <= minute {
			requests += int(slot.ok + slot.failed)
			failures += int(slot.failed)
		}
	}
	return requests, failures
}

// median is of the latest answers; 0 if there is none.
func (m *modelTally) median() int64 {
	if len(m.took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.took))
	return sorted[len(sorted)/2]
}

// ProviderShape is a model that a bot names, and how it does.
type ProviderShape struct {
	Provider, Model string
	Bots            []string   // whose chains name it
	State           string     // "open" | "held" | "down"
	Until           store.Time // end of its gate's closing; 0 = open
	Class           string     // of the failure that closed it
	CoolUntil       store.Time // passed over until then while another model is usable; 0 = not
	CoolWhy         string
	Paused, NoKey   bool
	Waiting         int   // turns that wait at its gate
	People          int   // whose turns they are
	Requests        int   // in the last hour, as far as this process lives
	Failures        int   // of them
	Median          int64 // ms of its latest answers; 0 = none
	LastError       string
	LastErrorAt     store.Time
	LastOK          store.Time
}

// Providers are all models that bots name, by name, and how they do.
func (e *Engine) Providers() []ProviderShape {
	e.countPeople()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.providerShapes(e.now())
}

// providerShapes are all models that bots name, by name. Engine.mu is held.
func (e *Engine) providerShapes(now store.Time) []ProviderShape {
	by := map[string]*ProviderShape{}
	for _, bot := range e.bots {
		for _, model := range bot.Models {
			if by[model] == nil {
				by[model] = e.providerShape(model, now)
			}
			if !slices.Contains(by[model].Bots, bot.Name) {
				by[model].Bots = append(by[model].Bots, bot.Name)
			}
		}
	}
	list := make([]ProviderShape, 0, len(by))
	for _, p := range by {
		slices.Sort(p.Bots)
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b ProviderShape) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
	return list
}

func (e *Engine) providerShape(model string, now store.Time) *ProviderShape {
	p := &ProviderShape{State: "open"}
	p.Provider, p.Model = splitModel(model)
	s := e.services[p.Provider]
	p.NoKey = s == nil || s.NoKey
	p.Paused = slices.Contains(e.paused, "") || slices.Contains(e.paused, p.Provider)
	if m := e.tally.models[model]; m != nil {
		p.Requests, p.Failures = m.hour(now)
		p.Median, p.LastError, p.LastErrorAt, p.LastOK = m.median(), m.lastErr, m.errAt, m.lastOK
	}
	g := e.knownGate(model)
	if g == nil {
		return p
	}
	p.Waiting, p.People = g.held(), g.people
	switch _, why := g.rec.Gate.Closed(now.Go()); {
	case why == "hold":
		p.State, p.Until, p.Class = "held", g.row.Until, g.row.Class
	case why == "down":
		p.State, p.Until, p.Class = "down", g.row.Until, g.row.Class
	case g.rec.Gate.Down():
		p.State, p.Class = "down", g.row.Class
	}
	if g.cooling(now.Go()) {
		p.CoolUntil, p.CoolWhy = store.At(g.rec.CoolUntil), g.rec.CoolWhy
	}
	return p
}

// knownGate is the gate of PROVIDER/MODEL, nil if it was never met; looking makes none. Engine.mu is held.
func (e *Engine) knownGate(model string) *gate {
	provider, name := splitModel(model)
	keyID := ""
	if s := e.services[provider]; s != nil {
		keyID = s.KeyID
	}
	return e.gates[provider+"|"+keyID+"|"+name]
}
