package engine

import (
	"testing"
	"time"

	"holdfast/store"
)

// P17, P18: the notice of a turn that is owed says what it waits for, and that truly: it names the provider's word where
// there is one, with the day, else since when it has not answered.
func TestOwedIsToldTrulyP17P18(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		configure          func(*Parts)
	}{
		{"a wait of two days", "429/48h", "fake takes nothing until 2000-01-03 00:00:00; your message is kept and will be answered then. “!stop” drops it.", nil},
		{"two requests, and no more", "503", "fake has not answered since 00:00:00; your message is kept and will be answered when it does. “!stop” drops it.",
			func(p *Parts) { p.Retry.MaxRequests, p.Retry.Resends = 2, 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, c.configure, func(h *house) {
				h.models.play(c.script)
				id := h.say("ann", "hello")
				h.wait(time.Minute)
				h.want(id, store.Owed)
				posts, err := h.store.Posts(id)
				if err != nil || len(posts) != 1 || posts[0].Text != c.want {
					t.Errorf("told %+v, %v; want %q", posts, err, c.want)
				}
			})
		})
	}
}
