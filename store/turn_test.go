package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// equalTurns compares turns as they are stored.
func equalTurns(a, b Turn) bool {
	a.Was, b.Was = "", ""
	return reflect.DeepEqual(a, b)
}

func read(t testing.TB, s *Store, id ID) Turn {
	t.Helper()
	turn, err := s.Turn(id)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func begin(t testing.TB, s *Store, turn ID, send int) int {
	t.Helper()
	n, err := s.BeginRequest(Begin{Turn: turn, At: t0, Send: send, NewSend: true, Model: "openai/gpt", Messages: read(t, s, turn).Messages})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func settle(t testing.TB, s *Store, p Settled) Turn {
	t.Helper()
	turn, err := s.SettleTurn(p)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestTurnNotFound(t *testing.T) {
	s := opened(t)
	_, wait := s.WaitTurn(Waiting{Turn: 5, State: Parked})
	_, step := s.StepTurn(Stepped{Turn: 5})
	_, end := s.SettleTurn(Settled{Turn: 5})
	_, wake := s.WakeTurn(Wake{Turn: 5})
	_, begin := s.BeginRequest(Begin{Turn: 5})
	_, turn := s.Turn(5)
	_, chat := s.Chat("x")
	_, chatID := s.ChatByID(5)
	_, message := s.Message(5)
	for i, err := range []error{wait, step, end, wake, begin, turn, chat, chatID, message, s.MarkPost(Post{ID: 5}, t0), s.RenameChat("x", "y", t0, nil), s.DeleteChat("x", t0, nil)} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%d: got %v", i, err)
		}
	}
}

func TestBeginRequest(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0 + 5, Gate: "g", From: "gate", MS: 5}, Reason{Why: "gate", Provider: "openai"})
	head := s.Head()
	if n := begin(t, s, a.Turn, 1); n != 1 {
		t.Errorf("request %d", n)
	}
	turn := read(t, s, a.Turn)
	if turn.State != Running || turn.Wait != (Wait{}) || turn.Reason.Why != "gate" || turn.Model != "openai/gpt" || turn.Attempts != 1 || turn.Requests != 1 || turn.Version != 3 {
		t.Errorf("%+v", turn)
	}
	if got := changesAfter(t, s, head); !slices.Equal(got, []string{"turn " + a.Turn.String(), "attempt " + a.Turn.String() + "/1"}) {
		t.Errorf("changes %v", got)
	}
	n, err := s.BeginRequest(Begin{Turn: a.Turn, At: t0 + 1, Send: 1, Model: "openai/gpt", Messages: 1})
	if turn := read(t, s, a.Turn); err != nil || n != 2 || turn.Attempts != 1 || turn.Requests != 2 {
		t.Errorf("a resend: %d, %v, %+v", n, err, turn)
	}
	list, err := s.Attempts(a.Turn)
	want := []Attempt{
		{Turn: a.Turn, N: 1, Send: 1, At: t0, Model: "openai/gpt", StatedMS: -1},
		{Turn: a.Turn, N: 2, Send: 1, At: t0 + 1, Model: "openai/gpt", StatedMS: -1},
	}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestBeginRequestAfterAMessageOrTheEnd(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0 + 5, MS: 5}, Reason{Why: "failure"})
	admit(t, s, hello(t0, "chat", "ada", "k2"))
	b := Begin{Turn: a.Turn, At: t0, Send: 1, NewSend: true, Model: "openai/gpt", Messages: 1}
	if _, err := s.BeginRequest(b); !errors.Is(err, ErrMoved) {
		t.Errorf("got %v", err)
	}
	if _, err := s.SettleTurn(Settled{Turn: a.Turn, At: t0, Outcome: Answered, Text: "x", Messages: 1}); !errors.Is(err, ErrMoved) {
		t.Errorf("got %v", err)
	}
	if turn := read(t, s, a.Turn); turn.State != Parked || turn.Requests != 0 || turn.Text != "" {
		t.Errorf("ErrMoved has written: %+v", turn)
	}
	settle(t, s, Settled{Turn: a.Turn, At: t0, Outcome: Answered, Text: "x", Messages: 2})
	b.Messages = 2
	if _, err := s.BeginRequest(b); !errors.Is(err, ErrSettled) {
		t.Errorf("got %v", err)
	}
}

