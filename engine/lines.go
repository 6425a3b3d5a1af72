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
	i := e.lineOf(name)
	if i < 0 {
		i, e.lines = len(e.lines), append(e.lines, SurfaceShape{})
	}
	was := e.lines[i]
	if was.State == state {
		now.Since = was.Since
	}
	if state != "connected" {
		now.lost = cmp.Or(was.lost, now.Since)
	}
	e.lines[i] = now
	e.mu.Unlock()
	if was.State != state {
		e.Log.Info("surface "+state, "surface", name, "why", why)
	}
	if state == "connected" {
		e.clear(alertSurface, name)
	}
}

// lineOf is a surface's place in lines, -1 if it has none. Engine.mu is held.
func (e *Engine) lineOf(name string) int {
	return slices.IndexFunc(e.lines, func(l SurfaceShape) bool { return l.Name == name })
}

// lostLine is how long a surface must be without its line until operators are told.
const lostLine = 2 * time.Minute

// lostLines are those that have been without a line for long, however often it was tried meanwhile, and of
// which nobody has been told. Engine.mu is held.
func (e *Engine) lostLines(now store.Time) (lost []SurfaceShape) {
	for _, l := range e.lines {
		if l.lost == 0 || now.Sub(l.lost) < lostLine {
			continue
		}
		if _, told := e.open[alertSurface+"|"+l.Name]; !told {
			lost = append(lost, l)
		}
	}
	return lost
}

// goneLines are surfaces with an open alert that the config has no more. Engine.mu is held.
func (e *Engine) goneLines() (gone []string) {
	for _, a := range e.open {
		if a.Kind == alertSurface && e.lineOf(a.Subject) < 0 {
			gone = append(gone, a.Subject)
		}
	}
	return gone
}

// tellLines raises an alert for each that is lost and clears those of what is gone.
func (e *Engine) tellLines(lost []SurfaceShape, gone []string) {
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
	list := slices.Clone(e.lines)
	slices.SortFunc(list, func(a, b SurfaceShape) int { return strings.Compare(a.Name, b.Name) })
	return list
}
