package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/store"
)

// SurfaceShape is how a surface's line stands.
type SurfaceShape struct {
	Name  string
	State string // "connected" | "connecting" | "down"
	Since store.Time
	Why   string // what is wrong and what to do, for operators; "" while connected

	lost store.Time // since when it has not been connected; 0 while it is
}

// SurfaceState is told by a surface when its line comes up or goes down.
func (e *Engine) SurfaceState(name, state, why string) {
	now := SurfaceShape{Name: name, State: state, Since: e.now(), Why: why}
	e.mu.Lock()
	was := e.lines[name]
	if was.State == state {
		now.Since = was.Since
	}
	if state != "connected" {
		now.lost = cmp.Or(was.lost, now.Since)
	}
	e.lines[name] = now
	e.mu.Unlock()
	if was.State != state {
		e.Log.Info("surface "+state, "surface", name, "why", why)
	}
	if state == "connected" {
		e.clear(alertSurface, name)
	}
}

// lostLine is how long a surface must be without its line until operators are told.
const lostLine = 2 * time.Minute

// watchLines raises what has been without a line for long, however often it was tried meanwhile, and
// clears what the config has no more.
func (e *Engine) watchLines(now store.Time) {
	var lost []SurfaceShape
	var gone []string
	e.mu.Lock()
	for _, l := range e.lines {
		if l.lost != 0 && now.Sub(l.lost) >= lostLine {
			lost = append(lost, l)
		}
	}
	for _, a := range e.open {
		if _, known := e.lines[a.Subject]; a.Kind == alertSurface && !known {
			gone = append(gone, a.Subject)
		}
	}
	e.mu.Unlock()
	for _, l := range lost {
		why := cmp.Or(l.Why, "it is tried again by itself; the command doctor tells what is missing")
		e.raise(alertSurface, l.Name, l.lost, fmt.Sprintf("%s is not connected since %s: %s", l.Name, e.clock(l.lost), why))
	}
	for _, name := range gone {
		e.clear(alertSurface, name)
	}
}

// surfaceShapes are all lines, by name. Engine.mu is held.
func (e *Engine) surfaceShapes() []SurfaceShape {
	list := make([]SurfaceShape, 0, len(e.lines))
	for _, l := range e.lines {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b SurfaceShape) int { return strings.Compare(a.Name, b.Name) })
	return list
}
