package store

import "testing"

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
