package web

import (
	"net/http"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// stateJSON is the health snapshot: all of it comes from memory.
type stateJSON struct {
	Now      store.Time     `json:"now"`
	Version  string         `json:"version"`
	Uptime   int64          `json:"uptime_s"`
	Turns    turnCounts     `json:"turns"`
	Gates    []admission    `json:"provider_admission"`
	Upcoming []upcomingJSON `json:"upcoming"`
	Alerts   []alertJSON    `json:"alerts"`
	Surfaces []surfaceJSON  `json:"surfaces"`

	Providers []providerJSON `json:"providers"`
	Paused    []string       `json:"paused"` // providers and bots; "" = everything
}

type turnCounts struct {
	Accepted int64 `json:"accepted"`
	Done     int64 `json:"done"`
	Queued   int64 `json:"queued"`
	Running  int64 `json:"running"`
	Retrying int64 `json:"retrying"`
	Parked   int64 `json:"parked"`
	Rearming int64 `json:"rearming"`
	Owed     int64 `json:"owed"`
	Lost     int64 `json:"lost"`
}

// admission is a gate that is closed.
type admission struct {
	Provider string     `json:"provider"`
	Model    string     `json:"model"`
	Until    store.Time `json:"cooldown_until"`
	Reason   string     `json:"cooldown_reason"` // a class, or "down"
	Held     int        `json:"held_requests"`   // turns that wait for it
	People   int        `json:"people"`          // whose turns they are
}

type upcomingJSON struct {
	Kind  string     `json:"kind"`
	Turn  *string    `json:"turn"`
	Name  *string    `json:"name,omitempty"` // of a schedule
	At    store.Time `json:"at"`
	Count *int       `json:"count"`
	Of    *int       `json:"of"`
}

type surfaceJSON struct {
	Name  string     `json:"name"`
	State string     `json:"state"`
	Since store.Time `json:"since"`
}

func (s *Server) handleState(w http.ResponseWriter, _ *http.Request) {
	now := time.Now()
	shape := s.engine.Shape()
	reply(w, http.StatusOK, stateJSON{
		Now: store.At(now), Version: s.version, Uptime: int64(now.Sub(s.started).Seconds()), Turns: counts(shape),
		Gates: show(shape.Gates, showAdmission), Upcoming: show(shape.Upcoming, showUpcoming), Alerts: show(shape.Alerts, showAlert),
		Surfaces: show(shape.Surfaces, func(l engine.SurfaceShape) surfaceJSON {
			return surfaceJSON{Name: l.Name, State: l.State, Since: l.Since}
		}),
		Providers: show(shape.Providers, showProvider), Paused: append([]string{}, shape.Paused...),
	})
}

func counts(shape engine.Shape) turnCounts {
	n := shape.Turns
	return turnCounts{
		Accepted: shape.Accepted, Done: n[store.Done], Queued: n[store.Queued], Running: n[store.Running], Retrying: n[store.Retrying],
		Parked: n[store.Parked], Rearming: n[store.Rearming], Owed: n[store.Owed], Lost: shape.Lost,
	}
}

func showAdmission(g engine.GateShape) admission {
	a := admission{Provider: g.Provider, Model: g.Model, Until: g.Until, Reason: g.Class, Held: g.Held, People: g.People}
	if g.Why == "down" || g.Class == "" {
		a.Reason = g.Why
	}
	return a
}

func showUpcoming(u engine.Upcoming) upcomingJSON {
	return upcomingJSON{Kind: u.Kind, Turn: some(u.Turn.String()), Name: some(u.Name), At: u.At, Count: some(u.Count), Of: some(u.Of)}
}
