package wheel

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// model is the plainest wheel: a list in the order of Add.
type model struct {
	entries []entry
	gone    []Timer
}

type entry struct {
	Due
	timer Timer
}

func (m *model) cancel(i int) Timer {
	t := m.entries[i].timer
	m.entries = slices.Delete(m.entries, i, i+1)
	m.gone = append(m.gone, t)
	return t
}

// due takes out what is due at wall, soonest first, first added first.
func (m *model) due(wall int64) (out []Due) {
	slices.SortStableFunc(m.entries, func(a, b entry) int { return cmp.Compare(a.At, b.At) })
	for len(m.entries) > 0 && m.entries[0].At <= wall {
		out = append(out, m.entries[0].Due)
		m.cancel(0)
	}
	return out
}

// pair is a wheel and its model under one wall clock that moves only by hand.
type pair struct {
	t     testing.TB
	wheel *Wheel
	model model
	wall  int64
	key   int64
}

func newPair(t testing.TB, wall int64) *pair {
	p := &pair{t: t, wall: wall}
	p.wheel = New(Config{Wall: func() time.Time { return time.UnixMilli(p.wall) }})
	return p
}

func (p *pair) add(at int64) {
	p.key++
	timer := p.wheel.Add(at, p.key)
	if timer == 0 {
		p.t.Fatal("Add gave the zero Timer")
	}
	p.model.entries = append(p.model.entries, entry{Due{p.key, at}, timer})
}

func (p *pair) cancel(i int) {
	if len(p.model.entries) == 0 {
		return
	}
	timer := p.model.cancel(i % len(p.model.entries))
	if !p.wheel.Cancel(timer) {
		p.t.Fatal("Cancel of a pending entry gave false")
	}
}

// stale cancels a handle whose entry is gone: nothing may happen.
func (p *pair) stale(i int) {
	if n := len(p.model.gone); n > 0 && p.wheel.Cancel(p.model.gone[i%n]) {
		p.t.Fatal("Cancel of an entry that is gone gave true")
	}
}

// settle fires everything due at the present wall clock and compares.
func (p *pair) settle() {
	var got []Due
	for {
		batch, sleep := p.wheel.collect()
		if len(batch) == 0 {
			p.asleep(sleep)
			break
		}
		got = append(got, batch...)
	}
	if want := p.model.due(p.wall); !slices.Equal(got, want) {
		p.t.Fatalf("at %d fired %v, want %v", p.wall, got, want)
	}
	if p.wheel.Len() != len(p.model.entries) {
		p.t.Fatalf("Len is %d, want %d", p.wheel.Len(), len(p.model.entries))
	}
}

// asleep checks the armed time: none for an empty wheel, else after now and not after the first entry.
func (p *pair) asleep(sleep time.Duration) {
	if p.wheel.Len() == 0 {
		if sleep != 0 {
			p.t.Fatalf("an empty wheel sleeps %v instead of until woken", sleep)
		}
		return
	}
	first := p.wheel.armed.milli()
	if first <= p.wall || sleep <= 0 {
		p.t.Fatalf("armed for %d at %d", first, p.wall)
	}
	for _, e := range p.model.entries {
		if e.At > p.wall && e.At < first {
			p.t.Fatalf("armed for %d, behind the entry of %d", first, e.At)
		}
	}
}

func TestAgainstSortedList(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := newPair(t, r.Int64N(1<<41))
		for range 400 {
			span := int64(1) << r.IntN(34)
			switch r.IntN(10) {
			case 0, 1, 2, 3:
				p.add(p.wall + r.Int64N(span))
			case 4:
				p.add(p.wall - r.Int64N(span))
			case 5:
				p.cancel(r.Int())
			case 6:
				p.stale(r.Int())
			case 7:
				p.wall -= r.Int64N(span) // the clock is set back
			default:
				p.wall += r.Int64N(span)
				p.settle()
			}
		}
		p.wall += 1 << 36
		p.settle()
		if p.wheel.Len() != 0 {
			t.Fatalf("seed %d: %d entries left", seed, p.wheel.Len())
		}
	}
}

func TestFarthestTimes(t *testing.T) {
	p := newPair(t, 0)
	for _, at := range []int64{math.MinInt64, -1, 0, 1, 63, 64, 1 << 40, math.MaxInt64 - 1, math.MaxInt64} {
		p.add(at)
	}
	p.settle()
	for _, wall := range []int64{63, 64, 1 << 40, math.MaxInt64 - 1} {
		p.wall = wall
		if due := p.wheel.due(tickOf(wall)); !slices.Equal(due, p.model.due(wall)) {
			t.Fatalf("at %d fired %v", wall, due)
		}
	}
	if p.wheel.Len() != 1 {
		t.Fatalf("%d left, want the one at the end of time", p.wheel.Len())
	}
}

func FuzzWheel(f *testing.F) {
	f.Add([]byte{0, 10, 0, 0, 0, 3, 20, 0, 0, 0})
	f.Add([]byte{0, 255, 255, 0, 0, 4, 255, 255, 255, 0, 0, 1, 0, 0, 0, 3, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		p := newPair(t, 1<<40)
		for ops = ops[:min(len(ops), 2000)]; len(ops) >= 5; ops = ops[5:] {
			n := binary.LittleEndian.Uint32(ops[1:])
			switch ops[0] % 6 {
			case 0:
				p.add(p.wall + int64(n))
			case 1:
				p.add(p.wall - int64(n))
			case 2:
				p.cancel(int(n))
			case 3:
				p.wall += int64(n)
				p.settle()
			case 4:
				p.wall -= int64(n)
				p.settle()
			case 5:
				p.stale(int(n))
			}
		}
		p.wall += 1 << 33
		p.settle()
	})
}

func TestMemoryIsGivenBack(t *testing.T) {
	p := newPair(t, 0)
	timers := make([]Timer, 100_000)
	for round := range 3 {
		for i := range timers {
			timers[i] = p.wheel.Add(int64(1+i), int64(i))
		}
		held := len(p.wheel.slab.chunks)
		if want := len(timers)/chunkSize + 1; held != want {
			t.Fatalf("round %d: %d chunks, want %d: places are not used again", round, held, want)
		}
		for _, timer := range timers {
			p.wheel.Cancel(timer)
		}
		kept := 0
		for _, c := range p.wheel.slab.chunks {
			if c != nil {
				kept++
			}
		}
		if kept != 1 || p.wheel.slab.empty != 1 {
			t.Fatalf("round %d: %d chunks kept for an empty wheel", round, kept)
		}
	}
}

func TestStaleHandleNeverHitsAnother(t *testing.T) {
	w := New(Config{})
	old := w.Add(math.MaxInt64, 1)
	w.Cancel(old)
	renewed := w.Add(math.MaxInt64, 2)
	if uint32(old) != uint32(renewed) {
		t.Fatal("the place was not used again; the test proves nothing")
	}
	if w.Cancel(old) || w.Len() != 1 {
		t.Fatal("a stale handle cancelled another entry")
	}
	for _, wrong := range []Timer{0, 1, 1 << 32, Timer(5)<<32 | 1<<30, math.MaxUint64} {
		if wrong != renewed && w.Cancel(wrong) {
			t.Fatalf("Cancel(%x) gave true", wrong)
		}
	}
}
