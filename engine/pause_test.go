package engine

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

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

// A store from a backup posts nothing either until an operator has looked at it: what waits in it may be out
// already. What it posts then says so, so that the surface looks first.
func TestRestoredStorePostsNothing(t *testing.T) {
	inHouse(t, onChat, func(h *house) {
		h.web.fail = []error{errors.New("503 from the platform")}
		h.settled(h.say("ann", "hello"), s(1))
		copied := filepath.Join(t.TempDir(), "holdfast.db")
		if err := h.store.Backup(copied); err != nil {
			t.Fatal(err)
		}
		h.wait(s(10))
		equal(t, "posts", h.web.shown(), []string{"answer"})
		h.shutdown()
		h.dir, h.web.fail, h.web.calls = filepath.Dir(copied), nil, nil
		h.start()
		h.sayIn("another", "bob", "hello")
		h.wait(10 * time.Minute)
		equal(t, "calls while nobody has looked", h.web.called(), []string(nil))
		if err := h.engine.Unpause(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		h.wait(s(1))
		if tries := h.web.tried(); len(tries) < 2 || tries[1] != 1 {
			t.Errorf("posts came with the tries %v", tries)
		}
	})
}
