package store

import (
	"slices"
	"testing"
)

// P19: a queued turn joins the older one of its person that waits, and is answered with it.
func TestJoinTurn(t *testing.T) {
	s := opened(t)
	older := admit(t, s, hello(t0, "room", "ann", "k1"))
	begin(t, s, older.Turn, 1)
	later := admit(t, s, hello(t0, "room", "ann", "k2"))
	if into, _, err := s.JoinTurn(later.Turn, t0); into != 0 || err != nil {
		t.Fatalf("joined %v, which does not wait: %v", into, err)
	}
	wait(t, s, older.Turn, Rearming, Wait{RetryAt: t0 + 100, From: "rearm", MS: 100}, Reason{Why: "failure"})
	other := admit(t, s, hello(t0, "room", "bob", "k3"))
	if into, _, err := s.JoinTurn(other.Turn, t0); into != 0 || err != nil {
		t.Fatalf("joined another person's turn %v: %v", into, err)
	}
	into, was, err := s.JoinTurn(later.Turn, t0)
	if into != older.Turn || was != Rearming || err != nil {
		t.Fatalf("%v %v %v", into, was, err)
	}
	got, _ := s.Turn(later.Turn)
	took, _ := s.Turn(older.Turn)
	if got.State != Done || got.Outcome != Merged || got.MergedInto != older.Turn || took.Messages != 2 || took.State != Rearming {
		t.Errorf("%+v\n%+v", got, took)
	}
	history, err := s.History(older.Conversation, older.Turn, 10)
	if err != nil || len(history) != 1 || len(history[0].Events) != 2 || history[0].Events[1].Key != "k2" {
		t.Errorf("%+v, %v", history, err)
	}
	if into, _, err := s.JoinTurn(later.Turn, t0); into != 0 || err != nil {
		t.Errorf("a done turn joined %v: %v", into, err)
	}
}

// P19: one whose words have changed joins too, and so do the messages it has taken in itself.
func TestJoinTurnTakesAllMessagesAlong(t *testing.T) {
	s := opened(t)
	older := admit(t, s, hello(t0, "room", "ann", "k1"))
	begin(t, s, older.Turn, 1)
	later := admit(t, s, hello(t0+1, "room", "ann", "k2"))
	if _, err := s.Reword(later.Turn, "in other words", t0+2, nil); err != nil {
		t.Fatal(err)
	}
	wait(t, s, later.Turn, Parked, Wait{Gate: "g", From: "gate"}, Reason{Why: "gate"})
	third := hello(t0+3, "room", "ann", "k3")
	third.Merge = true
	taken := admit(t, s, third)
	if taken.Into != later.Turn {
		t.Fatalf("%+v", taken)
	}
	if _, err := s.WakeTurn(Wake{Turn: later.Turn, At: t0 + 4}); err != nil {
		t.Fatal(err)
	}
	wait(t, s, older.Turn, Parked, Wait{RetryAt: t0 + 100, From: "backoff", MS: 100}, Reason{Why: "failure"})
	if into, _, err := s.JoinTurn(later.Turn, t0+5); into != older.Turn || err != nil {
		t.Fatalf("%v, %v", into, err)
	}
	history, err := s.History(older.Conversation, older.Turn, 10)
	if err != nil || len(history) != 1 {
		t.Fatalf("%+v, %v", history, err)
	}
	var said []string
	for _, ev := range history[0].Events {
		said = append(said, ev.Key+" "+ev.Text)
	}
	if want := []string{"k1 text of k1", "k2 in other words", "k3 text of k3"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if took := read(t, s, older.Turn); took.Messages != 4 || took.Spoken != t0+3 { // three and a change
		t.Errorf("%+v", took)
	}
	for _, id := range []ID{later.Turn, taken.Turn} {
		if merged := read(t, s, id); merged.Outcome != Merged || merged.MergedInto != older.Turn {
			t.Errorf("%+v", merged)
		}
	}
}
