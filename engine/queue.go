package engine

import (
	"container/heap"

	"holdfast/store"
)

// schedule is who runs and who is next: the oldest ready turn whose conversation is free, up to
// workers at a time. It is guarded by Engine.mu.
type schedule struct {
	workers int
	working int                     // goroutines that drive a turn now
	runs    map[store.ID]*run       // every turn that is ready, runs or waits in process
	busy    map[store.ID]store.ID   // conversation → the turn that has it
	ready   ids                     // to be run, oldest first
	granted []*run                  // have their conversation and have got a provider's slot
	blocked map[store.ID][]store.ID // conversation → ready turns that wait for it
}

func newSchedule(workers int) schedule {
	return schedule{workers: workers, runs: map[store.ID]*run{}, busy: map[store.ID]store.ID{}, blocked: map[store.ID][]store.ID{}}
}

// ids is a min-heap: ids sort by age.
type ids []store.ID

func (h ids) Len() int           { return len(h) }
func (h ids) Less(i, j int) bool { return h[i] < h[j] }
func (h ids) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ids) Push(x any)        { *h = append(*h, x.(store.ID)) }
func (h *ids) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// wake makes a turn ready, whatever tells of it: timer, gate, message, operator, sweep or start.
// However many tell, it is one run (P8). force lets it pass a gate that is down.
func (e *Engine) wake(turn, conversation store.ID, by string, due store.Time, force bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wakeLocked(turn, conversation, by, due, force)
	e.pump()
}

// rowsInLine is how many turns may be in memory until one that was admitted is read when its turn comes,
// rather than kept as it was written.
const rowsInLine = 1000

// wakeAdmitted makes a turn ready that was just admitted. It goes by the row that was written: if that has
// moved when it comes to run, its first request is not written (store.Begin), and the row is read.
func (e *Engine) wakeAdmitted(a store.Admitted, by string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wakeLocked(a.Turn, a.Conversation, by, 0, false)
	if r := e.sched.runs[a.Turn]; r != nil && r.place == ready && len(e.sched.runs) <= rowsInLine {
		r.row = a.Row
	}
	e.pump()
}

func (e *Engine) wakeLocked(turn, conversation store.ID, by string, due store.Time, force bool) {
	if !e.loaded {
		return // the load makes it ready
	}
	e.dropTimer(turn)
	r := e.sched.runs[turn]
	switch {
	case r == nil:
		r = &run{turn: turn, conversation: conversation}
		e.sched.runs[turn] = r
	case r.place == running:
		r.again, r.force = true, r.force || force
		return
	case r.place != waiting: // ready or at a slot already
		r.force = r.force || force
		return
	}
	r.place, r.by, r.due, r.force, r.restsOn = ready, by, due, r.force || force, nil
	heap.Push(&e.sched.ready, turn)
}

// pump starts what can start. Engine.mu is held. Runs are claimed here, in memory, and all of them
// before the first reads its row: see claim.
func (e *Engine) pump() {
	s := &e.sched
	claimed := make([]*run, 0, max(0, min(s.workers-s.working, len(s.granted)+s.ready.Len())))
	for s.working < s.workers && !e.stopping {
		r := s.next()
		if r == nil {
			break
		}
		r.place = running
		s.busy[r.conversation] = r.turn
		s.working++
		claimed = append(claimed, r)
	}
	e.begins(claimed)
}

// next takes the next run that may start, nil if there is none.
func (s *schedule) next() *run {
	if len(s.granted) > 0 {
		r := s.granted[0]
		s.granted = s.granted[1:]
		return r
	}
	for s.ready.Len() > 0 {
		turn := heap.Pop(&s.ready).(store.ID)
		r := s.runs[turn]
		if r == nil || r.place != ready {
			continue // ended meanwhile
		}
		if owner, taken := s.busy[r.conversation]; taken && owner != turn {
			s.blocked[r.conversation] = append(s.blocked[r.conversation], turn)
			continue
		}
		return r
	}
	return nil
}

// free gives a turn's conversation back; the turns that wait for it are ready again. False if the turn
// did not have it. Engine.mu is held.
func (s *schedule) free(conversation, turn store.ID) bool {
	if s.busy[conversation] != turn {
		return false
	}
	delete(s.busy, conversation)
	for _, id := range s.blocked[conversation] {
		heap.Push(&s.ready, id)
	}
	delete(s.blocked, conversation)
	return true
}

// forget drops a turn's record, as when it has settled while it did not run. Engine.mu is held.
func (e *Engine) forget(turn store.ID) {
	e.dropTimer(turn)
	r := e.sched.runs[turn]
	if r == nil || r.place == running {
		return
	}
	if r.place == atSlot {
		e.leaveSlot(r)
	}
	r.place = fresh
	e.freed(r.conversation, turn)
	delete(e.sched.runs, turn)
}
