package engine

import (
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// notice is the post that says what a turn waits for, one of its turn alone if there is none.
func (h *house) notice(turn store.ID) store.Post {
	h.t.Helper()
	p, err := h.engine.noticePost(turn)
	if err != nil {
		h.t.Fatal(err)
	}
	if p == nil {
		return store.Post{Turn: turn}
	}
	return *p
}

// press presses a button in somebody's name and returns what he is told.
func (h *house) press(turn store.ID, do, by string) string {
	h.t.Helper()
	said, err := h.engine.Press(h.t.Context(), PressedKey(Button{Do: do}.Key(h.notice(turn)), by))
	if err != nil {
		h.t.Error(err)
	}
	return said
}

// told presses it and fails unless he is told that.
func (h *house) told(turn store.ID, do, by, want string) {
	h.t.Helper()
	if got := h.press(turn, do, by); got != want {
		h.t.Errorf("%s by %q is told %q, want %q", do, by, got, want)
	}
}

// Every kind of post has its own buttons, and every button does something.
func TestButtonsByKind(t *testing.T) {
	for kind, want := range map[string]string{"notice": "resume Try now, stop Stop", "stale": "yes Yes, no No", "approval": "approve Approve, deny Deny", "answer": "", "terminal": "", "mention": ""} {
		var got []string
		for _, b := range Buttons(store.Post{Kind: kind}) {
			got = append(got, b.Do+" "+b.Label)
			if d, ok := deedOf(b.Do); !ok || d.Button != b {
				t.Errorf("%s: %s does nothing", kind, b.Do)
			}
		}
		if strings.Join(got, ", ") != want || IsNotice(kind) != (want != "") {
			t.Errorf("%s has %q, want %q", kind, got, want)
		}
	}
	turn, _ := store.ParseID("0p1wgn8e3bmjs")
	if got := PressedKey(Button{Do: "approve"}.Key(store.Post{Turn: turn, Edited: 1 << 42}), "ann"); got != (Pressed{turn, "approve", "ann", 1 << 42}) {
		t.Errorf("%+v", got)
	}
	for _, key := range []string{"", "stop", "stop:", "stop:" + turn.String(), "stop:nonsense:0", "stop:" + turn.String() + ":-:"} {
		if got := PressedKey(key, "ann"); got != (Pressed{By: "ann"}) {
			t.Errorf("%q is %+v", key, got)
		}
	}
}

// R16: a button acts on its own turn and never on a newer one, for who asked and operators only; who
// may not, or comes too late, is told so.
func TestPressR16(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].Operators = []string{"op"} }, func(h *house) {
		h.models.play("429/10m")
		old := h.say("ann", "one")
		h.want(old, store.Parked)
		h.told(old, "stop", "bob", "Only the person who asked, or an operator of this bot, may do that.")
		h.told(old, "stop", "", "I do not know this any more.")
		h.told(old, "explode", "ann", "I do not know this any more.")
		h.told(old, "resume", "op", "The provider takes nothing until 00:10:00; it goes on by itself then.")
		h.want(old, store.Parked)
		h.told(old, "stop", "op", "Stopped.")
		newer := h.say("ann", "two")
		h.want(newer, store.Parked)
		h.told(old, "stop", "ann", "Stopped.")
		h.told(old, "resume", "ann", "This is done already.")
		h.want(newer, store.Parked)
		h.told(newer+1000, "stop", "ann", "This is so long ago that it is not kept any more.")
		if n := len(h.models.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// R13: Yes inside a hold is not lost: the turn waits there, is answered when it ends, and is not asked about again.
func TestYesInsideHoldR13(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.StaleAfter = time.Hour }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "what is open?")
		h.wait(2 * time.Hour)
		if p := h.want(id, store.Owed); p.Reason.Why != "stale" {
			t.Fatalf("%+v", p)
		}
		h.models.play("429/90m", "ok")
		h.sayIn("elsewhere", "bob", "hello")
		if said := h.press(id, "yes", "ann"); said != "It is kept: the provider takes nothing until 03:30:00; it is answered then." {
			t.Errorf("ann is told %q", said)
		}
		h.want(id, store.Parked)
		n := len(h.models.requests())
		h.wait(89 * time.Minute)
		if len(h.models.requests()) != n {
			t.Error("asked inside the hold")
		}
		if done := h.settled(id, s(120)); done.Outcome != store.Answered {
			t.Errorf("%+v", done)
		}
	})
}

// R13: a question that has gone stale is dropped by No, and by nothing else.
func TestNoDropsStaleR13(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.StaleAfter = time.Hour }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "what is open?")
		h.wait(2 * time.Hour)
		h.told(id, "no", "ann", "Dropped.")
		if done := h.want(id, store.Done); done.Outcome != store.Cancelled {
			t.Errorf("%+v", done)
		}
		n := len(h.models.requests())
		h.told(id, "yes", "ann", "This is done already.")
		h.wait(5 * time.Hour)
		if len(h.models.requests()) != n {
			t.Error("asked all the same")
		}
	})
}

// R16: Approve is for the calls that stood above it: pressed twice it does not approve the next ones.
func TestApproveIsForWhatWasReadR16(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p) }, func(h *house) {
		h.models.play("call:ask", "call:ask", "ok:done")
		id := h.say("ann", "do it")
		h.wait(s(1))
		first := PressedKey(Button{Do: "approve"}.Key(h.notice(id)), "ann")
		h.told(id, "approve", "bob", "Only the person who asked, or an operator of this bot, may do that.")
		h.told(id, "approve", "ann", "Approved.")
		h.wait(s(1))
		h.want(id, store.Parked)
		if said, err := h.engine.Press(t.Context(), first); said != "This is decided already." || err != nil {
			t.Errorf("the old one again: %q, %v", said, err)
		}
		h.wait(s(1))
		if n := len(tools["ask"].calls()); n != 1 {
			t.Fatalf("%d calls", n)
		}
		h.told(id, "deny", "ann", "Not approved.")
		if done := h.settled(id, s(2)); done.Text != "done" || len(tools["ask"].calls()) != 1 {
			t.Errorf("%+v", done)
		}
		h.told(id, "approve", "ann", "This is decided already.")
	})
}
