package store

import (
	"errors"
	"slices"
	"testing"
)

// S10: a question can be changed until the first step; whoever answers the old one finds it moved.
func TestRewordS10(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	n := begin(t, s, a.Turn, 1)
	head := s.Head()
	c := &Command{ID: "c", Hash: []byte("h"), At: t0}
	turn, err := s.Reword(a.Turn, "other words", t0+1, c)
	if err != nil || turn.ID != a.Turn || turn.Messages != 2 || c.Turn != a.Turn {
		t.Fatalf("%+v, %v", turn, err)
	}
	if got := changesAfter(t, s, head); !slices.Equal(got, []string{"message " + a.Turn.String(), "turn " + a.Turn.String()}) {
		t.Errorf("changes %v", got)
	}
	if m, err := s.Message(a.Turn); err != nil || m.Text != "other words" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := s.SettleTurn(Settled{Turn: a.Turn, At: t0, Outcome: Answered, Messages: 1}); !errors.Is(err, ErrMoved) {
		t.Errorf("an answer to the old words: %v", err)
	}
	if _, err := s.BeginRequest(Begin{Turn: a.Turn, Messages: 1}); !errors.Is(err, ErrMoved) {
		t.Errorf("a request of the old words: %v", err)
	}
	if turn, err = s.Reword(a.Turn, "other words", t0+2, nil); err != nil || turn.Messages != 2 {
		t.Errorf("the same words move it: %+v, %v", turn, err)
	}
	if _, err := s.Reword(a.Turn, "x", t0, c); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := s.StepTurn(Stepped{Turn: a.Turn, At: t0, Told: Told{Attempt: &AttemptEnd{N: n}, Step: &Step{Kind: "reply"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reword(a.Turn, "too late", t0, nil); !errors.Is(err, ErrBegun) {
		t.Errorf("after the first step: %v", err)
	}
	settle(t, s, Settled{Turn: a.Turn, At: t0, Outcome: Answered})
	if _, err := s.Reword(a.Turn, "too late", t0, nil); !errors.Is(err, ErrSettled) {
		t.Errorf("after the end: %v", err)
	}
	if e, err := s.EventByKey("bot", "k1"); err != nil || e.ID != a.Turn || e.Turn != a.Turn {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := s.EventByKey("other", "k1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// S10: a message that was taken back leaves nothing of its text.
func TestWithdrawS10(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0 + 9}, Reason{Why: "failure"})
	b := admit(t, s, hello(t0+1, "chat", "ada", "k2"))
	if b.Into != a.Turn {
		t.Fatalf("%+v", b)
	}
	head := s.Head()
	if turn, err := s.Withdraw(b.Turn, t0+2); err != nil || turn.ID != a.Turn || turn.Messages != 3 {
		t.Fatalf("%+v, %v", turn, err)
	}
	if got := changesAfter(t, s, head); !slices.Equal(got, []string{"removed message/" + b.Turn.String(), "turn " + a.Turn.String()}) {
		t.Errorf("changes %v", got)
	}
	if read(t, s, a.Turn).Messages != 3 {
		t.Error("the turn has not moved")
	}
	messages, err := s.Messages(a.Conversation, 0, 10)
	if err != nil || len(messages) != 1 {
		t.Errorf("%+v, %v", messages, err)
	}
	h, err := s.History(a.Conversation, a.Turn, 1)
	if err != nil || len(h[0].Events) != 2 || h[0].Events[1].Text != "" || h[0].Events[1].Kind != "withdrawn" {
		t.Errorf("%+v, %v", h, err)
	}
	settle(t, s, Settled{Turn: a.Turn, At: t0, Outcome: Answered})
	if _, err := s.Withdraw(a.Turn, t0); !errors.Is(err, ErrSettled) {
		t.Errorf("of an answered turn: %v", err)
	}
}

// A turn may take another's place once nothing from there on is open.
func TestSupersede(t *testing.T) {
	s := opened(t)
	first := admit(t, s, hello(t0, "chat", "ada", "k1"))
	fork := hello(t0+1, "chat", "ada", "k2")
	fork.Merge, fork.Supersedes = false, first.Turn
	if _, err := s.Admit(fork); !errors.Is(err, ErrBusy) {
		t.Errorf("of an open turn: %v", err)
	}
	settle(t, s, Settled{Turn: first.Turn, At: t0, Outcome: Answered, Text: "one"})
	got := admit(t, s, fork)
	if turn := read(t, s, got.Turn); turn.Supersedes != first.Turn {
		t.Errorf("%+v", turn)
	}
	h, err := s.History(got.Conversation, got.Turn, 10)
	if err != nil || len(h) != 2 || h[0].Supersedes != 0 || h[1].Supersedes != first.Turn {
		t.Errorf("%+v, %v", h, err)
	}
	wait(t, s, got.Turn, Parked, Wait{RetryAt: t0 + 9}, Reason{Why: "failure"})
	if turn := read(t, s, got.Turn); turn.Supersedes != first.Turn {
		t.Errorf("forgotten by a wait: %+v", turn)
	}
}

// A chat is its beginner's; with Own nobody else gets in.
func TestOwnChats(t *testing.T) {
	s := opened(t)
	mine := hello(t0, "mine", "visitor:a", "k1")
	mine.Own = true
	admit(t, s, mine)
	mine.Key, mine.At = "k2", t0+1
	admit(t, s, mine)
	strange := mine
	strange.Key, strange.Person = "k3", "visitor:b"
	if _, err := s.Admit(strange); !errors.Is(err, ErrNotFound) {
		t.Errorf("into another's chat: %v", err)
	}
	strange.Own, strange.Person = false, "owner"
	admit(t, s, strange)
	for i := range 3 {
		other := hello(t0+Time(i), "other", "visitor:b", "o"+string(rune('1'+i)))
		other.Channel += string(rune('1' + i))
		admit(t, s, other)
	}
	chats, err := s.ChatsOf("visitor:a", 0, 10)
	if err != nil || len(chats) != 1 || chats[0].Key != "mine" || chats[0].Person != "visitor:a" {
		t.Errorf("%+v, %v", chats, err)
	}
	if chats, err = s.ChatsOf("visitor:b", 0, 2); err != nil || len(chats) != 2 || chats[0].Key != "other3" {
		t.Errorf("%+v, %v", chats, err)
	}
	if chats, err = s.ChatsOf("visitor:b", chats[1].Active, 2); err != nil || len(chats) != 1 || chats[0].Key != "other1" {
		t.Errorf("%+v, %v", chats, err)
	}
	spoke, err := s.SpokenOnWeb(t0 + 1)
	if err != nil || len(spoke) < 2 || spoke[0].At < t0+1 {
		t.Errorf("%+v, %v", spoke, err)
	}
}

// S6: what could run now: queued, due, or at a gate that is open.
func TestOverdueTurnsS6(t *testing.T) {
	s := opened(t)
	var ids []ID
	for i := range 6 {
		ids = append(ids, queued(t, s, i))
	}
	wait(t, s, ids[1], Parked, Wait{RetryAt: t0 + 5}, Reason{Why: "failure"})
	wait(t, s, ids[2], Parked, Wait{RetryAt: t0 + 50}, Reason{Why: "failure"})
	wait(t, s, ids[3], Parked, Wait{Gate: "open"}, Reason{Why: "gate"})
	wait(t, s, ids[4], Parked, Wait{Gate: "closed"}, Reason{Why: "gate"})
	wait(t, s, ids[5], Owed, Wait{Gate: "open", RetryAt: t0 + 50}, Reason{Why: "failure"})
	list, err := s.OverdueTurns(t0+10, []string{"open"}, 10)
	var got []ID
	for _, o := range list {
		got = append(got, o.Turn)
	}
	if err != nil || !slices.Equal(got, []ID{ids[0], ids[1], ids[3]}) || list[1].Since != t0+5 || list[1].Version != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := s.PostsPending(); n != 0 || err != nil {
		t.Errorf("%d posts, %v", n, err)
	}
}
