package engine

import (
	"fmt"
	"testing"
	"time"

	"holdfast/store"
)

// worked is what the store has done while f ran.
func (h *house) worked(f func()) store.Work {
	h.t.Helper()
	before := h.store.Work()
	f()
	after := h.store.Work()
	return store.Work{Read: after.Read - before.Read, Written: after.Written - before.Written, Commits: after.Commits - before.Commits}
}

// A house where nothing happens asks its store for nothing, however many turns wait: what its last sweep has
// read stands as long as nothing is written. No schedule, gate or turn is looked up, nothing is written.
func TestIdleHouseReadsNothing(t *testing.T) {
	inHouse(t, func(p *Parts) {
		p.Surfaces = append(p.Surfaces, &fakeSurface{name: "slack/x"})
		p.Schedules = []Schedule{{Name: "daily", Bot: "bot", Cron: "0 9 * * *", Prompt: "x", Missed: "once"}}
	}, func(h *house) {
		h.models.play("429/10h")
		for i := range 20 {
			h.sayIn(fmt.Sprint("room", i), fmt.Sprint("person", i), "hello")
		}
		h.wait(10 * time.Minute) // notices are out, and the outage is told
		got := h.worked(func() {
			for range 20 {
				h.wait(time.Minute)
				if err := h.engine.Ready(); err != nil {
					t.Fatal(err)
				}
			}
		})
		if got != (store.Work{}) {
			t.Errorf("%+v in 20 minutes, want nothing", got)
		}
	})
}

// P8: a timer that was lost is found by what an earlier sweep has read, as long as that stands.
func TestSweepFindsALostTimerWithoutAReadP8(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Resends = 0; p.Retry.ParkFrom = 0 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(s(63)) // 2, 4, 8, 16, 32
		if got := h.want(id, store.Parked); got.MS != 60_000 {
			t.Fatalf("waits %d ms", got.MS)
		}
		e := h.engine
		lose := func() (held bool) {
			e.mu.Lock()
			defer e.mu.Unlock()
			_, held = e.timers[id]
			e.dropTimer(id)
			return held
		}
		for _, reads := range []int64{1, 0, 0} { // the first reads what has been written since the last
			if !lose() {
				t.Fatal("its time lies in the window, and no timer is set")
			}
			if got := h.worked(e.sweep); got != (store.Work{Read: reads}) {
				t.Errorf("%+v, want %d reads", got, reads)
			}
		}
		h.models.play("ok")
		h.settled(id, s(60))
	})
}

// A plain turn, one question and one answer on the page, is three commits; what it reads and writes for
// that is noted here.
func TestStatementsOfAPlainTurn(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.settled(h.say("ann", "hello"), s(1)) // the first of a day reads what was used up, and makes the conversation
		got := h.worked(func() { h.say("ann", "hello again") })
		if want := (store.Work{Read: 1, Written: 29, Commits: 3}); got != want {
			t.Errorf("%+v, noted are %+v", got, want)
		}
	})
}

// A turn goes by the row that was written for it, also if it has stood in line; how many re-arms another's
// turn of its conversation has used up meanwhile is asked when it fails.
func TestTurnInLineCountsWhatWasUsedUpR4(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Resends, p.Retry.Waits, p.Retry.Park = 0, 0, false }, func(h *house) {
		h.models.took = s(1)
		h.models.play("503")
		first := h.say("ann", "hello")
		second := h.say("bob", "hello too")
		h.wait(s(1) + time.Millisecond)
		if got := h.want(first, store.Rearming); got.RearmN != 1 {
			t.Errorf("the first is at re-arm %d", got.RearmN)
		}
		h.wait(s(1))
		if got := h.want(second, store.Rearming); got.RearmN != 2 {
			t.Errorf("the second is at re-arm %d, want 2: the conversation has had one", got.RearmN)
		}
	})
}

// One that is delivered to a chat platform is two commits more: handed over, and out. No alert is looked up.
func TestStatementsOfADeliveredTurn(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Surfaces = append(p.Surfaces, &fakeSurface{name: "slack/x"}) }, func(h *house) {
		var got store.Work
		for _, key := range []string{"first", "second"} { // the first makes the conversation
			got = h.worked(func() {
				if _, err := h.engine.Receive(t.Context(), Incoming{Bot: "bot", Surface: "slack/x", Channel: "C1", Key: key, Person: "ann", Text: "hello"}); err != nil {
					t.Fatal(err)
				}
				h.wait(s(1))
			})
		}
		if want := (store.Work{Read: 4, Written: 37, Commits: 5}); got != want {
			t.Errorf("%+v, noted are %+v", got, want)
		}
	})
}

// A turn that was parked is taken up again with no look at its journal, since no call can be open in it.
func TestStatementsOfAResumedTurn(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Resends = 0; p.Retry.ParkFrom = 0 }, func(h *house) {
		h.models.play("503", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Parked)
		got := h.worked(func() { h.wait(s(3)) })
		h.want(id, store.Done)
		if want := (store.Work{Read: 3, Written: 21, Commits: 2}); got != want {
			t.Errorf("%+v, noted are %+v", got, want)
		}
	})
}

// The clock was set back while no process ran (P16): what waits is due after its own wait at the latest,
// not as long after it as the clock was wrong.
func TestClockSetBackWhileStoppedP16(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Resends = 0; p.Retry.ParkFrom = 0 }, func(h *house) {
		h.models.play("503", "503", "ok")
		id := h.say("ann", "hello")
		h.wait(s(3))
		if got := h.want(id, store.Parked); got.MS != 4000 {
			t.Fatalf("waits %d ms", got.MS)
		}
		h.shutdown()
		h.offset.Add(-int64(6 * time.Hour))
		h.start()
		after := h.want(id, store.Parked)
		if left := after.RetryAt.Sub(h.engine.now()); left > s(4) || left <= 0 {
			t.Errorf("due in %v, its own wait is 4 s", left)
		}
		h.wait(s(3.9))
		h.want(id, store.Parked)
		h.wait(s(.2))
		h.want(id, store.Done)
	})
}
