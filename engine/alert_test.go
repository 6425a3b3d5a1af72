package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// openAlerts are the kinds that are open.
func (h *house) openAlerts() []string {
	h.t.Helper()
	list, err := h.store.OpenAlerts()
	if err != nil {
		h.t.Fatal(err)
	}
	var kinds []string
	for _, a := range list {
		kinds = append(kinds, a.Kind)
	}
	return kinds
}

// R10: a run of stated waits is told once, by its length.
func TestProviderWaitR10(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []string
		do     func(h *house, id store.ID)
		want   int
	}{
		{"four holds over 75 min", []string{"429/20m", "429/20m", "429/21m", "429/14m", "ok"}, func(h *house, _ store.ID) { h.wait(80 * time.Minute) }, 1},
		{"one of more than an hour, at once", []string{"429/61m", "ok"}, func(h *house, _ store.ID) { h.wait(s(1)) }, 1},
		{"one of an hour", []string{"429/60m", "ok"}, func(h *house, _ store.ID) { h.wait(70 * time.Minute) }, 0},
		{"two that end after more than an hour", []string{"429/40m", "429/30m", "ok"}, func(h *house, _ store.ID) { h.wait(80 * time.Minute) }, 1},
		{"released at minute 41, open to 71", []string{"429/20m", "429/40m", "hang"}, func(h *house, _ store.ID) {
			h.wait(41 * time.Minute)
			if err := h.engine.Release(h.t.Context(), "fake/one", nil); err != nil {
				h.t.Fatal(err)
			}
			h.wait(29 * time.Minute)
		}, 0},
		{"stopped at 45 of a wait to 90", []string{"429/20m", "429/50m", "ok"}, func(h *house, id store.ID) {
			h.wait(45 * time.Minute)
			if _, err := h.engine.Stop(h.t.Context(), Order{Turn: id}); err != nil {
				h.t.Fatal(err)
			}
			h.wait(time.Hour)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(p *Parts) { p.Config.TurnDeadline = 3 * time.Hour }, func(h *house) {
				h.models.play(c.script...)
				id := h.say("ann", "hello")
				c.do(h, id)
				if got := len(h.log.with("alert raised kind=provider_wait")); got != c.want {
					t.Errorf("raised %d times, want %d\n%s", got, c.want, h.log)
				}
			})
		})
	}
}

// R10: hard_down at the third exhaustion in a row of a bot, cleared by a completed step. Outage after five minutes, cleared by an answer.
func TestHardDownAndOutageR10(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.ParkHorizon, p.Retry.Waits = 0, 1 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(4 * time.Minute)
		equal(t, "after two exhaustions", h.openAlerts(), []string(nil))
		h.wait(10 * time.Minute)
		if got := fmt.Sprint(h.openAlerts()); got != "[outage hard_down]" {
			t.Errorf("open: %s\n%s", got, h.log)
		}
		a, _ := h.store.OpenAlerts()
		if !strings.Contains(a[0].Text, "fake/one has answered nobody since 00:00:00: 1 turn of 1 person wait, the oldest since 00:00:00") {
			t.Errorf("%q", a[0].Text)
		}
		h.models.play("ok")
		h.settled(id, time.Hour)
		equal(t, "after an answer", h.openAlerts(), []string(nil))
		if n := len(h.log.with("alert cleared")); n != 2 {
			t.Errorf("%d cleared", n)
		}
	})
}

// Alerts follow their own length: an outage of half a minute is told within seconds of its time, not by the minute.
func TestOutageIsToldInTime(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Alerts.Outage = 20 * time.Second }, func(h *house) {
		h.models.play("503")
		h.say("ann", "hello")
		h.wait(19 * time.Second)
		equal(t, "before its time", h.openAlerts(), []string(nil))
		h.wait(1*time.Second + clockCheck)
		equal(t, "at its time", h.openAlerts(), []string{"outage"})
	})
}

// F13: auth without a fallback is owed with an alert at once; one try an hour, and a message starts it.
func TestAccountF13(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("401")
		var all []store.ID
		for i := range 5 {
			all = append(all, h.sayIn(fmt.Sprint("room", i), fmt.Sprint("p", i), "hello"))
		}
		for _, id := range all {
			if p := h.want(id, store.Owed); p.Reason.Why != "account" {
				t.Errorf("%+v", p)
			}
		}
		equal(t, "alerts", h.openAlerts(), []string{"account"})
		h.wait(5*time.Hour + time.Minute)
		if n := len(h.models.requests()) - 5; n < 4 || n > 6 {
			t.Errorf("%d requests in five hours, want one an hour", n)
		}
		h.models.play("ok")
		h.sayIn("room0", "p0", "now?")
		h.settled(all[0], s(1))
		for _, id := range all {
			h.settled(id, time.Hour)
		}
		equal(t, "alerts", h.openAlerts(), []string(nil))
	})
}

// F13: an account that answers another turn lets in at once whom it has refused before, also if none of them
// has asked again yet.
func TestMendedAccountAnswersAllF13(t *testing.T) {
	for _, word := range []string{"401", "402"} {
		inHouse(t, nil, func(h *house) {
			h.models.play(word, word, "ok")
			first, second := h.sayIn("a", "ann", "hello"), h.sayIn("b", "bob", "hello")
			h.want(first, store.Owed)
			h.want(second, store.Owed)
			h.wait(time.Minute)
			h.crash()
			h.start()
			h.settled(h.sayIn("c", "cid", "hello"), s(1))
			h.settled(first, s(2))
			h.settled(second, s(2))
			equal(t, word+" alerts", h.openAlerts(), []string(nil))
		})
	}
}

