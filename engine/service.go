package engine

import (
	"slices"
	"strings"
)

// service is a provider with its slots: at most Config.Concurrency requests at once. A turn that
// waits for a slot keeps its conversation and holds no worker. Guarded by Engine.mu.
type service struct {
	Provider
	name  string
	slots int
	used  int
	queue []*run // wait for a slot, first come first served
}

func newService(name string, p Provider) *service {
	return &service{Provider: p, name: name, slots: max(1, p.Config.Concurrency)}
}

// label is what people call it.
func (s *service) label() string {
	if s.Label != "" {
		return s.Label
	}
	return s.name
}

// take gives r a slot if there is one. Engine.mu is held.
func (s *service) take(r *run) bool {
	if r.service == s { // granted while it waited
		return true
	}
	if s.used >= s.slots {
		return false
	}
	s.used++
	r.service = s
	return true
}

// giveBack frees r's slot and hands it to the next in the queue, which is to be started. Engine.mu is held.
func (e *Engine) giveBack(r *run) {
	s := r.service
	r.service = nil
	if s == nil {
		return
	}
	s.used--
	for len(s.queue) > 0 && s.used < s.slots {
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.used++
		next.service = s
		e.sched.granted = append(e.sched.granted, next)
	}
}

// leaveSlot takes a run that waits for a slot, or has just got one, out of all lines. Engine.mu is held.
func (e *Engine) leaveSlot(r *run) {
	is := func(q *run) bool { return q == r }
	for _, s := range e.services {
		s.queue = slices.DeleteFunc(s.queue, is)
	}
	e.sched.granted = slices.DeleteFunc(e.sched.granted, is)
	e.giveBack(r)
}

// serviceOf finds the provider of PROVIDER/MODEL; nil if the config has none. Engine.mu is held.
func (e *Engine) serviceOf(model string) *service {
	name, _, _ := strings.Cut(model, "/")
	return e.services[name]
}

// exit ends a passage: slot and gate are free for the next in line.
func (e *Engine) exit(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.exitLocked(r)
	e.pump()
}

func (e *Engine) exitLocked(r *run) {
	e.giveBack(r)
	g := r.gate
	if g == nil {
		return
	}
	r.gate = nil
	g.inFlight--
	e.letInSoon(g, "gate")
}
