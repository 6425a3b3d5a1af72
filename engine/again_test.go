package engine

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
)

// lastBody is the context of the latest request.
func (h *house) lastBody() string {
	h.t.Helper()
	synctest.Wait()
	seen := h.models.requests()
	return seen[len(seen)-1].body
}

// A question asked again: a new turn with the same words; the old answer stays in the transcript and
// is in no context any more.
func TestRegenerate(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("ok:a1", "ok:b1", "ok:b2", "ok:c1")
		h.settled(h.say("ann", "first"), s(1))
		old := h.say("ann", "second")
		h.settled(old, s(1))
		c := &store.Command{ID: "c", Hash: []byte("h"), At: h.engine.now()}
		again, err := h.engine.Regenerate(t.Context(), Order{Turn: old, Command: c})
		if err != nil {
			t.Fatal(err)
		}
		got := h.settled(again.ID, s(1))
		if got.Text != "b2" || got.Supersedes != old || got.Person != "ann" || got.ID == old {
			t.Errorf("%+v", got)
		}
		if want := "user: first\nassistant: a1\nuser: second\n"; h.lastBody() != want {
			t.Errorf("asked with %q, want %q", h.lastBody(), want)
		}
		equal(t, "transcript", h.transcript(), []string{"user message: first", "bot answer: a1", "user message: second", "bot answer: b1", "bot answer: b2"})
		if _, err := h.engine.Regenerate(t.Context(), Order{Turn: old, Command: c}); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("the same command: %v", err)
		}
		h.settled(h.say("ann", "third"), s(1))
		if want := "user: first\nassistant: a1\nuser: second\nassistant: b2\nuser: third\n"; h.lastBody() != want {
			t.Errorf("went on with %q, want %q", h.lastBody(), want)
		}
	})
}

// What came after the question that is asked again is cut off; so is what was asked again before.
func TestRegenerateCutsOffWhatFollowed(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		first := h.say("ann", "first")
		h.settled(first, s(1))
		h.settled(h.say("ann", "second"), s(1))
		for range 2 {
			again, err := h.engine.Regenerate(t.Context(), Order{Turn: first})
			if err != nil {
				t.Fatal(err)
			}
			h.settled(again.ID, s(1))
			if want := "user: first\n"; h.lastBody() != want {
				t.Errorf("asked with %q, want %q", h.lastBody(), want)
			}
		}
	})
}

// Nothing is asked again while it, or what came after it, is not done; and only by who asked or an operator.
func TestRegenerateRefuses(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].Operators = []string{"op"} }, func(h *house) {
		h.models.play("ok", "hang")
		done := h.say("ann", "first")
		h.settled(done, s(1))
		open := h.say("ann", "second")
		for _, id := range []store.ID{done, open} {
			if _, err := h.engine.Regenerate(t.Context(), Order{Turn: id}); !errors.Is(err, store.ErrBusy) {
				t.Errorf("%v", err)
			}
		}
		if _, err := h.engine.Stop(t.Context(), Order{Turn: open}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.engine.Regenerate(t.Context(), Order{Turn: done, By: "bob"}); !errors.Is(err, ErrNotYours) {
			t.Errorf("%v", err)
		}
		if got, err := h.engine.Regenerate(t.Context(), Order{Turn: done, By: "op", IfVersion: 1}); !errors.Is(err, ErrVersion) || got.ID != done {
			t.Errorf("%v", err)
		}
		h.models.play("ok")
		if _, err := h.engine.Regenerate(t.Context(), Order{Turn: done, By: "op"}); err != nil {
			t.Error(err)
		}
	})
}

// An edited message of a done turn forks: a new turn in the new words, the old one is kept; what was
// asked together is asked together again.
func TestEditMessageForks(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("503", "503", "503", "503", "503", "ok:both", "ok:new")
		first := h.say("ann", "one")
		h.wait(s(1))
		h.say("ann", "two")
		merged := h.said
		h.settled(first, time.Minute)
		ev, err := h.store.EventByKey("bot", "m"+string(rune('0'+merged)))
		if err != nil || ev.Turn != first {
			t.Fatalf("%+v, %v", ev, err)
		}
		h.models.play("ok:new")
		got, err := h.engine.EditMessage(t.Context(), Order{Turn: ev.ID}, "TWO")
		if err != nil {
			t.Fatal(err)
		}
		h.settled(got.ID, s(1))
		if want := "user: one\n\nTWO\n"; h.lastBody() != want || got.Supersedes != first {
			t.Errorf("asked with %q, want %q; %+v", h.lastBody(), want, got)
		}
		if lines := h.transcript(); lines[len(lines)-2] != "user message: one\n\nTWO" || lines[len(lines)-1] != "bot answer: new" {
			t.Errorf("%q", lines)
		}
	})
}

