package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
)

const busy = "The AI is busy right now — give it a minute and ask again."

// visit sends a message in the fail-fast lane.
func (h *house) visit(channel, text string) store.ID {
	h.t.Helper()
	h.said++
	a, err := h.engine.Receive(h.t.Context(), Incoming{Bot: "bot", Surface: "web", Channel: channel, Key: fmt.Sprint("v", h.said), Person: "visitor:" + channel, Text: text, Lane: failFast, Own: true})
	if err != nil {
		h.t.Fatal(err)
	}
	synctest.Wait()
	return a.Turn
}

// transcriptOf is a chat's messages as "role kind: text" lines.
func (h *house) transcriptOf(chat string) (lines []string) {
	h.t.Helper()
	synctest.Wait()
	c, err := h.store.Chat(chat)
	if err != nil {
		h.t.Fatal(err)
	}
	ms, err := h.store.Messages(c.ID, 0, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range ms {
		lines = append(lines, m.Role+" "+m.Kind+": "+m.Text)
	}
	return lines
}

// ended fails unless a turn has failed with a text, after a number of requests.
func (h *house) ended(id store.ID, text string, requests int) store.Turn {
	h.t.Helper()
	t := h.want(id, store.Done)
	if t.Outcome != store.Failed || t.Text != text || t.Error != text || t.Requests != requests || t.Parks != 0 {
		h.t.Errorf("%q after %d requests, want %q after %d: %+v", t.Text, t.Requests, text, requests, t)
	}
	return t
}

// T6: of 6 + 6 the second wait is not begun; the busy text is exact.
func TestFailFastSixAndSixT6(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/6s")
		id := h.visit("v", "hello")
		h.wait(s(5.9))
		if p := h.want(id, store.Retrying); p.Wait.MS != 6000 {
			t.Errorf("%+v", p)
		}
		h.wait(s(.2))
		h.ended(id, busy, 2)
		equal(t, "gaps", gaps(h.models.requests()), []time.Duration{s(6)})
		equal(t, "transcript", h.transcriptOf("v"), []string{"user message: hello", "bot terminal: " + busy})
	})
}

// T6: waits within the limit are made, and answered.
func TestFailFastAnswersT6(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/6s", "503/4s", "ok")
		if got := h.settled(h.visit("v", "hello"), s(11)); got.Outcome != store.Answered || got.Requests != 3 {
			t.Errorf("%+v", got)
		}
	})
}

// T6: a stated wait over the limit ends at once: with the busy text up to a minute, else with the time.
func TestFailFastStatedT6(t *testing.T) {
	for _, c := range []struct{ script, text string }{
		{"429/45s", busy}, {"429/60s", busy}, {"429/90s", "Out of capacity until 00:01:30; the question stays in the box."},
		{"503/2h", "Out of capacity until 02:00:00; the question stays in the box."}, {"429/26h", "Out of capacity until 2000-01-02 02:00:00; the question stays in the box."},
	} {
		inHouse(t, nil, func(h *house) {
			h.models.play(c.script)
			h.ended(h.visit("v", "hello"), c.text, 1)
		})
	}
}

// T6: no stated wait: the resends and then the busy text for rate limits and overload, one of its own for other classes.
func TestFailFastClassesT6(t *testing.T) {
	for script, text := range map[string]string{
		"429": busy, "503": busy, "500": "Cannot answer this: fake has a problem of its own, after 1 attempt.",
		"reset": "Cannot answer this: fake cannot be reached, after 1 attempt.",
	} {
		inHouse(t, nil, func(h *house) {
			h.models.play(script)
			id := h.visit("v", "hello")
			h.wait(s(2))
			h.ended(id, text, 3)
			h.wait(time.Hour)
			if n := len(h.models.requests()); n != 3 {
				t.Errorf("%s: %d requests after an hour: it was re-armed", script, n)
			}
		})
	}
	inHouse(t, nil, func(h *house) {
		h.models.play("401")
		if got := h.want(h.visit("v", "hello"), store.Done); got.Outcome != store.Failed || got.Text == busy {
			t.Errorf("%+v", got)
		}
	})
}

// T6: at a closed gate without a usable fallback the text comes at once, without a request.
func TestFailFastAtClosedGateT6(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/10m")
		h.want(h.say("ann", "hello"), store.Parked)
		h.ended(h.visit("v", "hello"), "Out of capacity until 00:10:00; the question stays in the box.", 0)
		h.wait(9*time.Minute + s(30))
		h.ended(h.visit("v", "again"), busy, 0)
		if n := len(h.models.requests()); n != 1 {
			t.Errorf("%d requests inside the hold", n)
		}
	})
	inHouse(t, nil, func(h *house) { // a gate that is down: nobody knows until when
		h.models.play("503")
		for i := range 3 {
			h.sayIn(fmt.Sprint("room", i), fmt.Sprint("p", i), "hello")
		}
		h.wait(s(20))
		if got := h.ended(h.visit("v", "hello"), busy, 0); got.Reason.Why != "gate" {
			t.Errorf("%+v", got)
		}
	})
	inHouse(t, nil, func(h *house) {
		if err := h.engine.Pause(h.t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		h.ended(h.visit("v", "hello"), busy, 0)
	})
}

// T6: a usable fallback is taken at a closed gate, and at one that lets one ask at a time.
func TestFailFastTakesFallbackT6(t *testing.T) {
	inHouse(t, func(p *Parts) {
		p.Bots[0].Models = []string{"fake/one", "fake/two"}
		p.Retry.StatedWaitFallback = time.Hour
	}, func(h *house) {
		h.models.playFor("one", "429/30s", "silent")
		h.models.playFor("two", "ok:two")
		held := h.say("ann", "hello")
		h.want(held, store.Parked)
		if got := h.settled(h.visit("v", "hello"), s(1)); got.Text != "two" || got.Requests != 1 {
			t.Errorf("closed: %+v", got)
		}
		h.wait(s(31))
		h.models.mu.Lock()
		asking := h.models.live
		h.models.mu.Unlock()
		if asking != 1 {
			t.Fatalf("%d ask\n%s", asking, h.log)
		}
		if got := h.settled(h.visit("v", "hello"), s(1)); got.Text != "two" || got.Requests != 1 {
			t.Errorf("half open: %+v", got)
		}
	})
}

// T6, R14: a day's allowance that is used up is told with the time.
func TestFailFastOverTheDayT6(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].DailyTokens = 1 }, func(h *house) {
		h.settled(h.visit("v", "hello"), s(1))
		h.ended(h.visit("v", "hello"), "Out of capacity until 2000-01-02 00:00:00; the question stays in the box.", 0)
	})
}

// T6: a code or a login lifts it: the same wait is parked.
func TestDurableLaneLiftsT6(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("code:alice", "hello")
		h.want(id, store.Parked)
		h.settled(id, s(46))
	})
}
