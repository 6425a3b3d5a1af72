package store

import (
	"errors"
	"slices"
	"testing"
)

// own is something that a bot has set for itself.
func own(key string, next Time) *Schedule {
	return &Schedule{Source: "bot", Bot: "bot", Prompt: "look", Surface: "web", Channel: "chat", Person: "ada", Missed: "once", Next: next, MadeBy: key}
}

// TestTickOnce: the tick's turn and the schedule's next time are one fact; a tick about another time
// than the schedule's makes no turn, and a known event moves it on all the same.
func TestTickOnce(t *testing.T) {
	s := opened(t)
	x := own("a", t0+5)
	if err := s.SetSchedule(x, 20, t0); err != nil {
		t.Fatal(err)
	}
	a := hello(t0+5, "chat", "ada", "tick:1")
	a.Kind, a.Tick = "tick", &Tick{Schedule: x.ID, Due: t0 + 5, Next: t0 + 10, WaitMS: 5}
	first := admit(t, s, a)
	now, err := s.Schedule(x.Name)
	if err != nil || now.Next != t0+10 || now.WaitMS != 5 || now.Last != t0+5 || now.LastTurn != first.Turn || now.Planned != t0+5 {
		t.Fatalf("%+v, %v", now, err)
	}
	a.Key = "tick:2"
	if _, err := s.Admit(a); !errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
	if turns, _, err := s.Turns(Filter{}); err != nil || len(turns) != 1 {
		t.Errorf("%+v, %v", turns, err)
	}
	a.Key, a.Tick = "tick:1", &Tick{Schedule: x.ID, Due: t0 + 10, Next: t0 + 15}
	again := admit(t, s, a)
	if now, err = s.Schedule(x.Name); err != nil || !again.Duplicate || now.Next != t0+15 {
		t.Errorf("%+v, %+v, %v", again, now, err)
	}
	if err := s.PassTick(Tick{Schedule: x.ID, Due: t0 + 10, Next: t0 + 99}, t0); !errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
	if err := s.PauseSchedule(x.Name, true, t0+15, 0, t0, nil); err != nil {
		t.Fatal(err)
	}
	a.Key, a.Tick = "tick:3", &Tick{Schedule: x.ID, Due: t0 + 15, Next: t0 + 20}
	if _, err := s.Admit(a); !errors.Is(err, ErrMoved) {
		t.Errorf("a paused one is sent: %v", err)
	}
	list, err := s.NextSchedules(9)
	if err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestSetScheduleOnce: one call makes one, also after it is over; a conversation has at most so many to come.
func TestSetScheduleOnce(t *testing.T) {
	s := opened(t)
	a, b, c := own("a", t0+1), own("b", t0+2), own("c", t0+3)
	for _, x := range []*Schedule{a, b} {
		if err := s.SetSchedule(x, 2, t0); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetSchedule(c, 2, t0); !errors.Is(err, ErrTooMany) {
		t.Errorf("%v", err)
	}
	again := own("a", t0+50)
	if err := s.SetSchedule(again, 2, t0); err != nil || again.ID != a.ID || again.Next != t0+1 {
		t.Errorf("%+v, %v", again, err)
	}
	if found, err := s.CancelSchedule(a.Name, "bot", "web", "elsewhere", "", t0); err != nil || found {
		t.Error("cancelled from elsewhere", err)
	}
	if found, err := s.CancelSchedule(a.Name, "bot", "web", "chat", "", t0); err != nil || !found {
		t.Error(found, err)
	}
	if err := s.SetSchedule(again, 2, t0); err != nil || again.ID != a.ID || again.Next != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	if err := s.SetSchedule(c, 2, t0); err != nil {
		t.Error(err)
	}
	list, err := s.SchedulesIn("bot", "web", "chat", "")
	if err != nil || len(list) != 2 || list[0].ID != b.ID || list[1].ID != c.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := s.PruneSchedules(t0+1, 10); err != nil || n != 1 {
		t.Error(n, err)
	}
	if err := s.PutSchedule(&Schedule{Name: "daily", Source: "config", Cron: "@daily", Next: t0 + 9}, t0); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSchedule("daily", t0, nil); !errors.Is(err, ErrConfigured) {
		t.Error(err)
	}
	if err := s.DeleteSchedule(b.Name, t0, nil); err != nil {
		t.Error(err)
	}
	all, err := s.Schedules()
	if err != nil || len(all) != 2 || !slices.ContainsFunc(all, func(x Schedule) bool { return x.Name == "daily" && x.Next == t0+9 }) {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestClampSchedules: after a step back one that goes by lengths of time waits no longer than its own.
func TestClampSchedules(t *testing.T) {
	s := opened(t)
	a, b := own("a", t0+1000), own("b", t0+1000)
	a.WaitMS = 300
	for _, x := range []*Schedule{a, b} {
		if err := s.SetSchedule(x, 9, t0); err != nil {
			t.Fatal(err)
		}
	}
	head := s.Head()
	if n, err := s.ClampWaits(t0); err != nil || n != 1 {
		t.Error(n, err)
	}
	if told, err := s.Changes(head, 9); err != nil || len(told) != 1 || told[0].Kind != "schedule" || told[0].ID != a.Name {
		t.Errorf("it tells %+v, %v", told, err)
	}
	list, err := s.NextSchedules(9)
	if err != nil || len(list) != 2 || list[0].Next != t0+300 || list[1].Next != t0+1000 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestRearmsOfConversation is R5 in the store: counted when a re-arm is written, started anew by a
// message, a press and a model's answer, and by nothing else.
func TestRearmsOfConversation(t *testing.T) {
	s := opened(t)
	rearm := func(turn ID, n int) {
		t.Helper()
		got, err := s.WaitTurn(Waiting{Turn: turn, At: t0, State: Rearming, RearmN: n, RearmOf: 3, Reason: Reason{Why: "failure"}})
		if err != nil || got.Rearms != n {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	rearms := func(turn ID, want int, what string) {
		t.Helper()
		if got, err := s.Turn(turn); err != nil || got.Rearms != want {
			t.Errorf("%s: %d, %v", what, got.Rearms, err)
		}
	}
	a := admit(t, s, hello(t0, "chat", "ada", "1"))
	rearm(a.Turn, 2)
	key := 0
	send := func(kind string) Admitted {
		key++
		in := hello(t0, "chat", "bob", kind+string(rune('a'+key)))
		in.Kind = kind
		return admit(t, s, in)
	}
	for _, kind := range []string{"tick", "wake", "command"} {
		got := send(kind)
		if merged := got.Into == a.Turn; merged != (kind != "command") {
			t.Errorf("%s: %+v", kind, got)
		}
		rearms(a.Turn, 2, kind)
	}
	for _, kind := range []string{"message", "button"} {
		rearm(a.Turn, 2)
		if got := send(kind); got.Into != 0 {
			t.Errorf("%s: %+v", kind, got)
		}
		rearms(a.Turn, 0, kind)
	}
	rearm(a.Turn, 1)
	if _, err := s.WakeTurn(Wake{Turn: a.Turn, At: t0, NewEpisode: true}); err != nil {
		t.Fatal(err)
	}
	rearms(a.Turn, 1, "woken")
	begin(t, s, a.Turn, 3)
	settle(t, s, Settled{Turn: a.Turn, At: t0, Outcome: Answered})
	rearms(a.Turn, 0, "answered")
}

// A repeated prompt that a waiting turn takes in is not said twice; one that makes a turn of its own is said.
func TestRepeat(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "1"))
	wait(t, s, a.Turn, Owed, Wait{}, Reason{Why: "failure"})
	in := hello(t0, "chat", "ada", "2")
	in.RepeatOf = a.Turn
	b := admit(t, s, in)
	x, err := s.History(a.Conversation, a.Turn, 9)
	if err != nil || b.Into != a.Turn || len(x) != 1 || len(x[0].Events) != 2 || x[0].Events[1].Text != "" {
		t.Errorf("%+v, %+v, %v", b, x, err)
	}
	begin(t, s, a.Turn, 2)
	settle(t, s, Settled{Turn: a.Turn, At: t0, Outcome: Answered})
	in.Key = "3"
	c := admit(t, s, in)
	x, err = s.History(a.Conversation, c.Turn, 9)
	if err != nil || c.Into != 0 || len(x) != 2 || x[1].Events[0].Text != "text of 2" && x[1].Events[0].Text != "text of 3" {
		t.Errorf("%+v, %+v, %v", c, x, err)
	}
}
