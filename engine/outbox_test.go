package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// onChat puts the house's conversations on a platform that keeps messages by handle.
func onChat(p *Parts) {
	chat := p.Surfaces[0].(*fakeSurface)
	chat.local = false
	chat.mention = func(persons []string) string { return "for " + strings.Join(persons, ", ") }
}

// N2, N3, N4, N10: silent for 30 s, then one post, edited when its time changes; the answer edits it, and mentions late.
func TestOneMessagePerTurnN2N3N4N10(t *testing.T) {
	inHouse(t, func(p *Parts) { onChat(p); p.Retry.Resends = 0 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.wait(s(20)) // 2, 2, 2, 4, 2, 8: elapsed and next wait stay within 30 s
		if len(h.web.called()) != 0 {
			t.Errorf("not silent: %q", h.web.called())
		}
		h.wait(s(400))
		h.models.play("ok")
		h.settled(id, s(100))
		h.wait(s(1))
		posts := 0
		for _, c := range h.web.called() {
			if strings.HasPrefix(c, "post Still on it") {
				posts++
			}
		}
		if posts != 1 || len(h.web.shown()) != 2 || h.web.shown()[0] != "answer" || h.web.shown()[1] != "for ann" {
			stored, _ := h.store.Posts(id)
			t.Errorf("calls %q\nposts %q\nstored %+v", h.web.called(), h.web.shown(), stored)
		}
	})
}

// N9: the platform is down: the answer waits in the outbox, over a restart, and goes out without a model call, in order.
func TestPlatformDownN9(t *testing.T) {
	inHouse(t, onChat, func(h *house) {
		down := errors.New("503 from the platform")
		h.web.fail = []error{down, down, down, &RetryAfter{After: 20 * time.Second, Err: errors.New("429")}}
		first := h.say("ann", "one")
		h.settled(first, s(1))
		h.models.play("ok:second")
		h.settled(h.say("ann", "two"), s(1))
		h.wait(s(2))
		h.crash()
		h.start()
		h.wait(s(60))
		equal(t, "posts", h.web.shown(), []string{"answer", "second"})
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// N6: the edit fails for good: one new post takes its place; delivery_stuck when nothing helps.
func TestEditGoneN6(t *testing.T) {
	inHouse(t, onChat, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "hello")
		h.wait(s(1))
		h.web.fail = []error{fmt.Errorf("deleted: %w", ErrGone)}
		h.settled(id, s(60))
		h.wait(s(1))
		if len(h.web.shown()) != 2 || h.web.shown()[1] != "answer" {
			t.Errorf("%q", h.web.shown())
		}
	})
	inHouse(t, onChat, func(h *house) {
		for range 100 {
			h.web.fail = append(h.web.fail, errors.New("no"))
		}
		h.say("ann", "hello")
		h.models.play("ok:other")
		h.wait(20 * time.Minute)
		equal(t, "alerts", h.openAlerts(), []string{"delivery_stuck"})
		h.wait(24 * time.Hour)
		equal(t, "posts", h.web.shown(), []string{"answer"})
		equal(t, "alerts", h.openAlerts(), []string(nil))
	})
}

// N8: a post of unknown outcome is handed over again with Tries > 0, so that the surface looks for it first.
func TestPostOfUnknownOutcomeN8(t *testing.T) {
	inHouse(t, onChat, func(h *house) {
		h.web.hold = make(chan struct{})
		id := h.say("ann", "hello")
		h.want(id, store.Done)
		h.crash()
		close(h.web.hold)
		h.web.hold = nil
		h.start()
		h.wait(s(5))
		if fmt.Sprint(h.web.tried()) != "[0 1]" {
			t.Errorf("tries as the surface saw them: %v", h.web.tried())
		}
	})
}
