package store

import (
	"errors"
	"slices"
	"testing"
)

func TestAdmitWritesTurnFirstP1(t *testing.T) {
	s := opened(t)
	changed, head := s.Changed(), s.Head()
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	turn, err := s.Turn(a.Turn)
	want := Turn{ID: a.Turn, Conversation: a.Conversation, Bot: "bot", Surface: "web", Channel: "chat", Person: "ada", Lane: "durable",
		State: Queued, Version: 1, Created: t0, Spoken: t0, Messages: 1}
	if err != nil || !sameTurn(turn, want) {
		t.Errorf("got %+v, %v; want %+v", turn, err, want)
	}
	if a.Into != 0 || a.Duplicate || a.Seq != s.Head() || s.Head() == head {
		t.Errorf("%+v, head %d", a, s.Head())
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
	if got := changesAfter(t, s, head); !slices.Equal(got, []string{"chat " + a.Conversation.String(), "message " + a.Turn.String(), "turn " + a.Turn.String()}) {
		t.Errorf("changes %v", got)
	}
}

// What Admit returns as the turn's row is what is read of it, where it returns one.
func TestAdmittedRowIsTheTurns(t *testing.T) {
	s := opened(t)
	check := func(a Admission) Admitted {
		t.Helper()
		out := admit(t, s, a)
		if out.Row == nil || !sameTurn(*out.Row, read(t, s, out.Turn)) {
			t.Errorf("%+v is read as %+v", out.Row, read(t, s, out.Turn))
		}
		return out
	}
	first := check(hello(t0, "chat", "ada", "k1"))
	wait(t, s, first.Turn, Rearming, Wait{RetryAt: t0 + 9}, Reason{Why: "failure"})
	calls := hello(t0+1, "chat", "bob", "k2")
	calls.Kind, calls.Journal, calls.Calls, calls.Merge = "button", []*Step{{Kind: "reply"}, {Kind: "decided"}}, 3, false
	check(calls)
	slack := hello(t0+2, "C1", "ada", "k3")
	slack.Surface, slack.Thread, slack.Lane = "slack/x", "t", "fail_fast"
	done := check(slack)
	settle(t, s, Settled{Turn: done.Turn, At: t0, Outcome: Answered})
	slack.Key, slack.Supersedes, slack.Merge = "k4", done.Turn, false
	check(slack)

	tick := hello(t0+3, "other", "schedule:x", "k5")
	tick.Kind = "tick"
	joins := hello(t0+4, "chat", "ada", "k6")
	for name, a := range map[string]Admission{"a tick": tick, "one that joins": joins, "a known one": hello(t0, "chat", "ada", "k1")} {
		if out := admit(t, s, a); out.Row != nil {
			t.Errorf("%s: %+v", name, out.Row)
		}
	}
}

func sameTurn(a, b Turn) bool {
	if string(a.Episode) != string(b.Episode) {
		return false
	}
	a.Episode, b.Episode = nil, nil
	return equalTurns(a, b)
}

func changesAfter(t *testing.T, s *Store, seq int64) (list []string) {
	t.Helper()
	got, err := s.Changes(seq, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		if c.Seq != seq+int64(i)+1 {
			t.Errorf("change %d after %d has number %d", i, seq, c.Seq)
		}
		list = append(list, c.Kind+" "+c.ID)
	}
	return list
}

func TestSameEventMakesOneTurnPerBotS1(t *testing.T) {
	s := opened(t)
	first := admit(t, s, hello(t0, "chat", "ada", "k1"))
	head := s.Head()
	again := admit(t, s, hello(t0+5, "chat", "ada", "k1"))
	if !again.Duplicate || again.Turn != first.Turn || again.Conversation != first.Conversation || s.Head() != head {
		t.Errorf("%+v, head %d → %d", again, head, s.Head())
	}
	other := hello(t0, "other", "ada", "k1")
	other.Bot = "second"
	if got := admit(t, s, other); got.Duplicate || got.Turn == first.Turn {
		t.Errorf("another bot's event of the same key: %+v", got)
	}
	if c, err := s.ChatByID(first.Conversation); err != nil || c.Active != t0 {
		t.Errorf("a duplicate has touched the chat: %+v, %v", c, err)
	}
}

func TestChatBelongsToOneBot(t *testing.T) {
	s := opened(t)
	admit(t, s, hello(t0, "chat", "ada", "k1"))
	a := hello(t0, "chat", "ada", "k2")
	a.Bot = "second"
	if _, err := s.Admit(a); !errors.Is(err, ErrOtherBot) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Admit(a); !errors.Is(err, ErrOtherBot) {
		t.Errorf("the refused event was stored: %v", err)
	}
	one, two := hello(t0, "C1", "ada", "s1"), hello(t0, "C1", "ada", "s1")
	one.Surface, two.Surface, two.Bot = "slack/x", "slack/x", "second"
	if x, y := admit(t, s, one), admit(t, s, two); x.Conversation == y.Conversation || y.Duplicate {
		t.Errorf("two bots in one channel: %+v %+v", x, y)
	}
}

// A chat on the web cannot be begun under the id of a conversation elsewhere: it would hide that one.
func TestChatHidesNoOther(t *testing.T) {
	s := opened(t)
	talk := hello(t0, "C1", "ada", "s1")
	talk.Surface = "slack/x"
	there := admit(t, s, talk).Conversation
	if _, err := s.Admit(hello(t0, there.String(), "ada", "k1")); !errors.Is(err, ErrElsewhere) {
		t.Errorf("got %v", err)
	}
	if x, err := s.Chat(there.String()); err != nil || x.Surface != "slack/x" {
		t.Errorf("under the id stands %+v, %v", x, err)
	}
}

// wait sends a turn to a state.
func wait(t *testing.T, s *Store, turn ID, state State, w Wait, r Reason) {
	t.Helper()
	if _, err := s.WaitTurn(Waiting{Turn: turn, At: t0, State: state, Wait: w, Reason: r}); err != nil {
		t.Fatal(err)
	}
}

func TestMessageJoinsWaitingTurnP19(t *testing.T) {
	for _, c := range []struct {
		name   string
		state  State
		reason Reason
		person string
		merge  bool
		joins  bool
	}{
		{"parked", Parked, Reason{Why: "failure"}, "ada", true, true},
		{"parked for budget", Parked, Reason{Why: "budget"}, "ada", true, true},
		{"retrying", Retrying, Reason{Why: "failure"}, "ada", true, true},
		{"rearming", Rearming, Reason{Why: "failure"}, "ada", true, true},
		{"owed", Owed, Reason{Why: "account"}, "ada", true, true},
		{"approval", Parked, Reason{Why: "approval"}, "ada", true, false},
		{"another person", Parked, Reason{Why: "failure"}, "bob", true, false},
		{"without merge", Parked, Reason{Why: "failure"}, "ada", false, false},
		{"queued", Queued, Reason{}, "ada", true, false},
		{"done", Done, Reason{}, "ada", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := opened(t)
			old := admit(t, s, hello(t0, "chat", "ada", "k1"))
			if c.state.waits() {
				wait(t, s, old.Turn, c.state, Wait{RetryAt: t0 + 60_000, From: "backoff", MS: 60_000}, c.reason)
			} else if c.state == Done {
				settle(t, s, Settled{Turn: old.Turn, At: t0, Outcome: Answered, Text: "yes"})
			}
			before, head := read(t, s, old.Turn), s.Head()
			m := hello(t0+1000, "chat", c.person, "k2")
			m.Merge = c.merge
			got := admit(t, s, m)
			own, after := read(t, s, got.Turn), read(t, s, old.Turn)
			if !c.joins {
				if got.Into != 0 || own.State != Queued || !sameTurn(before, after) {
					t.Errorf("%+v\n%+v\n%+v", got, own, after)
				}
				return
			}
			if got.Into != old.Turn || got.IntoState != c.state {
				t.Errorf("%+v", got)
			}
			if own.State != Done || own.Outcome != Merged || own.MergedInto != old.Turn || own.Ended != t0+1000 {
				t.Errorf("own turn %+v", own)
			}
			before.Messages, before.Spoken, before.Version = 2, t0+1000, before.Version+1
			if !sameTurn(before, after) {
				t.Errorf("older turn %+v, want %+v", after, before)
			}
			want := []string{"chat " + old.Conversation.String(), "message " + own.ID.String(), "turn " + old.Turn.String(), "turn " + own.ID.String()}
			if ch := changesAfter(t, s, head); !slices.Equal(ch, want) {
				t.Errorf("changes %v, want %v", ch, want)
			}
			again := admit(t, s, m)
			if !again.Duplicate || again.Turn != own.ID || again.Into != old.Turn || again.IntoState != c.state {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// A message joins nothing of another lane, whose promise is another, and does not overtake what the
// same person has said before it.
func TestMessageKeepsItsLaneAndItsPlaceP19(t *testing.T) {
	s := opened(t)
	visitor := hello(t0, "chat", "ada", "k1")
	visitor.Lane = "fail_fast"
	asked := admit(t, s, visitor)
	wait(t, s, asked.Turn, Retrying, Wait{RetryAt: t0 + 400, From: "backoff", MS: 400}, Reason{Why: "failure"})
	own := hello(t0+100, "chat", "ada", "k2")
	own.Merge = true
	first := admit(t, s, own)
	if first.Into != 0 {
		t.Errorf("a durable message has joined a turn that ends at the first trouble: %+v", first)
	}
	begin(t, s, first.Turn, 1)
	own.At, own.Key = t0+200, "k3"
	second := admit(t, s, own)
	wait(t, s, first.Turn, Retrying, Wait{RetryAt: t0 + 700, From: "backoff", MS: 400}, Reason{Why: "failure"})
	own.At, own.Key = t0+300, "k4"
	if third := admit(t, s, own); second.Into != 0 || third.Into != 0 {
		t.Errorf("the third message has overtaken the second: %+v, %+v", second, third)
	}
}

func TestMessageJoinsTheNewest(t *testing.T) {
	s := opened(t)
	m := hello(t0, "chat", "ada", "k1")
	m.Merge = false
	first := admit(t, s, m)
	m.Key = "k2"
	second := admit(t, s, m)
	wait(t, s, first.Turn, Parked, Wait{RetryAt: t0 + 1, MS: 1}, Reason{Why: "failure"})
	wait(t, s, second.Turn, Owed, Wait{Gate: "g"}, Reason{Why: "failure"})
	if got := admit(t, s, hello(t0+9, "chat", "ada", "k3")); got.Into != second.Turn || got.IntoState != Owed {
		t.Errorf("%+v", got)
	}
}

func TestAdmitCommand(t *testing.T) {
	s := opened(t)
	a := hello(t0, "chat", "ada", "k1")
	a.Command = &Command{ID: "c1", Hash: []byte("body"), At: t0}
	first := admit(t, s, a)
	if c := *a.Command; c.Turn != first.Turn || c.Chat != "chat" || c.Seq != first.Seq || c.Duplicate {
		t.Errorf("%+v", c)
	}
	again := hello(t0+1, "chat", "ada", "k1")
	again.Command = &Command{ID: "c1", Hash: []byte("body"), At: t0 + 1}
	out, err := s.Admit(again)
	if c := *again.Command; !errors.Is(err, ErrDuplicate) || !c.Duplicate || c.Turn != first.Turn || c.Chat != "chat" || c.Seq != first.Seq {
		t.Errorf("%+v, %v", c, err)
	}
	if !out.Duplicate || out.Turn != first.Turn || out.Conversation != first.Conversation || out.Seq != first.Seq {
		t.Errorf("%+v", out)
	}
	again.Command = &Command{ID: "c1", Hash: []byte("other"), At: t0}
	if _, err := s.Admit(again); !errors.Is(err, ErrCommandReused) {
		t.Errorf("got %v", err)
	}
	again.Command = &Command{ID: "c2", Hash: []byte("x"), At: t0} // the event is known, the command is not
	if out, err := s.Admit(again); err != nil || !out.Duplicate || again.Command.Turn != first.Turn || again.Command.Duplicate {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestHistory(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	begin(t, s, a.Turn, 1)
	if _, err := s.StepTurn(Stepped{Turn: a.Turn, At: t0, Told: Told{Step: &Step{Kind: "reply", Body: []byte(`{"a":1}`)}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.StepTurn(Stepped{Turn: a.Turn, At: t0, Told: Told{Step: &Step{Kind: "resulted", At: t0 + 7}}}); err != nil {
		t.Fatal(err)
	}
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0 + 9, MS: 9}, Reason{Why: "failure"})
	m := admit(t, s, hello(t0+1, "chat", "ada", "k2"))
	other := admit(t, s, hello(t0+2, "chat", "bob", "k3"))
	settle(t, s, Settled{Turn: a.Turn, At: t0 + 3, Outcome: Answered, Text: "both"})
	failed := admit(t, s, hello(t0+4, "chat", "ada", "k4"))
	settle(t, s, Settled{Turn: failed.Turn, At: t0 + 5, Outcome: Failed, Text: "sorry"})
	now := admit(t, s, hello(t0+6, "chat", "ada", "k5"))
	admit(t, s, hello(t0+7, "chat", "eve", "k6"))
	admit(t, s, hello(t0+7, "elsewhere", "ada", "k7"))

	list, err := s.History(a.Conversation, now.Turn, 100)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d exchanges, %v: %+v", len(list), err, list)
	}
	x := list[0]
	if x.Turn != a.Turn || x.Outcome != Answered || x.Text != "both" || x.Person != "ada" || x.Messages != 2 {
		t.Errorf("first %+v", x)
	}
	if len(x.Events) != 2 || x.Events[0].ID != a.Turn || x.Events[0].Text != "text of k1" || x.Events[1].ID != m.Turn || x.Events[1].Turn != a.Turn || x.Events[1].At != t0+1 || x.Events[1].Key != "k2" {
		t.Errorf("events %+v", x.Events)
	}
	if len(x.Steps) != 2 || x.Steps[0].N != 1 || x.Steps[0].Kind != "reply" || string(x.Steps[0].Body) != `{"a":1}` || x.Steps[0].At != t0 || x.Steps[1].N != 2 || x.Steps[1].At != t0+7 {
		t.Errorf("steps %+v", x.Steps)
	}
	if x := list[1]; x.Turn != failed.Turn || x.Outcome != Failed || x.Text != "" {
		t.Errorf("a failure's text is in the history (S7): %+v", x)
	}
	if x := list[2]; x.Turn != now.Turn || x.Outcome != "" || len(x.Events) != 1 {
		t.Errorf("the turn under way: %+v", x)
	}
	list, err = s.History(a.Conversation, other.Turn, 1)
	if err != nil || len(list) != 1 || list[0].Turn != other.Turn {
		t.Errorf("limit: %+v, %v", list, err)
	}
}
