package engine

import (
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// P11, as far as no tools are needed: what is in the journal is never asked for again. A reply that
// calls a tool, then 503s, a park and a crash: the resume goes on behind the call with its result in the context.
func TestJournalP11(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Resends = 0 }, func(h *house) {
		h.models.play("call:lookup", "503", "429/45s", "ok:done")
		id := h.say("ann", "look it up")
		h.wait(s(3))
		h.want(id, store.Parked)
		h.crash()
		h.start()
		done := h.settled(id, s(60))
		rs := h.models.requests()
		if len(rs) != 4 || strings.Count(rs[3].body, "assistant: ") != 1 || !strings.Contains(rs[3].body, "tool: there is no tool of this name") {
			t.Errorf("%d requests; the last saw %q", len(rs), rs[len(rs)-1].body)
		}
		steps, err := h.store.Steps(id)
		if err != nil || len(steps) != 2 || steps[0].Kind != "reply" || steps[1].Kind != "resulted" || done.Text != "done" {
			t.Errorf("%+v, %v, %q", steps, err, done.Text)
		}
	})
}

// A crash between a reply's call and its result: the result is journaled at the resume, the model is not asked for the call again.
func TestJournalCutBehindACallP11(t *testing.T) {
	var cut func()
	inHouse(t, func(p *Parts) {
		p.Crash = func(point string) {
			if point == "stepped" && cut != nil {
				cut()
			}
		}
	}, func(h *house) {
		h.models.play("call:lookup", "ok:done")
		seen := 0
		cut = func() {
			if seen++; seen == 1 {
				go h.engine.endRuns(errShutdown)
			}
		}
		id := h.say("ann", "look it up")
		h.wait(s(1))
		cut = nil
		h.crash()
		h.start()
		done := h.settled(id, s(10))
		rs := h.models.requests()
		if done.Text != "done" || len(rs) != 2 || strings.Count(rs[1].body, "tool: there is no tool of this name") != 1 {
			t.Errorf("%q after %d requests, the last saw %q", done.Text, len(rs), rs[len(rs)-1].body)
		}
	})
}

// F3: the final text has the true count, never 0.
func TestTrueCountF3(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Park, p.Retry.Rearm, p.Retry.Owed, p.Retry.Resends = false, nil, false, 0 }, func(h *house) {
		h.models.play("503")
		if done := h.settled(h.say("ann", "hello"), s(20)); !strings.Contains(done.Text, "after 4 attempts") || done.Requests != 4 {
			t.Errorf("%q", done.Text)
		}
	})
}

// F7: a cooldown is durable, by class or as long as stated, and keeps nobody waiting: the model is asked if all cool.
func TestCooldownF7(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].Models = []string{"fake/one", "fake/two"} }, func(h *house) {
		h.models.playFor("one", "429", "ok:one")
		h.models.playFor("two", "ok:two")
		h.settled(h.say("ann", "a"), s(1))
		h.crash()
		h.start()
		h.wait(s(25))
		if got := h.settled(h.say("ann", "b"), s(1)); got.Text != "two" {
			t.Errorf("a restart has forgotten the cooldown: %q", got.Text)
		}
		h.wait(s(6))
		if got := h.settled(h.say("ann", "c"), s(1)); got.Text != "one" {
			t.Errorf("not back after 30 s: %q", got.Text)
		}
		h.models.playFor("one", "429", "ok:one")
		h.models.playFor("two", "429", "ok:two")
		done := h.settled(h.say("ann", "d"), s(10))
		if done.Outcome != store.Answered || done.Parks != 0 {
			t.Errorf("all cool: %+v", done)
		}
	})
}

// R5: a person's message starts the count again.
func TestMessageStartsCountAgainR5(t *testing.T) {
	inHouse(t, shortLadder, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(2*time.Minute + s(2))
		if p := h.want(id, store.Rearming); p.RearmN != 2 {
			t.Errorf("%+v", p)
		}
		h.say("ann", "still there?")
		h.wait(s(2))
		if p := h.want(id, store.Rearming); p.RearmN != 1 || p.Wait.MS != 120_000 {
			t.Errorf("%+v", p)
		}
	})
}

// F14: too large: the oldest messages are left out, half of all or to the stated limit, which is remembered; sent once more, then it ends.
func TestTooLargeF14(t *testing.T) {
	for word, want := range map[string]int{"413": 600, "413/limit100": 300} {
		inHouse(t, nil, func(h *house) {
			for i := range 5 {
				h.settled(h.say("ann", strings.Repeat(string(rune('a'+i)), 200)), s(1))
			}
			h.models.play(word, "ok")
			done := h.settled(h.say("ann", "now?"), s(1))
			rs := h.models.requests()
			before, after := rs[len(rs)-2].body, rs[len(rs)-1].body
			if done.Outcome != store.Answered || len(before) < 1000 || len(after) > want || !strings.Contains(after, "now?") || strings.Contains(after, "aaa") {
				t.Errorf("%s: %s, %d bytes, then %d", word, done.Outcome, len(before), len(after))
			}
			h.settled(h.say("ann", "and then?"), s(1))
			rs = h.models.requests()
			if last := rs[len(rs)-1].body; word != "413" && len(last) > want {
				t.Errorf("the stated limit is forgotten: %d bytes", len(last))
			}
			h.models.play("413")
			if end := h.settled(h.say("ann", "again"), s(1)); end.Outcome != store.Failed || end.Requests != 2 {
				t.Errorf("%+v", end)
			}
		})
	}
}

// A kill in the middle of a wait in process makes no request earlier: not inside a hold that was to be asked
// at its half, and not before the end of a back-off (nothing runs early).
func TestKilledWaitRunsAtItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		does  string
		retry func(p *Parts)
		until time.Duration
	}{
		"half of a stated wait": {"429/40s", func(p *Parts) { p.Retry.Park, p.Retry.StatedWaitEarly = false, true }, s(20)},
		"back-off":              {"503", func(p *Parts) { p.Retry.Park, p.Retry.Resends, p.Retry.WaitBase = false, 0, s(20) }, s(20)},
		"resend":                {"503", func(p *Parts) { p.Retry.ResendBase, p.Retry.ResendLongest = s(20), 0 }, s(20)},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, c.retry, func(h *house) {
				h.models.play(c.does, "ok")
				id := h.say("ann", "hello")
				h.want(id, store.Retrying)
				for range 3 {
					h.wait(s(3))
					h.crash()
					h.start()
				}
				h.wait(time.Millisecond)
				if got := h.want(id, store.Parked); got.Parks != 0 || got.Requests != 1 {
					t.Errorf("%+v", got)
				}
				got := h.settled(id, s(12))
				if n := gaps(h.models.requests()); len(n) != 1 || n[0] < c.until || n[0] > c.until+s(1) || got.Requests != 2 {
					t.Errorf("asked again after %v, want %v; %+v", n, c.until, got)
				}
			})
		})
	}
}
