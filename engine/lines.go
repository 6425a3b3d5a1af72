package engine

import (
	"slices"
	"strings"

	"holdfast/store"
)

// SurfaceShape is how a surface's line stands.
type SurfaceShape struct {
	Name  string
	State string // "connected" | "connecting" | "down"
	Since store.Time
	Why   string // what is wrong and what to do, for operators; "" while connected
}

// SurfaceState is told by a surface when its line comes up or goes down.
func (e *Engine) SurfaceState(name, state, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	was, known := e.lines[name]
	if known && was.State == state && was.Why == why {
		return
	}
	now := SurfaceShape{Name: name, State: state, Since: e.now(), Why: why}
	if known && was.State == state {
		now.Since = was.Since
	}
	e.lines[name] = now
	if was.State != state {
		e.Log.Info("surface "+state, "surface", name, "why", why)
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