// Whoever goes by a row that has changed since it was read is told so, whatever has changed in it.
func TestBeginRequestAfterTheRowHasMoved(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0 + 5, MS: 5}, Reason{Why: "failure"})
	was := read(t, s, a.Turn)
	if _, err := s.WakeTurn(Wake{Turn: a.Turn, At: t0 + 1, NewEpisode: true}); err != nil {
		t.Fatal(err)
	}
	b := Begin{Turn: a.Turn, At: t0 + 2, Send: 1, NewSend: true, Model: "openai/gpt", Messages: 1, Version: was.Version}
	if _, err := s.BeginRequest(b); !errors.Is(err, ErrMoved) {
		t.Errorf("got %v", err)
	}
	now := read(t, s, a.Turn)
	if now.State != Queued || now.Requests != 0 {
		t.Errorf("ErrMoved has written: %+v", now)
	}
	b.Version = now.Version
	if _, err := s.BeginRequest(b); err != nil {
		t.Error(err)
	}
	if after := read(t, s, a.Turn); after.Version != now.Version+1 {
		t.Errorf("version %d after %d", after.Version, now.Version)
	}
}

// Several turns read in one go are the same as each read alone.
func TestTurnsOf(t *testing.T) {
	s := opened(t)
	want, ids := map[ID]Turn{}, []ID{5}
	for i := range 7 {
		a := admit(t, s, hello(t0+Time(i), fmt.Sprint("chat", i), "ada", fmt.Sprint("k", i)))
		wait(t, s, a.Turn, Parked, Wait{RetryAt: t0 + 5, MS: 5}, Reason{Why: "failure", Text: fmt.Sprint("reason ", i)})
		want[a.Turn], ids = read(t, s, a.Turn), append(ids, a.Turn)
	}
	for _, list := range [][]ID{ids, ids[:2], ids[:1], nil} {
		got, err := s.TurnsOf(list)
		if err != nil || len(got) != max(0, len(list)-1) {
			t.Fatalf("%d of %d: %v", len(got), len(list), err)
		}
		for id, turn := range got {
			if !reflect.DeepEqual(turn, want[id]) {
				t.Errorf("%+v\nwant %+v", turn, want[id])
			}
		}
	}
}

