package webchat

import (
	"slices"
	"testing"

	"holdfast/engine"
	"holdfast/store"
)

var _ engine.Surface = (*Surface)(nil)

type recorder struct{ seen []string }

func (r *recorder) Draft(chat string, _ store.ID, text string) {
	r.seen = append(r.seen, "draft "+chat+" "+text)
}

func (r *recorder) Working(chat string, _ store.ID, on bool) {
	if on {
		r.seen = append(r.seen, "works "+chat)
	} else {
		r.seen = append(r.seen, "rests "+chat)
	}
}

func TestForwardsByChat(t *testing.T) {
	var r recorder
	s := New(&r)
	to := engine.Place{Channel: "c1"}
	s.Working(to, 7, true)
	s.Draft(to, 7, "one")
	s.Working(to, 7, false)
	if want := []string{"works c1", "draft c1 one", "rests c1"}; !slices.Equal(r.seen, want) {
		t.Errorf("sink saw %q, want %q", r.seen, want)
	}
	if !s.Traits().Local || s.Name() != "web" {
		t.Errorf("Name %q, Traits %+v: must be the local surface web", s.Name(), s.Traits())
	}
}
