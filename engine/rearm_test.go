package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// shortLadder exhausts a turn within a second: no resends, one wait, no room for parks.
func shortLadder(p *Parts) {
	p.Retry.Resends, p.Retry.Waits, p.Retry.WaitBase, p.Retry.ParkHorizon = 0, 1, s(.5), 0
}

// R1, R4, R11: exhausted, it is sent again after 2, 8 and 32 min, one request each, over a restart; then it is owed and waits.
func TestRearmR1R4R11(t *testing.T) {
	inHouse(t, shortLadder, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(s(1))
		for n := 1; n <= 3; n++ {
			p := h.want(id, store.Rearming)
			if p.RearmN != n || p.RearmOf != 3 || p.Wait.From != "rearm" {
				t.Errorf("%+v", p)
			}
			equal(t, "upcoming", h.engine.Shape().Upcoming, []Upcoming{{Kind: "rearm", Turn: id, At: p.RetryAt, Count: n, Of: 3}})
			h.crash()
			h.start()
			h.wait(p.RetryAt.Sub(h.engine.now()) + s(.1))
		}
		h.want(id, store.Owed)
		equal(t, "gaps", gaps(h.models.requests()), []time.Duration{s(.5), 2 * time.Minute, 8 * time.Minute, 32 * time.Minute})
		lines := h.log.with("turn re-armed")
		if len(lines) != 3 || !strings.Contains(lines[0], "n=1 of=3") {
			t.Errorf("%v", lines)
		}
		h.models.play("ok")
		h.settled(id, 6*time.Minute)
		equal(t, "transcript", h.transcript(), []string{"user message: hello", "bot answer: answer"})
	})
}

// R2: a message of the same person during the wait runs it at once, with the full ladder.
func TestRearmWokenByMessageR2(t *testing.T) {
	inHouse(t, shortLadder, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(s(1))
		h.want(id, store.Rearming)
		h.models.play("503", "ok:both")
		h.say("ann", "still there?")
		h.want(id, store.Retrying) // the full ladder: it waits in process first
		done := h.settled(id, s(2))
		if done.Text != "both" || done.Messages != 2 {
			t.Errorf("%+v", done)
		}
	})
}

// R3: what is not re-armed, and the log says why.
func TestNotRearmedR3(t *testing.T) {
	for word, why := range map[string]string{"400": "refused", "401": "account", "402": "account"} {
		inHouse(t, shortLadder, func(h *house) {
			h.models.play(word)
			h.say("ann", "hello")
			h.wait(10 * time.Minute)
			if lines := h.log.with("turn not re-armed"); len(lines) != 1 || !strings.Contains(lines[0], "why="+why) {
				t.Errorf("%s: %v", word, lines)
			}
		})
	}
}

// R4: a stated wait on a re-armed send is waited out and does not use it up.
func TestRearmStatedWaitR4(t *testing.T) {
	inHouse(t, shortLadder, func(h *house) {
		h.models.play("503", "503", "429/30s", "ok")
		id := h.say("ann", "hello")
		h.wait(2*time.Minute + s(1))
		if p := h.want(id, store.Rearming); p.RearmN != 1 || p.Wait.From != "retry-after" {
			t.Errorf("%+v", p)
		}
		h.settled(id, s(31))
	})
}

// R8: one failure note in the context for the whole window, whichever way the sends fail.
func TestOneFailureNoteR8(t *testing.T) {
	for _, word := range []string{"503", "reset", "cut", "error"} {
		inHouse(t, shortLadder, func(h *house) {
			h.models.play(word)
			id := h.say("ann", "hello")
			h.wait(12 * time.Minute)
			h.models.play("ok")
			h.settled(id, time.Hour)
			rs := h.models.requests()
			if n := strings.Count(rs[len(rs)-1].body, "[Holdfast: an answer to this failed"); n != 1 {
				t.Errorf("%s: %d notes in %q", word, n, rs[len(rs)-1].body)
			}
		})
	}
}