// F13: a start with a changed key wakes them.
func TestAccountChangedKeyF13(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("401", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Owed)
		h.shutdown()
		p := h.parts.Providers["fake"]
		p.KeyID = "another"
		h.parts.Providers = map[string]Provider{"fake": p}
		h.start()
		h.settled(id, s(2))
	})
}

// R15: a turn at whose step the process has died five times is not run again by itself.
func TestPoisonedR15(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("hang")
		id := h.say("ann", "hello")
		for range 5 {
			h.want(id, store.Running)
			h.crash()
			h.start()
		}
		done := h.want(id, store.Done)
		if done.Outcome != store.Failed || !strings.Contains(done.Text, "5 times") || len(h.models.requests()) != 5 {
			t.Errorf("%+v, %d requests", done, len(h.models.requests()))
		}
		equal(t, "alerts", h.openAlerts(), []string{"poisoned"})
	})
}

// R13: an owed turn whose last message is old asks whether it is still wanted; any reply runs it.
func TestStaleR13(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "what is\nopen?")
		h.wait(10 * time.Hour)
		h.want(id, store.Owed)
		h.wait(3 * time.Hour)
		n := len(h.models.requests())
		p := h.want(id, store.Owed)
		if p.Reason.Why != "stale" {
			t.Fatalf("%+v", p)
		}
		lines := h.transcript()
		if !strings.Contains(lines[len(lines)-1], "I can answer now; you asked 12 hours ago: “what is open?” Still wanted?") {
			t.Errorf("%q", lines)
		}
		h.models.play("ok")
		h.wait(24 * time.Hour)
		if len(h.models.requests()) != n {
			t.Error("a stale turn ran by itself")
		}
		h.say("ann", "yes")
		h.settled(id, s(1))
	})
}

// R13: nobody is asked inside a hold.
func TestStaleIsNotAskedInsideAHoldR13(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "what is open?")
		h.wait(11*time.Hour + 58*time.Minute)
		h.want(id, store.Owed)
		h.models.play("429/10m", "ok")
		h.sayIn("elsewhere", "bob", "hello")
		h.wait(9 * time.Minute)
		if p := h.want(id, store.Owed); p.Reason.Why == "stale" {
			t.Errorf("inside the hold: %+v", p.Reason)
		}
		h.wait(6 * time.Minute)
		if p := h.want(id, store.Owed); p.Reason.Why != "stale" {
			t.Errorf("after an answer to bob: %+v", p.Reason)
		}
		equal(t, "alerts of a model that has answered", h.openAlerts(), []string(nil))
	})
}

// R14: over a day's allowance turns park until the day turns, nothing is counted and nothing fails.
func TestBudgetsR14(t *testing.T) {
	for name, configure := range map[string]func(*Parts){
		"requests": func(p *Parts) {
			f := p.Providers["fake"]
			f.Config.DailyRequests = 2
			p.Providers = map[string]Provider{"fake": f}
		},
		"tokens": func(p *Parts) { p.Bots[0].DailyTokens = 8 },
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, configure, func(h *house) {
				h.settled(h.say("ann", "one"), s(1))
				h.settled(h.say("ann", "two"), s(1))
				id := h.say("ann", "three")
				p := h.want(id, store.Parked)
				if p.Reason.Why != "budget" || p.Wait.From != "budget" || p.Parks != 0 || p.RetryAt != store.At(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)) {
					t.Errorf("%+v", p)
				}
				posts, err := h.store.Posts(id)
				if want := "The allowance for today is used up; your message is kept and goes on tomorrow at 00:00:00, no need to send it again."; err != nil || len(posts) != 1 || posts[0].Text != want {
					t.Errorf("told %+v, %v; want %q", posts, err, want)
				}
				h.crash()
				h.offset.Store(int64(22 * time.Hour)) // down for most of the day
				h.start()
				h.wait(time.Hour)
				h.want(id, store.Parked)
				h.settled(id, time.Hour+s(5))
			})
		})
	}
}

// R14: per_person and max_waiting: one more is told so at once, politely; it has a row.
func TestPersonalLimitsR14(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].PerPerson = 2 }, func(h *house) {
		h.settled(h.say("ann", "one"), s(1))
		h.settled(h.say("ann", "two"), s(1))
		if got := h.settled(h.say("ann", "three"), s(1)); got.Outcome != store.Refused || !strings.Contains(got.Text, "your 2 messages for today") {
			t.Errorf("%+v", got)
		}
		h.settled(h.say("bob", "mine"), s(1))
	})
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		for i := range 5 {
			h.want(h.sayIn(fmt.Sprint("room", i), "ann", "hello"), store.Parked)
		}
		if got := h.settled(h.sayIn("room5", "ann", "hello"), s(1)); got.Outcome != store.Refused || len(h.models.requests()) != 1 {
			t.Errorf("%+v", got)
		}
		h.want(h.sayIn("room5", "bob", "hello"), store.Parked)
	})
}

// Settled turns are deleted after Keep, the others stay.
func TestOldTurnsGo(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Keep = 48 * time.Hour }, func(h *house) {
		h.models.play("ok", "429/80h", "ok")
		done := h.say("ann", "one")
		h.settled(done, s(1))
		waits := h.sayIn("other", "bob", "two")
		h.want(waits, store.Owed)
		h.wait(47 * time.Hour)
		h.want(done, store.Done)
		h.wait(3 * time.Hour)
		if _, err := h.store.Turn(done); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("an old turn is still there: %v", err)
		}
		h.turn(waits)
	})
}
