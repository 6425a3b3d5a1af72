package engine

import (
	"testing"

	"holdfast/store"
)

// N2: a turn that waits at a pause, of which nobody knows the end, is told of when the silent window is
// over, and its row says what it waits for.
func TestPauseIsToldN2(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		if err := h.engine.Pause(t.Context(), "fake", nil); err != nil {
			t.Fatal(err)
		}
		id := h.say("ann", "hello")
		posts := func() []store.Post {
			t.Helper()
			list, err := h.store.Posts(id)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		h.wait(s(29))
		if got := posts(); len(got) != 0 {
			t.Errorf("told within the silent window: %+v", got)
		}
		h.wait(s(2))
		if got := posts(); len(got) != 1 || got[0].Text != "Still on it: this is paused by its operator at the moment; the answer will come here, no need to send it again." {
			t.Errorf("told %+v", got)
		}
		if w := h.want(id, store.Parked); w.Reason.Text != "Is paused by an operator" {
			t.Errorf("reason %+v", w.Reason)
		}
		if err := h.engine.Unpause(t.Context(), "fake", nil); err != nil {
			t.Fatal(err)
		}
		h.settled(id, s(5))
		if got := posts(); len(got) != 1 || got[0].Kind != "answer" {
			t.Errorf("answered by %+v", got)
		}
	})
}
