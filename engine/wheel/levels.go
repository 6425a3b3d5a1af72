package wheel

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	slotBits      = 6
	slotsPerLevel = 1 << slotBits
	levels        = (64 + slotBits - 1) / slotBits
	batchLimit    = 1 << 14 // entries handed out at once
	never         = tick(math.MaxUint64)
)

// tick is a wall-clock millisecond, shifted so that the unsigned order is the order of time.
type tick uint64

func tickOf(milli int64) tick { return tick(milli) ^ 1<<63 }

func (t tick) milli() int64 { return int64(t ^ 1<<63) }

// list is a slot's entries in the order they came; meaningless while the slot's bit is not set.
type list struct{ head, tail int32 }

// place lays an entry out as seen from w.now. What is not after w.now goes into the very slot of
// w.now, which is the first that due looks at.
func (w *Wheel) place(id int32, n *node) {
	t := tickOf(n.at)
	if t < w.now {
		t, w.late = w.now, true
	}
	level := max(bits.Len64(uint64(t^w.now))-1, 0) / slotBits
	slot := int(t>>(slotBits*level)) & (slotsPerLevel - 1)
	n.slot, n.next, n.prev = uint16(level<<slotBits|slot), none, none
	l := &w.slots[n.slot]
	if bit := uint64(1) << slot; w.used[level]&bit == 0 {
		w.used[level] |= bit
		*l = list{id, id}
		return
	}
	n.prev = l.tail
	w.slab.at(l.tail).next = id
	l.tail = id
}

// unlink takes an entry out of its slot.
func (w *Wheel) unlink(n *node) {
	l := &w.slots[n.slot]
	if n.prev == none && n.next == none {
		w.clear(int(n.slot))
		return
	}
	if n.prev == none {
		l.head = n.next
	} else {
		w.slab.at(n.prev).next = n.next
	}
	if n.next == none {
		l.tail = n.prev
	} else {
		w.slab.at(n.next).prev = n.prev
	}
}

// clear marks a slot as empty.
func (w *Wheel) clear(slot int) {
	w.used[slot>>slotBits] &^= 1 << (slot & (slotsPerLevel - 1))
}

// next is the first occupied slot and the tick at which it begins.
func (w *Wheel) next() (slot int, start tick, ok bool) {
	for level, used := range w.used {
		if used == 0 {
			continue
		}
		digit := bits.TrailingZeros64(used)
		above := tick(1)<<(slotBits*(level+1)) - 1 // all ones on the highest level, where the shift leaves 0
		return level<<slotBits | digit, w.now&^above | tick(digit)<<(slotBits*level), true
	}
	return 0, 0, false
}

// due takes out what is due at wall, soonest first, at most one batch, and brings w.now up to
// where it looked.
func (w *Wheel) due(wall tick) (batch []Due) {
	if wall < w.now && w.used[0]>>(w.now&(slotsPerLevel-1))&1 == 1 {
		w.rebase(wall) // the clock went back, and something was laid out as due that no longer is
	}
	for {
		slot, start, ok := w.next()
		if !ok || start > wall {
			w.now = max(w.now, wall) // passes no occupied slot, so the layout stays right
			return batch
		}
		w.now = start
		if slot >= slotsPerLevel {
			head := w.slots[slot].head
			w.clear(slot)
			w.replace(head)
			continue
		}
		if w.late {
			w.sort(slot)
			w.late = false
		}
		if batch = w.pop(slot, batch); len(batch) == batchLimit {
			return batch
		}
	}
}

// pop moves a slot's entries to the batch, as far as they fit.
func (w *Wheel) pop(slot int, batch []Due) []Due {
	l := &w.slots[slot]
	for len(batch) < batchLimit {
		id, n := l.head, w.slab.at(l.head)
		batch = append(batch, Due{n.key, n.at})
		l.head = n.next
		w.slab.give(id, n)
		w.count--
		if l.head == none {
			w.clear(slot)
			return batch
		}
		w.slab.at(l.head).prev = none
	}
	return batch
}

// replace lays the entries of a chain out anew.
func (w *Wheel) replace(id int32) {
	for id != none {
		n := w.slab.at(id)
		next := n.next
		w.place(id, n)
		id = next
	}
}

// rebase lays everything out as seen from now. It costs a walk over all entries and is needed only
// after the clock went back behind something that was held.
func (w *Wheel) rebase(now tick) {
	used, slots := w.used, w.slots
	w.used, w.now = [levels]uint64{}, now
	for level, u := range used {
		for ; u != 0; u &= u - 1 {
			w.replace(slots[level<<slotBits|bits.TrailingZeros64(u)].head)
		}
	}
}

// sort puts a slot of the lowest level into the order of time; equal times keep their order.
func (w *Wheel) sort(slot int) {
	var ids []int32
	for id := w.slots[slot].head; id != none; id = w.slab.at(id).next {
		ids = append(ids, id)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(w.slab.at(a).at, w.slab.at(b).at) })
	for i, id := range ids {
		n := w.slab.at(id)
		n.prev, n.next = none, none
		if i > 0 {
			n.prev = ids[i-1]
		}
		if i < len(ids)-1 {
			n.next = ids[i+1]
		}
	}
	w.slots[slot] = list{ids[0], ids[len(ids)-1]}
}
