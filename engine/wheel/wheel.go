// Package wheel is a hierarchical timer wheel over the wall clock: O(1) add and cancel, one armed
// timer for the next occupied slot, no tick of its own.
//
// A due time is a number of 64 bits, read as eleven digits of six bits. An entry lies on the level
// of the highest digit in which its time differs from the wheel's own time, in the slot that this
// digit names:
//
//	level 2  [ . . x . … ]   slots of 4.096 s: cascades when the wheel's time reaches the slot
//	level 1  [ . x . x … ]   slots of 64 ms
//	level 0  [ x . . x … ]   slots of 1 ms: fires
//
// So a lower level is always due before a higher one, and within a level the lowest set bit of its
// occupancy word is the next slot: finding what comes next is a look at eleven words. An entry moves
// down at most once per level in its life, and the goroutine in Run sleeps until the start of the
// next occupied slot, however far away that is.
//
// The wheel's own time only says how entries are laid out. Whether something is due is always asked
// of the wall clock, so that a clock that jumps can make an entry late by one sleep, never early.
package wheel

import (
	"context"
	"sync"
	"time"
)

// Config is what a wheel needs.
type Config struct {
	Wall func() time.Time // the wall clock; nil = time.Now. The only clock a due time is compared with.
}

// Timer names a pending entry; the zero Timer names none. It stays harmless after its entry is
// gone: no later entry ever answers to it.
type Timer uint64

// Due is an entry whose time has come.
type Due struct {
	Key int64 // as given to Add
	At  int64 // wall-clock milliseconds it was due at
}

// Wheel holds entries; all methods may be called from any goroutine.
type Wheel struct {
	wall func() time.Time
	wake chan struct{} // one token: Run has to look again

	mu    sync.Mutex // guards what follows
	slab  slab
	now   tick      // the layout's time; nothing that lies ahead of it is laid out by an earlier one
	armed tick      // Run sleeps until then; 0 = it is awake and looks before it sleeps
	wakes time.Time // when it wakes by itself, by the monotonic clock
	late  bool      // the slot of now may be out of order
	count int
	used  [levels]uint64 // occupancy: one bit per slot
	slots [levels * slotsPerLevel]list
}

// New makes an empty wheel.
func New(c Config) *Wheel {
	if c.Wall == nil {
		c.Wall = time.Now
	}
	return &Wheel{wall: c.Wall, wake: make(chan struct{}, 1), slab: newSlab(), now: tickOf(c.Wall().UnixMilli())}
}

// Add holds key until the wall clock reaches at (milliseconds since 1970); never fired early.
// What is due already fires at once. The same key may be held any number of times.
func (w *Wheel) Add(at, key int64) Timer {
	w.mu.Lock()
	id, n := w.slab.take()
	n.at, n.key = at, key
	w.place(id, n)
	w.count++
	t := Timer(n.gen)<<32 | Timer(uint32(id))
	sooner := tickOf(at) < w.armed
	if sooner {
		w.armed = 0 // one token is enough, however many sooner ones follow
	}
	w.mu.Unlock()
	if sooner {
		w.nudge()
	}
	return t
}

// Cancel takes an entry out; false if it has fired or was cancelled before.
func (w *Wheel) Cancel(t Timer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := int32(uint32(t))
	n := w.slab.find(id, uint32(t>>32))
	if n == nil {
		return false
	}
	w.unlink(n)
	w.slab.give(id, n)
	w.count--
	return true
}

// Len is how many entries it holds.
func (w *Wheel) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// Stepped tells the wheel that the wall clock has jumped: what is overdue now fires, and the armed
// timer is set anew. Without it a jump is noticed at the next wake-up: late, but never early.
func (w *Wheel) Stepped() { w.nudge() }

// drift is how much later than its entry is due by the wall clock Run may wake.
const drift = time.Millisecond

// Compare tells the wheel what the wall clock shows now. It is for who looks at the clocks again and again: if
// Run sleeps for too long by that, since the clock has been put forward or runs faster than the
// monotonic one, it looks anew, as after Stepped; else it is left asleep.
func (w *Wheel) Compare(wall time.Time) {
	w.mu.Lock()
	late := w.armed != 0 && w.armed != never && wall.Round(0).Add(time.Until(w.wakes)).Sub(time.UnixMilli(w.armed.milli())) > drift
	w.mu.Unlock()
	if late {
		w.nudge()
	}
}

// Run fires entries, soonest first and in the order of Add where the time is the same, in batches
// of at most 16,384, until ctx ends, and then returns nil. fire must not block for long, since
// nothing else fires meanwhile; it may call Add and Cancel, and it may keep the slice. An entry
// that is in a batch can no longer be cancelled. Only one Run at a time.
func (w *Wheel) Run(ctx context.Context, fire func([]Due)) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for ctx.Err() == nil {
		batch, sleep := w.collect()
		if len(batch) > 0 {
			fire(batch)
			continue
		}
		if sleep > 0 {
			timer.Reset(sleep)
		}
		select {
		case <-timer.C:
		case <-w.wake:
			timer.Stop()
		case <-ctx.Done():
		}
	}
	return nil
}

// collect gives what is due by the wall clock or, if nothing is, how long to sleep (0 = until woken).
func (w *Wheel) collect() ([]Due, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wall := w.wall()
	if batch := w.due(tickOf(wall.UnixMilli())); len(batch) > 0 {
		w.armed = 0
		return batch, 0
	}
	_, start, ok := w.next()
	if !ok {
		w.armed = never
		return nil, 0
	}
	w.armed = start
	// The difference of a time without a monotonic reading is one of wall clocks, and saturates.
	sleep := max(time.UnixMilli(start.milli()).Sub(wall), 1)
	w.wakes = time.Now().Add(sleep)
	return nil, sleep
}

// nudge makes Run look again.
func (w *Wheel) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
