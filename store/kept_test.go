package store

import (
	"errors"
	"testing"
)

// What a store has kept is there for the next one on the same connections, and a store that is closed
// neither reads nor writes on them.
func TestKeptConnections(t *testing.T) {
	k := Keep(t.TempDir())
	open := func() *Store {
		t.Helper()
		s, err := k.Open("full", quiet())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	first := open()
	if _, err := k.Open("full", quiet()); !errors.Is(err, ErrLocked) {
		t.Errorf("two at once: %v", err)
	}
	turn := queued(t, first, 1)
	if _, err := first.Counts(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	idle := len(k.idle)
	second := open()
	if len(k.idle) != idle-2 {
		t.Errorf("a store begins with %d connections of %d", idle-len(k.idle), idle)
	}
	if second.unclean || second.Head() != first.Head() || second.Epoch() != first.Epoch() {
		t.Errorf("unclean %v, head %d, epoch %s; want false, %d, %s", second.unclean, second.Head(), second.Epoch(), first.Head(), first.Epoch())
	}
	counts, err := second.Counts()
	if err != nil || counts[Queued] != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	if _, err := first.Admit(hello(t0, "late", "ada", "late")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a closed store has written: %v", err)
	}
	if _, err := first.Turn(turn); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a closed store has read: %v", err)
	}
	if read(t, second, turn).State != Queued {
		t.Error("the turn is lost")
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil || len(k.idle) != 0 {
		t.Errorf("%d are left, %v", len(k.idle), err)
	}
}

// An emptied store is a new one: its turns, messages, memories and what is noted in meta are gone.
func TestEmptiedStore(t *testing.T) {
	k := Keep(t.TempDir())
	t.Cleanup(func() { _ = k.Close() })
	if err := k.Empty(); err != nil {
		t.Fatalf("before the first: %v", err)
	}
	for i := range 3 {
		s, err := k.Open("full", quiet())
		if err != nil {
			t.Fatal(err)
		}
		counts, err := s.Counts()
		if err != nil || len(counts) != 0 || s.Head() != 0 || s.unclean {
			t.Errorf("%v, head %d, unclean %v, %v", counts, s.Head(), s.unclean, err)
		}
		if found, err := s.Recall("bot", "ada", "words", 9); err != nil || len(found) != 0 {
			t.Errorf("remembers %v, %v", found, err)
		}
		if value, err := s.Meta(Paused); err != nil || value != "" {
			t.Errorf("%q, %v", value, err)
		}
		queued(t, s, 1)
		err = errors.Join(s.Remember(&Memory{Bot: "bot", Text: "some words", At: t0}, 9), s.SetMeta(Paused, `[""]`, nil))
		if err != nil {
			t.Fatal(err)
		}
		if found, err := s.Recall("bot", "ada", "words", 9); err != nil || len(found) != 1 {
			t.Errorf("%v, %v", found, err)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // as if the store could not leave its connections
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.Empty(); err != nil {
			t.Fatal(err)
		}
	}
}
