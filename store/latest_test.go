package store

import "testing"

// A start knows by what was written last whether the clock has been set back since (P16).
func TestLatestIsWhenWasWrittenLast(t *testing.T) {
	s := opened(t)
	if at, err := s.Latest(); err != nil || at != 0 {
		t.Errorf("of an empty store: %v, %v", at, err)
	}
	for i, at := range []Time{t0, t0 + 5000, t0 + 1000} { // the last after a step back
		if _, err := s.Admit(hello(at, "chat", "ada", string(rune('a'+i)))); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := s.Latest(); err != nil || at != t0+5000 {
		t.Errorf("latest %v, want %v: %v", at, t0+5000, err)
	}
}