// R9: stop ends the wait; nothing is sent after. R12: on_stop = drop ends re-arms at a clean stop, not at a crash.
func TestRearmStoppedR9R12(t *testing.T) {
	inHouse(t, shortLadder, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(s(1))
		h.want(id, store.Rearming)
		h.say("ann", "!stop")
		h.want(id, store.Done)
		n := len(h.models.requests())
		h.wait(2 * time.Hour)
		if len(h.models.requests()) != n {
			t.Error("sent after a stop")
		}
	})
	inHouse(t, func(p *Parts) { shortLadder(p); p.Retry.OnStop = "drop" }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(s(1))
		h.want(id, store.Rearming)
		h.shutdown()
		h.start()
		if done := h.want(id, store.Done); done.Outcome != store.Failed {
			t.Errorf("%+v", done)
		}
	})
}

// P18: max_requests reached: owed with that reason, nothing sent but its turn at the gate; with owed = false the terminal text.
func TestCeilingP18(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.MaxRequests = 4 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(s(10))
		p := h.want(id, store.Owed)
		if n := len(h.models.requests()); n != 4 || p.Requests != 4 {
			t.Errorf("%d requests", n)
		}
		h.models.play("ok")
		h.settled(id, 6*time.Minute)
	})
	inHouse(t, func(p *Parts) { p.Retry.MaxRequests, p.Retry.Owed = 4, false }, func(h *house) {
		h.models.play("503")
		done := h.settled(h.say("ann", "hello"), s(10))
		if done.Outcome != store.Failed || done.Requests != 4 || !strings.Contains(done.Text, fmt.Sprintf("after %d attempts", done.Attempts)) {
			t.Errorf("%+v", done)
		}
	})
}

// Orders in the chat: they need no model, go past what waits, and do not enter the context.
func TestChatCommands(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45m", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Parked)
		if got := h.settled(h.say("ann", "!status"), s(.1)); !strings.Contains(got.Text, "waits until 00:45:00") {
			t.Errorf("%q", got.Text)
		}
		if got := h.settled(h.say("ann", "!retry"), s(.1)); !strings.Contains(got.Text, "takes nothing until 00:45:00") {
			t.Errorf("%q", got.Text)
		}
		if got := h.settled(h.say("bob", "!stop"), s(.1)); !strings.Contains(got.Text, "only the person who asked") {
			t.Errorf("%q", got.Text)
		}
		h.want(id, store.Parked)
		if got := h.settled(h.say("ann", "/stop"), s(.1)); got.Text != "Stopped." {
			t.Errorf("%q", got.Text)
		}
		if got := h.want(id, store.Done); got.Outcome != store.Cancelled {
			t.Errorf("%+v", got)
		}
	})
	inHouse(t, nil, func(h *house) {
		h.settled(h.say("ann", "old"), s(1))
		h.settled(h.say("ann", "!new"), s(1))
		h.settled(h.say("ann", "fresh"), s(1))
		rs := h.models.requests()
		if got := rs[len(rs)-1].body; got != "user: fresh\n" {
			t.Errorf("%q", got)
		}
		h.models.play("400", "ok:again")
		h.settled(h.say("ann", "will fail"), s(1))
		h.settled(h.say("ann", "!retry"), s(1))
		h.wait(s(1))
		lines := h.transcript()
		if last := lines[len(lines)-3:]; !slices.Contains(last, "bot answer: Asking again.") || !slices.Contains(last, "bot answer: again") {
			t.Errorf("%q", lines)
		}
	})
}

// A moment that is named in a chat says in which zone, since who reads it may be in another; on the page it
// need not.
func TestMomentsInChatsNameTheirZone(t *testing.T) {
	for zone, setup := range map[string]func(*Parts){"": nil, " CET": onChat} {
		inHouse(t, func(p *Parts) {
			p.Location = time.FixedZone("CET", 3600)
			if setup != nil {
				setup(p)
			}
		}, func(h *house) {
			h.models.play("429/45m")
			h.want(h.say("ann", "hello"), store.Parked)
			for order, want := range map[string]string{
				"!status": "In this conversation:\n- waits until 01:45:00" + zone + ": Fake is rate limiting",
				"!retry":  "The provider takes nothing until 01:45:00" + zone + "; it goes on by itself then.",
			} {
				if got := h.settled(h.say("ann", order), s(.1)); !strings.EqualFold(got.Text, want) {
					t.Errorf("%q, want %q", got.Text, want)
				}
			}
		})
	}
}
