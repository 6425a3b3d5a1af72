package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
)

func turnsOf(list []Ready) (ids []ID) {
	for _, r := range list {
		ids = append(ids, r.Turn)
	}
	return ids
}

func TestRunnable(t *testing.T) {
	s := opened(t)
	var want []ID
	for i := range 5 {
		want = append(want, queued(t, s, i))
	}
	begin(t, s, want[1], 1)
	want = slices.Delete(want, 1, 2)
	first, err := s.Runnable(0, 3)
	if err != nil || !slices.Equal(turnsOf(first), want[:3]) || first[0].State != Queued || first[0].Conversation == 0 {
		t.Errorf("%+v, %v; want %v", first, err, want)
	}
	rest, err := s.Runnable(first[2].Turn, 3)
	if err != nil || !slices.Equal(turnsOf(rest), want[3:]) {
		t.Errorf("%+v, %v", rest, err)
	}
}

// A sweep reads what Due begins with, says when the next one is due behind that, and tells of queued turns
// without counting them in.
func TestSweep(t *testing.T) {
	s := opened(t)
	var want []ID
	for i := range 5 {
		id := queued(t, s, i)
		wait(t, s, id, Parked, Wait{RetryAt: t0 + 100 + Time(i), MS: 5}, Reason{Why: "failure"})
		want = append(want, id)
	}
	check := func(until Time, limit int, queued bool, due []ID, beyond Time) {
		t.Helper()
		got, err := s.Sweep(until, limit)
		if err != nil || got.Queued != queued || !slices.Equal(turnsOf(got.Due), due) || got.Beyond != beyond {
			t.Errorf("until %d at most %d: %+v, %v", until-t0, limit, got, err)
		}
	}
	check(t0+103, 3, false, want[:3], t0+104)
	check(t0+104, 9, false, want, 0)
	check(t0+99, 9, false, nil, t0+100)
	queued(t, s, 8)
	queued(t, s, 9)
	check(t0+103, 9, true, want[:4], t0+104)
	check(t0+103, 4, true, want[:4], t0+104)
	check(t0, 9, true, nil, t0+100)
	check(t0+200, 9, true, want, 0)
	if got, err := s.Sweep(t0+101, 9); err != nil || got.Due[1] != (Ready{Turn: want[1], Conversation: got.Due[1].Conversation, RetryAt: t0 + 101, WaitMS: 5, State: Parked}) || got.Due[1].Conversation == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDuePages(t *testing.T) {
	s := opened(t)
	var want []ID
	for i := range 20 {
		id := queued(t, s, i)
		wait(t, s, id, Parked, Wait{RetryAt: t0 + Time(i/7)*100, Gate: "g", MS: 5}, Reason{}) // many in one millisecond
		want = append(want, id)
	}
	wait(t, s, queued(t, s, 100), Parked, Wait{Gate: "g"}, Reason{})
	wait(t, s, queued(t, s, 101), Parked, Wait{RetryAt: t0 + 201}, Reason{})
	queued(t, s, 102)
	var got []ID
	after, afterTurn := Time(0), ID(0)
	for {
		page, err := s.Due(after, afterTurn, t0+200, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		last := page[len(page)-1]
		after, afterTurn = last.RetryAt, last.Turn
		got = append(got, turnsOf(page)...)
		if len(got) > 100 {
			t.Fatal("no end")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if page, err := s.Due(t0+200, 0, t0+100, 10); err != nil || len(page) != 0 {
		t.Errorf("beyond until: %v, %v", page, err)
	}
}

func TestAtGateFreshFirstThenOldest(t *testing.T) {
	s := opened(t)
	spoken := []Time{t0 - 9000, t0 + 10, t0 - 5000, t0 + 5, t0 - 7000}
	var ids []ID
	busy := map[ID]bool{}
	for i, at := range spoken {
		a := admit(t, s, hello(at, fmt.Sprint("chat", i), "ada", fmt.Sprint("k", i)))
		wait(t, s, a.Turn, Parked, Wait{Gate: "g", From: "gate"}, Reason{Why: "gate"})
		ids = append(ids, a.Turn)
		if i == 2 {
			busy[a.Conversation] = true
		}
	}
	other := queued(t, s, 50)
	wait(t, s, other, Parked, Wait{Gate: "h", From: "gate"}, Reason{Why: "gate"})
	got, err := s.AtGate("g", t0, nil, 10)
	if want := []ID{ids[3], ids[1], ids[0], ids[4], ids[2]}; err != nil || !slices.Equal(turnsOf(got), want) {
		t.Errorf("got %v, %v; want %v", turnsOf(got), err, want)
	}
	got, err = s.AtGate("g", t0, func(r Ready) bool { return busy[r.Conversation] }, 4)
	if want := []ID{ids[3], ids[1], ids[0], ids[4]}; err != nil || !slices.Equal(turnsOf(got), want) {
		t.Errorf("busy: got %v, %v; want %v", turnsOf(got), err, want)
	}
	if got, err := s.AtGate("g", t0, nil, 1); err != nil || !slices.Equal(turnsOf(got), ids[3:4]) {
		t.Errorf("one: %v, %v", got, err)
	}
	if n, err := s.GateWaiters(); err != nil || len(n) != 2 || n["g"] != 5 || n["h"] != 1 {
		t.Errorf("%v, %v", n, err)
	}
}

func TestTurnsFilter(t *testing.T) {
	s := opened(t)
	var ids []ID
	for i := range 9 {
		m := hello(t0+Time(i), fmt.Sprint("chat", i), "ada", fmt.Sprint("k", i))
		if i%3 == 0 {
			m.Bot = "second"
		}
		id := admit(t, s, m).Turn
		ids = append(ids, id)
		switch i % 3 {
		case 1:
			wait(t, s, id, Parked, Wait{RetryAt: t0, MS: 1}, Reason{})
		case 2:
			begin(t, s, id, 1)
		}
	}
	pick := func(n ...int) (list []ID) {
		for _, i := range n {
			list = append(list, ids[i])
		}
		return list
	}
	for _, c := range []struct {
		name string
		f    Filter
		want []ID
	}{
		{"all", Filter{}, pick(8, 7, 6, 5, 4, 3, 2, 1, 0)},
		{"state", Filter{States: []State{Parked}}, pick(7, 4, 1)},
		{"states", Filter{States: []State{Parked, Running, Parked}}, pick(8, 7, 5, 4, 2, 1)},
		{"none", Filter{States: []State{Done, Owed}}, nil},
		{"bot", Filter{Bot: "second"}, pick(6, 3, 0)},
		{"model", Filter{Model: "openai/gpt"}, pick(8, 5, 2)},
		{"older", Filter{OlderThan: t0 + 3}, pick(2, 1, 0)},
		{"all of it", Filter{States: []State{Queued, Running}, Bot: "bot", Model: "openai/gpt", OlderThan: t0 + 6, Before: ids[8]}, pick(5, 2)},
	} {
		var got []ID
		turns, next, err := s.Turns(c.f)
		for _, x := range turns {
			got = append(got, x.ID)
		}
		if err != nil || next != 0 || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, next %v, %v; want %v", c.name, got, next, err, c.want)
		}
		got = nil
		for f, first := c.f, true; first || f.Before != 0; first = false {
			f.Limit = 2
			page, next, err := s.Turns(f)
			if err != nil || len(page) > 2 {
				t.Fatal(len(page), err)
			}
			for _, x := range page {
				got = append(got, x.ID)
			}
			f.Before = next
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, by pages: %v; want %v", c.name, got, c.want)
		}
	}
}

func TestOpenTurns(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	b := admit(t, s, hello(t0, "chat", "bob", "k2"))
	c := admit(t, s, hello(t0, "chat", "eve", "k3"))
	settle(t, s, Settled{Turn: b.Turn, At: t0, Outcome: Answered})
	list, err := s.OpenTurns(a.Conversation)
	if err != nil || len(list) != 2 || list[0].ID != a.Turn || list[1].ID != c.Turn {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestLastFailed(t *testing.T) {
	s := opened(t)
	say := func(key string) Admitted { return admit(t, s, hello(t0, "chat", key, key)) }
	failed, answered, unasked := say("k1"), say("k2"), say("k3")
	if _, err := s.LastFailed(failed.Conversation); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	begin(t, s, failed.Turn, 1)
	begin(t, s, answered.Turn, 1)
	settle(t, s, Settled{Turn: failed.Turn, At: t0, Outcome: Failed})
	settle(t, s, Settled{Turn: answered.Turn, At: t0, Outcome: Answered})
	settle(t, s, Settled{Turn: unasked.Turn, At: t0, Outcome: Refused})
	if last, err := s.LastFailed(failed.Conversation); err != nil || last.ID != failed.Turn {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestCountsAreThoseOfTheOpening(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	for i := range 3 {
		queued(t, s, i)
	}
	settle(t, s, Settled{Turn: queued(t, s, 3), At: t0, Outcome: Answered})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openIn(t, dir)
	begin(t, s, queued(t, s, 9), 1)
	if n, _, err := s.Interrupt(t0, nil); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	counts, err := s.Counts()
	if err != nil || len(counts) != 2 || counts[Queued] != 3 || counts[Done] != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	if _, err := s.Counts(); err == nil {
		t.Error("the snapshot can be read twice")
	}
	r, err := OpenReader(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if counts, err := r.Counts(); err != nil || counts[Queued] != 4 {
		t.Errorf("reader: %v, %v", counts, err)
	}
}

// However turns are spread over the states, the counts are those that a look at each gives.
func TestCountsOfAnySpread(t *testing.T) {
	for _, spread := range []map[State]int64{
		{}, {Queued: 1}, {Done: 100}, {Parked: 100}, {Queued: 3, Parked: 40, Done: 60}, {Parked: 60, Done: 40, Owed: 2}, {Queued: 50, Rearming: 50},
		{Queued: 7, Running: 8, Retrying: 9, Rearming: 10, Owed: 11, Parked: 12, Done: 13}, {Parked: 16, Done: 1},
	} {
		s := opened(t)
		id := 0
		for state, n := range spread {
			for range n {
				id++
				if _, err := s.writer.conn.exec(`INSERT INTO turns (id, conversation, person, lane, state, created, spoken) VALUES (?, 1, 'ada', 'durable', ?, 1, 1)`, id, state); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got, err := s.pool.counted(); err != nil || !maps.Equal(got, spread) {
			t.Errorf("%v, %v, want %v", got, err, spread)
		}
	}
}

// counted counts what is there now.
func (p *pool) counted() (counts map[State]int64, err error) {
	err = p.with(func(c *conn) (bool, error) {
		counts, err = c.counts()
		return true, err
	})
	return counts, err
}
