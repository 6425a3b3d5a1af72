package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"holdfast/store"
)

// R14: turns that want to send in the same moment do not go over a provider's limit together; those
// that come too late wait for the day to turn.
func TestDailyRequestsHoldForTurnsAtOnceR14(t *testing.T) {
	inHouse(t, func(p *Parts) {
		f := p.Providers["fake"]
		f.Config.DailyRequests, f.Config.Concurrency = 2, 16
		p.Providers["fake"] = f
	}, func(h *house) {
		h.models.took = s(1)
		var all sync.WaitGroup
		ids := make([]store.ID, 16)
		for i := range ids {
			all.Go(func() {
				a, err := h.engine.Receive(t.Context(), Incoming{Bot: "bot", Surface: "web", Channel: fmt.Sprint("room", i), Key: fmt.Sprint("k", i), Person: fmt.Sprint("p", i), Text: "hello"})
				if err != nil {
					t.Error(err)
				}
				ids[i] = a.Turn
			})
		}
		all.Wait()
		h.wait(s(10))
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("%d requests, 2 are allowed", n)
		}
		states := map[store.State]int{}
		for _, id := range ids {
			turn := h.turn(id)
			states[turn.State]++
			if turn.State == store.Parked && turn.From != "budget" {
				t.Errorf("%+v", turn)
			}
		}
		if states[store.Done] != 2 || states[store.Parked] != 14 {
			t.Errorf("%v", states)
		}
	})
}

// R14: who has to wait for the day to turn is told so at once, not with the next message that goes out.
func TestSpentAllowanceIsToldAtOnceR14(t *testing.T) {
	inHouse(t, func(p *Parts) {
		onChat(p)
		f := p.Providers["fake"]
		f.Config.DailyRequests = 1
		p.Providers["fake"] = f
	}, func(h *house) {
		h.settled(h.say("ann", "hello"), s(1))
		h.wait(s(1))
		h.want(h.sayIn("other", "bob", "hello"), store.Parked)
		h.wait(s(1))
		if got := h.web.shown(); len(got) != 2 || !strings.HasPrefix(got[1], "The allowance for today is used up") {
			t.Errorf("shown %q", got)
		}
	})
}

// R14: a message that the platform delivers twice counts once against its person's limit.
func TestDeliveredTwiceCountsOnceR14(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].PerPerson = 2 }, func(h *house) {
		say := func(key string) store.Turn {
			t.Helper()
			a, err := h.engine.Receive(t.Context(), Incoming{Bot: "bot", Surface: "web", Channel: "room", Key: key, Person: "ann", Text: "hello"})
			if err != nil {
				t.Fatal(err)
			}
			return h.settled(a.Turn, s(5))
		}
		for range 4 {
			say("k1")
		}
		if second := say("k2"); second.Outcome != store.Answered {
			t.Errorf("the second message: %+v", second)
		}
		if third := say("k3"); third.Outcome != store.Refused || third.Text != "Those were your 2 messages for today; it goes on tomorrow." {
			t.Errorf("the third message: %+v", third)
		}
	})
}