// S10: editing a question changes it until the first step: while it waits, and while it is asked.
func TestEditQuestionS10(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "tpyo")
		before := h.want(id, store.Parked)
		if err := h.engine.EditQuestion(t.Context(), "bot", "m1", "typo"); err != nil {
			t.Fatal(err)
		}
		if p := h.want(id, store.Parked); p.RetryAt != before.RetryAt || p.Version == before.Version {
			t.Errorf("%+v", p)
		}
		h.settled(id, s(46))
		if h.lastBody() != "user: typo\nuser: "+noteFailure+"\n" && !strings.HasPrefix(h.lastBody(), "user: typo\n") {
			t.Errorf("%q", h.lastBody())
		}
		if err := h.engine.EditQuestion(t.Context(), "bot", "m1", "late"); !errors.Is(err, store.ErrSettled) {
			t.Errorf("%v", err)
		}
		if err := h.engine.EditQuestion(t.Context(), "bot", "nothing", "x"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
	inHouse(t, nil, func(h *house) { // its request is under way: cut, and made anew at once
		h.models.play("hang", "ok:better")
		id := h.say("ann", "tpyo")
		h.want(id, store.Running)
		if _, err := h.engine.EditMessage(t.Context(), Order{Turn: id}, "typo"); err != nil {
			t.Fatal(err)
		}
		got := h.settled(id, s(1))
		if got.Text != "better" || got.FirstFailed != 0 || h.lastBody() != "user: typo\n" {
			t.Errorf("%q, %+v", h.lastBody(), got)
		}
		attempts, err := h.store.Attempts(id)
		if err != nil || len(attempts) != 2 || attempts[0].Outcome != "cancelled" || attempts[1].Outcome != "ok" {
			t.Errorf("%+v, %v", attempts, err)
		}
		equal(t, "transcript", h.transcript(), []string{"user message: typo", "bot answer: better"})
	})
}

// S10: a change between the last word of an answer and its end is not lost: the answer is dropped.
func TestEditAtTheLastMomentS10(t *testing.T) {
	inHouse(t, func(p *Parts) {}, func(h *house) {
		edited := false
		h.engine.Crash = func(point string) {
			if point == "settles" && !edited {
				edited = true
				if err := h.engine.EditQuestion(t.Context(), "bot", "m1", "typo"); err != nil {
					t.Error(err)
				}
			}
		}
		h.models.play("ok:old", "ok:new")
		got := h.settled(h.say("ann", "tpyo"), s(1))
		if got.Text != "new" || h.lastBody() != "user: typo\n" {
			t.Errorf("%q answered %q", h.lastBody(), got.Text)
		}
	})
}

// S10: deleting the asking message cancels its waiting turn; of two messages the other one is answered.
func TestDeleteQuestionS10(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "secret")
		h.want(id, store.Parked)
		if err := h.engine.DeleteQuestion(t.Context(), "bot", "m1"); err != nil {
			t.Fatal(err)
		}
		if got := h.want(id, store.Done); got.Outcome != store.Cancelled {
			t.Errorf("%+v", got)
		}
		h.wait(time.Minute)
		if n := len(h.models.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		if lines := h.transcript(); strings.Contains(strings.Join(lines, "\n"), "secret") {
			t.Errorf("%q", lines)
		}
		if err := h.engine.DeleteQuestion(t.Context(), "bot", "m1"); err != nil {
			t.Errorf("a second time: %v", err)
		}
	})
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "one")
		h.want(id, store.Parked)
		h.say("ann", "two")
		if err := h.engine.DeleteQuestion(t.Context(), "bot", "m1"); err != nil {
			t.Fatal(err)
		}
		h.settled(id, s(46))
		if body := h.lastBody(); !strings.HasPrefix(body, "user: two\n") {
			t.Errorf("%q", body)
		}
	})
}

// What is asked again is a turn of its own, also where an older one of the same person waits.
func TestRegenerateJoinsNobody(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Config.Merge = false }, func(h *house) {
		h.models.play("429/45s", "ok")
		older := h.say("ann", "waits")
		h.want(older, store.Parked)
		if err := h.engine.Release(t.Context(), "fake/one", nil); err != nil {
			t.Fatal(err)
		}
		h.settled(older, s(1))
		h.models.play("503", "503", "503", "503", "ok:later")
		waits := h.sayIn("room", "ann", "waits again")
		h.wait(s(2))
		h.want(waits, store.Retrying)
		h.models.play("ok:later")
		done := h.sayIn("room", "ann", "done")
		h.settled(done, s(1))
		h.engine.Config.Merge = true
		h.want(waits, store.Retrying)
		again, err := h.engine.Regenerate(t.Context(), Order{Turn: done})
		if err != nil {
			t.Fatal(err)
		}
		if got := h.settled(again.ID, s(.5)); got.Outcome != store.Answered || got.MergedInto != 0 {
			t.Errorf("%+v", got)
		}
	})
}