// The messages of a turn are its own, in order, with those that have joined it.
func TestAsked(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0 + 5, MS: 5}, Reason{Why: "failure"})
	b := admit(t, s, hello(t0+1, "chat", "ada", "k2"))
	if b.Into != a.Turn {
		t.Fatalf("%+v", b)
	}
	list, err := s.Asked(a.Turn)
	if err != nil || len(list) != 2 || list[0].Key != "k1" || list[1].Key != "k2" || list[1].Turn != a.Turn {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := s.Asked(b.Turn); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestWaitTurnP4(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	begin(t, s, a.Turn, 1)
	head := s.Head()
	w := Waiting{
		Turn: a.Turn, At: t0 + 100, State: Parked, Wait: Wait{RetryAt: t0 + 45_100, Gate: "g", From: "retry-after", MS: 45_000},
		Reason:  Reason{Why: "failure", Class: "rate_limit", Status: 429, Provider: "openai", Model: "gpt", Text: "OpenAI is rate limiting"},
		Resumed: "failure", FirstFailed: t0 + 90, Park: true, RearmN: 1, RearmOf: 3, Episode: []byte(`{"parks":1}`),
		Told: Told{
			Attempt: &AttemptEnd{N: 1, Status: 429, Class: "rate_limit", StatedMS: 45_000, WaitMS: 45_000, WaitFrom: "retry-after", Rung: "L5", Outcome: "park",
				RequestID: "r1", MS: 80, Error: "slow down", TokensIn: 3, TokensOut: 1},
			Gates: []Gate{{Key: "g", Provider: "openai", Model: "gpt", Why: "hold", Until: t0 + 45_100, WaitMS: 45_000, Since: t0 + 90, Class: "rate_limit", Error: "slow down", Record: []byte("{}")}},
			Posts: []Post{{Kind: "notice", Text: "Still on it", Until: t0 + 45_100}},
		},
	}
	got, err := s.WaitTurn(w)
	if err != nil {
		t.Fatal(err)
	}
	want := Turn{ID: a.Turn, Conversation: a.Conversation, Bot: "bot", Surface: "web", Channel: "chat", Person: "ada", Lane: "durable",
		State: Parked, Version: 3, Created: t0, Spoken: t0, Messages: 1, Wait: w.Wait, Reason: w.Reason, Resumed: "failure", FirstFailed: t0 + 90,
		Attempts: 1, Requests: 1, Parks: 1, RearmN: 1, RearmOf: 3, Episode: w.Episode, Model: "openai/gpt"}
	if !equalTurns(got, want) || !equalTurns(read(t, s, a.Turn), want) {
		t.Errorf("returned %+v\nstored   %+v\nwant     %+v", got, read(t, s, a.Turn), want)
	}
	attempts, err := s.Attempts(a.Turn)
	end := Attempt(*w.Attempt)
	end.Turn, end.Send, end.At, end.Model = a.Turn, 1, t0, "openai/gpt"
	if err != nil || len(attempts) != 1 || attempts[0] != end {
		t.Errorf("%+v, %v", attempts, err)
	}
	gates, err := s.Gates()
	if err != nil || len(gates) != 1 || !reflect.DeepEqual(gates[0], w.Gates[0]) {
		t.Errorf("%+v, %v", gates, err)
	}
	posts, err := s.Posts(a.Turn)
	if err != nil || len(posts) != 1 {
		t.Fatalf("%+v, %v", posts, err)
	}
	if p := posts[0]; p.Text != "Still on it" || p.State != "pending" || p.Created != t0+100 || p.Edited != 0 || p.Conversation != a.Conversation || p.Until != t0+45_100 {
		t.Errorf("%+v", p)
	}
	wantChanges := []string{"turn " + a.Turn.String(), "attempt " + a.Turn.String() + "/1", "message " + posts[0].ID.String(), "gate g", "provider openai/gpt"}
	if got := changesAfter(t, s, head); !slices.Equal(got, wantChanges) {
		t.Errorf("changes %v, want %v", got, wantChanges)
	}
}

func TestStatedWaitOfZeroIsAStatement(t *testing.T) {
	s := opened(t)
	turn := queued(t, s, 1)
	begin(t, s, turn, 1)
	_, err := s.WaitTurn(Waiting{Turn: turn, At: t0, State: Retrying, Told: Told{Attempt: &AttemptEnd{N: 1, StatedMS: 0, Outcome: "retry"}}})
	if list, _ := s.Attempts(turn); err != nil || list[0].StatedMS != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = s.WaitTurn(Waiting{Turn: turn, At: t0, State: Owed, Told: Told{Attempt: &AttemptEnd{N: 2}}})
	if now := read(t, s, turn); !errors.Is(err, ErrNotFound) || now.State != Retrying {
		t.Errorf("a request that never began has ended: %v, %+v", err, now)
	}
}

func TestStepEndsTheEpisode(t *testing.T) {
	s := opened(t)
	turn := queued(t, s, 1)
	if _, err := s.WaitTurn(Waiting{Turn: turn, At: t0, State: Rearming, Wait: Wait{RetryAt: t0 + 1, MS: 1}, Reason: Reason{Why: "failure", Class: "server"},
		Resumed: "failure", FirstFailed: t0, RearmN: 2, RearmOf: 3, Episode: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	begin(t, s, turn, 1)
	if _, _, err := s.Interrupt(t0, nil); err != nil {
		t.Fatal(err)
	}
	n := begin(t, s, turn, 2)
	got, err := s.StepTurn(Stepped{Turn: turn, At: t0, Told: Told{Attempt: &AttemptEnd{N: n, Status: 200, StatedMS: -1, Outcome: "ok"}, Step: &Step{Kind: "reply", Body: []byte("{}")}}})
	if err != nil || got.State != Running || got.FirstFailed != 0 || got.Episode != nil || got.RearmN != 0 || got.RearmOf != 0 || got.Resumed != "" || got.Deaths != 0 || got.Reason.Class != "server" {
		t.Errorf("%+v, %v", got, err)
	}
	if !equalTurns(got, read(t, s, turn)) {
		t.Errorf("returned %+v, stored %+v", got, read(t, s, turn))
	}
	steps, err := s.Steps(turn)
	if err != nil || len(steps) != 1 || steps[0].N != 1 || steps[0].Turn != turn || steps[0].At != t0 {
		t.Errorf("%+v, %v", steps, err)
	}
}

func TestSettleTurn(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	n := begin(t, s, a.Turn, 1)
	c := &Command{ID: "c", Hash: []byte("h"), At: t0}
	p := Settled{Turn: a.Turn, At: t0 + 50, Outcome: Answered, Text: "the answer", Messages: 1, Command: c,
		Told: Told{Attempt: &AttemptEnd{N: n, Status: 200, StatedMS: -1, Outcome: "ok"}, Posts: []Post{{Kind: "answer", Text: "the answer", State: "done"}}}}
	got := settle(t, s, p)
	if got.State != Done || got.Outcome != Answered || got.Ended != t0+50 || got.Text != "the answer" || got.Version != 3 || !equalTurns(got, read(t, s, a.Turn)) {
		t.Errorf("returned %+v, stored %+v", got, read(t, s, a.Turn))
	}
	if c.Turn != a.Turn || c.Chat != "chat" || c.Seq != s.Head() {
		t.Errorf("%+v", c)
	}
	var copies int
	if err := s.read(func(c *conn) error {
		return c.one(`SELECT (SELECT count(*) FROM posts WHERE text IS NOT NULL) + (SELECT count(*) FROM turns WHERE text <> '')`).Scan(&copies)
	}); err != nil || copies != 1 {
		t.Errorf("the answer is stored %d times, %v", copies, err)
	}
	if posts, err := s.Posts(a.Turn); err != nil || len(posts) != 1 || posts[0].Text != "the answer" || posts[0].State != "done" {
		t.Errorf("%+v, %v", posts, err)
	}
	if x, err := s.Chat("chat"); err != nil || x.Active != t0+50 || x.State != Done {
		t.Errorf("%+v, %v", x, err)
	}
	head := s.Head()
	if again, err := s.SettleTurn(p); !errors.Is(err, ErrDuplicate) || !c.Duplicate || !equalTurns(again, got) {
		t.Errorf("%+v, %v", again, err)
	}
	p.Command = nil
	if again, err := s.SettleTurn(p); !errors.Is(err, ErrSettled) || !equalTurns(again, got) {
		t.Errorf("%+v, %v", again, err)
	}
	if s.Head() != head {
		t.Error("a refused settlement has left changes")
	}
}

func TestDoneTurnStaysDoneP10(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	done := settle(t, s, Settled{Turn: a.Turn, At: t0, Outcome: Cancelled, Text: "partial"})
	told := Told{Step: &Step{Kind: "note"}, Posts: []Post{{Kind: "notice", Text: "x"}}, Gates: []Gate{{Key: "g", Why: "hold"}}}
	w, err1 := s.WaitTurn(Waiting{Turn: a.Turn, At: t0, State: Parked, Told: told})
	p, err2 := s.StepTurn(Stepped{Turn: a.Turn, At: t0, Told: told})
	k, err3 := s.WakeTurn(Wake{Turn: a.Turn, At: t0})
	for i, err := range []error{err1, err2, err3} {
		if !errors.Is(err, ErrSettled) || !equalTurns([]Turn{w, p, k}[i], done) {
			t.Errorf("%d: %v", i, err)
		}
	}
	posts, _ := s.Posts(a.Turn)
	steps, _ := s.Steps(a.Turn)
	gates, _ := s.Gates()
	if !equalTurns(read(t, s, a.Turn), done) || len(posts)+len(steps)+len(gates) != 0 {
		t.Errorf("something was written: %v %v %v", posts, steps, gates)
	}
}

func TestWakeTurn(t *testing.T) {
	for _, state := range []State{Retrying, Parked, Rearming, Owed} {
		for _, anew := range []bool{false, true} {
			s := opened(t)
			turn := queued(t, s, 1)
			if _, err := s.WaitTurn(Waiting{Turn: turn, At: t0, State: state, Wait: Wait{RetryAt: t0 + 1, Gate: "g", From: "gate", MS: 1},
				Reason: Reason{Why: "failure", Class: "server"}, Resumed: "failure", FirstFailed: t0, RearmN: 1, RearmOf: 3, Episode: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			got, err := s.WakeTurn(Wake{Turn: turn, At: t0, NewEpisode: anew})
			if err != nil || got.State != Queued || got.Was != state || got.Wait != (Wait{}) || got.Reason.Class != "server" || got.Resumed != "failure" || got.Version != 3 {
				t.Errorf("%s: %+v, %v", state, got, err)
			}
			if cleared := got.FirstFailed == 0 && got.Episode == nil && got.RearmN == 0; cleared != anew {
				t.Errorf("%s, new episode %v: %+v", state, anew, got)
			}
			if !equalTurns(got, read(t, s, turn)) {
				t.Errorf("returned %+v, stored %+v", got, read(t, s, turn))
			}
			head := s.Head()
			if again, err := s.WakeTurn(Wake{Turn: turn, At: t0}); err != nil || again.Was != Queued || !equalTurns(again, got) || s.Head() != head {
				t.Errorf("woken twice: %+v, %v", again, err)
			}
		}
	}
}

func TestWakeCommandActsOnce(t *testing.T) {
	s := opened(t)
	turn := queued(t, s, 1)
	wait(t, s, turn, Parked, Wait{RetryAt: t0 + 1, MS: 1}, Reason{Why: "failure"})
	c := Command{ID: "c", Hash: []byte("h"), At: t0}
	if _, err := s.WakeTurn(Wake{Turn: turn, At: t0, Command: &c}); err != nil || c.Turn != turn {
		t.Fatal(c, err)
	}
	wait(t, s, turn, Parked, Wait{RetryAt: t0 + 1, MS: 1}, Reason{Why: "failure"})
	c = Command{ID: "c", Hash: []byte("h"), At: t0}
	got, err := s.WakeTurn(Wake{Turn: turn, At: t0, Command: &c})
	if !errors.Is(err, ErrDuplicate) || got.State != Parked || got.ID != turn {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInterruptP7(t *testing.T) {
	s := opened(t)
	ran, waited, parked := queued(t, s, 1), queued(t, s, 2), queued(t, s, 3)
	begin(t, s, ran, 1)
	begin(t, s, waited, 1)
	if _, err := s.WaitTurn(Waiting{Turn: waited, At: t0, State: Retrying, Wait: Wait{RetryAt: t0 + 1, MS: 1}, FirstFailed: t0, Episode: []byte("{}"),
		Told: Told{Attempt: &AttemptEnd{N: 1, StatedMS: -1, Outcome: "retry"}}}); err != nil {
		t.Fatal(err)
	}
	wait(t, s, parked, Parked, Wait{RetryAt: t0 + 1, MS: 1}, Reason{Why: "failure"})
	if n, _, err := s.Interrupt(t0+9, nil); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	a, b, c := read(t, s, ran), read(t, s, waited), read(t, s, parked)
	if a.State != Queued || a.Resumed != "restart" || a.Deaths != 1 {
		t.Errorf("%+v", a)
	}
	if b.State != Queued || b.Resumed != "restart" || b.Deaths != 0 || b.RetryAt != 0 || b.FirstFailed != t0 || string(b.Episode) != "{}" {
		t.Errorf("%+v", b)
	}
	if c.State != Parked || c.Resumed != "" {
		t.Errorf("%+v", c)
	}
	x, _ := s.Attempts(ran)
	y, _ := s.Attempts(waited)
	if x[0].Outcome != "interrupted" || y[0].Outcome != "retry" {
		t.Errorf("%+v %+v", x, y)
	}
	if n, _, err := s.Interrupt(t0+9, nil); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestClampWaitsP16(t *testing.T) {
	s := opened(t)
	far, near, unknown := queued(t, s, 1), queued(t, s, 2), queued(t, s, 3)
	wait(t, s, far, Parked, Wait{RetryAt: t0 + 60_000, MS: 60_000}, Reason{})
	wait(t, s, near, Rearming, Wait{RetryAt: t0 - 3_600_000 + 5_000, MS: 60_000}, Reason{})
	wait(t, s, unknown, Owed, Wait{RetryAt: t0 + 60_000, MS: 0}, Reason{})
	put := func(g Gate) {
		if err := s.PutGate(g, t0, nil); err != nil {
			t.Fatal(err)
		}
	}
	put(Gate{Key: "far", Why: "hold", Until: t0 + 1000, WaitMS: 1000})
	put(Gate{Key: "near", Why: "down", Until: t0 - 3_600_000 + 10, WaitMS: 1000})
	if _, err := s.StepTurn(Stepped{Turn: queued(t, s, 4), At: t0, Told: Told{Posts: []Post{{Kind: "notice", NextTry: t0 + 500}}}}); err != nil {
		t.Fatal(err)
	}
	now, head := t0-3_600_000, s.Head()
	if n, err := s.ClampWaits(now); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
	if a, b, c := read(t, s, far), read(t, s, near), read(t, s, unknown); a.RetryAt != now+60_000 || b.RetryAt != now+5_000 || c.RetryAt != t0+60_000 {
		t.Errorf("%d %d %d", a.RetryAt-now, b.RetryAt-now, c.RetryAt-now)
	}
	gates, _ := s.Gates()
	if gates[0].Until != now+1000 || gates[1].Until != now+10 {
		t.Errorf("%+v", gates)
	}
	if list, err := s.DueLines(now+500, nil, nil, 9); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	} else if p, err := s.NextPost(list[0].Conversation, now+500); err != nil || p.NextTry != now+500 {
		t.Errorf("%+v, %v", p, err)
	}
	if got := changesAfter(t, s, head); !slices.Equal(got, []string{"gate far", "turn " + far.String()}) {
		t.Errorf("changes %v", got)
	}
	if n, err := s.ClampWaits(now); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestClampManyWaitsP16(t *testing.T) {
	s := opened(t)
	err := s.write(t0, func(f *fact) error {
		for i := range clampBatch*2 + 7 {
			out, err := f.admit(hello(t0, "chat", "ada", fmt.Sprint("k", i)))
			if err == nil {
				wait := i%3*60_000 + 1000 // many share a moment; what is due soon stays
				err = f.must(`UPDATE turns SET state = 'parked', retry_at = ?, wait_ms = ? WHERE id = ?`, t0+Time(wait), wait, out.Turn)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	now := t0 - 30_000
	if n, err := s.ClampWaits(now); err != nil || n != clampBatch*2+7 {
		t.Errorf("%d, %v", n, err)
	}
	left := 0
	if err := s.read(func(c *conn) error {
		return c.one(`SELECT count(*) FROM turns WHERE retry_at <> ? + wait_ms`, now).Scan(&left)
	}); err != nil || left != 0 {
		t.Errorf("%d left, %v", left, err)
	}
}

// A retrying turn whose wait is not over goes on waiting where it is told to be kept.
func TestInterruptKeepsWaits(t *testing.T) {
	s := opened(t)
	own, gate, over := queued(t, s, 1), queued(t, s, 2), queued(t, s, 3)
	for id, w := range map[ID]Wait{own: {RetryAt: t0 + 100, MS: 100, From: "backoff"}, gate: {RetryAt: t0 + 100, MS: 100, From: "gate"}, over: {RetryAt: t0 + 5, MS: 5, From: "backoff"}} {
		begin(t, s, id, 1)
		if _, err := s.WaitTurn(Waiting{Turn: id, At: t0, State: Retrying, Wait: w, FirstFailed: t0, Episode: []byte("mine"),
			Told: Told{Attempt: &AttemptEnd{N: 1, StatedMS: -1, Outcome: "retry"}}}); err != nil {
			t.Fatal(err)
		}
	}
	queued, kept, err := s.Interrupt(t0+9, func(from string, episode []byte) bool { return from == "backoff" && string(episode) == "mine" })
	if err != nil || queued != 2 || kept != 1 {
		t.Errorf("%d, %d, %v", queued, kept, err)
	}
	if a := read(t, s, own); a.State != Parked || a.RetryAt != t0+100 || a.MS != 100 || a.From != "backoff" || a.Parks != 0 || a.Deaths != 0 {
		t.Errorf("%+v", a)
	}
	for _, id := range []ID{gate, over} {
		if b := read(t, s, id); b.State != Queued || b.RetryAt != 0 {
			t.Errorf("%+v", b)
		}
	}
}
