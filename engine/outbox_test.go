package engine

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
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
		id := h.say("ann", "hello")
		h.models.play("ok:other")
		h.wait(20 * time.Minute)
		equal(t, "alerts", h.openAlerts(), []string{"delivery_stuck"})
		posts, err := h.store.Posts(id)
		if err != nil || len(posts) != 1 {
			t.Fatal(posts, err)
		}
		equal(t, "upcoming", h.engine.Shape().Upcoming, []Upcoming{{Kind: "delivery", Turn: id, At: posts[0].NextTry, Count: 1}})
		h.wait(24 * time.Hour)
		equal(t, "posts", h.web.shown(), []string{"answer"})
		equal(t, "alerts", h.openAlerts(), []string(nil))
	})
}

// without lets a while pass in which the store lacks a table. The house moves into a file that others can open.
func (h *house) without(table string, before, while func()) {
	h.t.Helper()
	h.shutdown()
	h.dir = h.t.TempDir()
	h.start()
	file, err := sql.Open("sqlite", filepath.Join(h.dir, "holdfast.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer file.Close()
	change := func(statement string) {
		h.t.Helper()
		if _, err := file.Exec(statement); err != nil {
			h.t.Fatal(err)
		}
	}
	before()
	change("ALTER TABLE " + table + " RENAME TO hidden")
	while()
	change("ALTER TABLE hidden RENAME TO " + table)
}

// A store that cannot be read when a message, or an alert, is to be tried again is read again soon: neither is
// left until something else goes out.
func TestOutboxThatCannotBeReadIsReadAgain(t *testing.T) {
	inHouse(t, onChat, func(h *house) {
		h.without("posts", func() {
			h.web.fail = []error{errors.New("503 from the platform")}
			h.settled(h.say("ann", "hello"), s(.5))
		}, func() { h.wait(s(1)) })
		if n := len(h.log.with("read the outbox")); n == 0 {
			t.Error("it could be read")
		}
		h.wait(outboxAgain + s(1))
		equal(t, "posts", h.web.shown(), []string{"answer"})
	})
	inHouse(t, func(p *Parts) { p.Surfaces[0].(*fakeSurface).name = "slack/x"; onChat(p); p.Alerts.To = "slack:x/C1" }, func(h *house) {
		h.without("alerts", func() {
			h.web.fail = []error{errors.New("503 from the platform")}
			h.engine.raise(alertPoisoned, "x", h.engine.now(), "look")
			h.wait(s(.5))
		}, func() { h.wait(s(1)) })
		if n := len(h.log.with("read alerts to be told")); n == 0 {
			t.Error("they could be read")
		}
		h.wait(2 * outboxAgain)
		equal(t, "posts", h.web.shown(), []string{"look"})
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

// S6: a call that hangs holds up its own conversation alone; what it should have said meanwhile is said
// by the latest text, in order.
func TestHangingCallHoldsUpItsConversationAlone(t *testing.T) {
	inHouse(t, onChat, func(h *house) {
		h.web.hold, h.web.holds = make(chan struct{}), "hangs"
		h.models.play("429/45s", "ok:late", "ok:second", "ok:elsewhere")
		first := h.sayIn("hangs", "ann", "hello")
		h.wait(s(1)) // its notice hangs
		h.settled(first, s(60))
		h.settled(h.sayIn("hangs", "ann", "again"), s(1))
		h.settled(h.sayIn("room", "ann", "hello"), s(1))
		h.wait(time.Second)
		equal(t, "posts", h.web.shown(), []string{"elsewhere"})
		close(h.web.hold)
		h.wait(s(1))
		equal(t, "posts", h.web.shown(), []string{"elsewhere", "late", "second"})
		equal(t, "calls", h.web.called()[2:], []string{"edit late", "post second"})
	})
}

// S6: a platform that hangs takes as many hands as are its own: the others' messages go out.
func TestHangingPlatformHoldsUpNoOther(t *testing.T) {
	other := &fakeSurface{name: "other"}
	inHouse(t, func(p *Parts) { onChat(p); p.Surfaces = append(p.Surfaces, other) }, func(h *house) {
		h.web.hold = make(chan struct{})
		for i := range 150 {
			h.sayIn(fmt.Sprint("room", i), "ann", "hello")
		}
		h.wait(s(1))
		if _, err := h.engine.Receive(t.Context(), Incoming{Bot: "bot", Surface: "other", Channel: "c", Key: "k", Person: "bob", Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		h.wait(s(1))
		equal(t, "the other's posts", other.shown(), []string{"answer"})
		close(h.web.hold)
		h.wait(s(1))
		if n, most := len(h.web.shown()), h.web.most; n != 150 || most != handsPerSurface {
			t.Errorf("%d posts, at most %d at once", n, most)
		}
	})
}

// What will never be delivered is told, until somebody has seen it; a new alert tells of the next.
func TestUndeliverableIsTold(t *testing.T) {
	inHouse(t, onChat, func(h *house) {
		gone := fmt.Errorf("is_archived: %w", ErrGone)
		h.web.fail = []error{gone}
		id := h.say("ann", "hello")
		h.settled(id, s(1))
		h.wait(s(1))
		posts, err := h.store.Posts(id)
		if err != nil || len(posts) != 1 || posts[0].State != "failed" || !strings.Contains(posts[0].Error, "is_archived") {
			t.Errorf("%+v, %v", posts, err)
		}
		equal(t, "alerts", h.openAlerts(), []string{"delivery_stuck"})
		open, err := h.store.OpenAlerts()
		if err != nil || len(open) != 1 || open[0].Subject != "web/room" || !strings.Contains(open[0].Text, "is_archived") {
			t.Fatalf("%+v, %v", open, err)
		}
		if err := h.engine.Ack(t.Context(), open[0].ID, nil); err != nil {
			t.Fatal(err)
		}
		equal(t, "alerts", h.openAlerts(), []string(nil))
		h.web.fail = []error{gone}
		h.settled(h.say("ann", "hello?"), s(1))
		h.wait(s(1))
		equal(t, "alerts", h.openAlerts(), []string{"delivery_stuck"})
		h.settled(h.say("ann", "hello!"), s(1))
		h.wait(s(1))
		equal(t, "alerts", h.openAlerts(), []string(nil))
	})
}

// N3, N4, N10: of each turn at most one post, one edit for each time that is 10 s or more from the one it
// replaces, one final edit and one late mention, whatever the gate does meanwhile.
func TestCallsOfATurnAreCountedN3N4N10(t *testing.T) {
	for _, script := range []string{"429/45s ok", "429/45s 503 503 ok", "429/10m 429/10m ok", "503 503 503 503 503 503 503 503 503 503 503 503 503 503 503 503 ok", "429/20s 429/40s 503 cut error ok", "503"} {
		for _, took := range []time.Duration{0, s(5), s(25)} {
			t.Run(fmt.Sprintf("%.30s, %s", script, took), func(t *testing.T) {
				inHouse(t, onChat, func(h *house) {
					h.models.took = took
					h.models.play(strings.Fields(script)...)
					var ids []store.ID
					for i := range 8 {
						ids = append(ids, h.sayIn(fmt.Sprint("room", i), fmt.Sprint("p", i), "hello"))
						h.wait(s(2))
					}
					h.wait(90 * time.Minute)
					h.models.play("ok")
					for _, id := range ids {
						h.settled(id, 45*time.Minute)
					}
					h.wait(s(5))
					for _, id := range ids {
						h.counted(id)
					}
				})
			})
		}
	}
}

// counted checks the calls that a turn has cost.
func (h *house) counted(id store.ID) {
	h.t.Helper()
	h.web.mu.Lock()
	defer h.web.mu.Unlock()
	posts, finals, mentions := 0, 0, 0
	var old *store.Post
	for _, x := range h.web.made {
		p := x.post
		switch {
		case p.Turn != id:
			continue
		case p.Kind == "mention":
			mentions++
			continue
		case finals > 0:
			h.t.Errorf("%q after the end", p.Text)
		}
		if !x.edit {
			posts++
		}
		switch {
		case !IsNotice(p.Kind):
			finals++
		case old == nil:
		case p.Until == 0 && !strings.Contains(p.Text, "for a long time"), p.Until == 0 && old.Until == 0, p.Until != 0 && p.Until.Sub(old.Until).Abs() < noticeStep:
			h.t.Errorf("a needless edit: %q to %q", old.Text, p.Text)
		}
		old = &p
	}
	if posts != 1 || finals != 1 || mentions > 1 {
		h.t.Errorf("%d posts, %d final texts, %d mentions\n%s", posts, finals, mentions, h.log)
	}
}
