package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestChats(t *testing.T) {
	s := opened(t)
	for i := range 5 {
		admit(t, s, hello(t0+Time(i/2), fmt.Sprint("chat", i), "ada", fmt.Sprint("k", i)))
	}
	slack := hello(t0+9, "C1", "ada", "k9")
	slack.Surface, slack.Thread = "slack/x", "17.5"
	a := admit(t, s, slack)
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0, MS: 1}, Reason{Why: "failure"})
	slack.Key = "k10"
	admit(t, s, slack) // merged: the chat still waits
	list, err := s.Chats(0, 2)
	if err != nil || len(list) != 2 || list[1].Channel != "chat4" {
		t.Fatalf("%+v, %v", list, err)
	}
	x := list[0]
	if x.ID != a.Conversation || x.Key != a.Conversation.String() || x.Bot != "bot" || x.Thread != "17.5" || x.State != Parked || x.Active != t0+9 || x.Created != t0+9 || x.Title != "Title of C1" {
		t.Errorf("%+v", x)
	}
	var got []string
	for before := Time(0); ; {
		page, err := s.Chats(before, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, x := range page {
			got = append(got, x.Channel)
		}
		before = page[len(page)-1].Active
	}
	if want := []string{"C1", "chat4", "chat3", "chat2", "chat1", "chat0"}; !slices.Equal(got, want) {
		t.Errorf("by pages %v, want %v", got, want)
	}
	for _, key := range []string{"chat3", x.Key} {
		if c, err := s.Chat(key); err != nil || c.Key != key {
			t.Errorf("%s: %+v, %v", key, c, err)
		}
	}
	if c, err := s.Chat("chat3"); err != nil || c.State != Queued {
		t.Errorf("%+v, %v", c, err)
	} else if again, err := s.Chat(c.ID.String()); err != nil || again != c {
		t.Errorf("by its row: %+v, %v", again, err)
	}
}

func TestRenameAndDeleteChat(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	n := begin(t, s, a.Turn, 1)
	c := Command{ID: "c1", Hash: []byte("h"), At: t0}
	head := s.Head()
	if err := s.RenameChat("chat", "New", t0, &c); err != nil || c.Chat != "chat" || c.Seq != head+1 {
		t.Errorf("%+v, %v", c, err)
	}
	if x, err := s.Chat("chat"); err != nil || x.Title != "New" {
		t.Errorf("%+v, %v", x, err)
	}
	if err := s.RenameChat("chat", "New", t0, &c); !errors.Is(err, ErrDuplicate) {
		t.Errorf("got %v", err)
	}
	d := Command{ID: "c2", Hash: []byte("h"), At: t0}
	if err := s.DeleteChat("chat", t0, &d); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
	settle(t, s, Settled{Turn: a.Turn, At: t0, Outcome: Answered, Text: "x",
		Told: Told{Attempt: &AttemptEnd{N: n, Outcome: "ok"}, Step: &Step{Kind: "note"}, Posts: []Post{{Kind: "answer", Text: "x"}}}})
	other := queued(t, s, 5)
	if err := s.DeleteChat("chat", t0, &d); err != nil || d.Chat != "chat" {
		t.Errorf("%+v, %v", d, err)
	}
	if got := changesAfter(t, s, d.Seq-1); !slices.Equal(got, []string{"removed chat/chat"}) {
		t.Errorf("changes %v", got)
	}
	if n := rowsOf(t, s); n != (rowCount{1, 1, 1, 0, 0, 0}) {
		t.Errorf("left: %+v", n)
	}
	if read(t, s, other).ID != other {
		t.Error("another chat's turn is gone")
	}
	d = Command{ID: "c2", Hash: []byte("h"), At: t0}
	if err := s.DeleteChat("chat", t0, &d); !errors.Is(err, ErrDuplicate) || d.Chat != "chat" {
		t.Errorf("%+v, %v", d, err)
	}
}

type rowCount struct{ conversations, events, turns, attempts, steps, posts int }

func rowsOf(t *testing.T, s *Store) (n rowCount) {
	t.Helper()
	if err := s.read(func(c *conn) error {
		return c.one(`SELECT (SELECT count(*) FROM conversations), (SELECT count(*) FROM events), (SELECT count(*) FROM turns),
			(SELECT count(*) FROM attempts), (SELECT count(*) FROM steps), (SELECT count(*) FROM posts)`).
			Scan(&n.conversations, &n.events, &n.turns, &n.attempts, &n.steps, &n.posts)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMessages(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	if _, err := s.WaitTurn(Waiting{Turn: a.Turn, At: t0, State: Parked, Told: Told{Posts: []Post{{Kind: "notice", Text: "Still on it", State: "done"}}}}); err != nil {
		t.Fatal(err)
	}
	posts, _ := s.Posts(a.Turn)
	b := admit(t, s, hello(t0+1, "chat", "ada", "k2"))
	tick := hello(t0+1, "chat", "", "k3")
	tick.Kind = "tick"
	admit(t, s, tick)
	p := posts[0]
	p.Kind, p.Text = "answer", "the answer"
	settle(t, s, Settled{Turn: a.Turn, At: t0 + 2, Outcome: Answered, Text: "the answer",
		Told: Told{Posts: []Post{p, {Part: 1, Kind: "answer", Text: "more", State: "gone"}}}})
	list, err := s.Messages(a.Conversation, 0, 10)
	want := []Message{
		{ID: a.Turn, Chat: a.Conversation, Turn: a.Turn, Role: "user", Kind: "message", Name: "ada", Text: "text of k1", At: t0},
		{ID: p.ID, Chat: a.Conversation, Turn: a.Turn, Role: "bot", Kind: "answer", Name: "bot", Text: "the answer", At: t0, Edited: t0 + 2},
		{ID: b.Turn, Chat: a.Conversation, Turn: a.Turn, Role: "user", Kind: "message", Name: "ada", Text: "text of k2", At: t0 + 1},
	}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("got  %+v, %v\nwant %+v", list, err, want)
	}
	if page, err := s.Messages(a.Conversation, b.Turn, 1); err != nil || !slices.Equal(page, want[1:2]) {
		t.Errorf("%+v, %v", page, err)
	}
	for _, m := range want {
		if got, err := s.Message(m.ID); err != nil || got != m {
			t.Errorf("%+v, %v; want %+v", got, err, m)
		}
	}
}

func TestPosts(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	tell := func(at Time, posts ...Post) {
		t.Helper()
		if _, err := s.StepTurn(Stepped{Turn: a.Turn, At: at, Told: Told{Posts: posts}}); err != nil {
			t.Fatal(err)
		}
	}
	pending := func(now Time) (list []Post) { // the next one, if it is due: of its line, which is then due as well
		t.Helper()
		p, err := s.NextPost(a.Conversation, now)
		if err == nil {
			list = append(list, p)
		} else if !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		lines, err := s.DueLines(now, nil, nil, 10)
		if want := []Line{{a.Conversation, "bot", "web", "chat", ""}}[:len(list)]; err != nil || !slices.Equal(lines, want) {
			t.Fatalf("lines %+v, %v; want %+v", lines, err, want)
		}
		return list
	}
	tell(t0, Post{Kind: "notice", Text: "one"}, Post{Part: 1, Kind: "mention", Text: "later", NextTry: t0 + 50}, Post{Part: 2, Kind: "mention", Text: "shown", State: "done"})
	list := pending(t0)
	if len(list) != 1 || list[0].Text != "one" {
		t.Fatalf("%+v", list)
	}
	p := list[0]
	p.State = "posting"
	if err := s.MarkPost(p, t0); err != nil {
		t.Fatal(err)
	}
	if list := pending(t0); len(list) != 1 || list[0].State != "posting" {
		t.Errorf("whose outcome is unknown: %+v", list)
	}
	edit := p
	edit.State, edit.Text, edit.Until = "pending", "two", t0+7
	tell(t0, edit) // while the first text is being handed over, in the same millisecond
	p.State, p.Handle = "done", "H1"
	if err := s.MarkPost(p, t0); err != nil {
		t.Fatal(err)
	}
	list = pending(t0)
	if len(list) != 1 || list[0].Text != "two" || list[0].Handle != "H1" || list[0].Until != t0+7 {
		t.Fatalf("the newer text is lost: %+v", list)
	}
	first := list[0].Edited
	edit.Text = "three"
	tell(t0, edit)
	if list = pending(t0); list[0].Edited == first || list[0].Handle != "H1" {
		t.Errorf("two texts with one Edited, or a lost handle: %+v", list)
	}
	p = list[0]
	p.State, p.NextTry, p.Tries, p.Error = "pending", t0+20, 1, "is down"
	if err := s.MarkPost(p, t0); err != nil {
		t.Fatal(err)
	}
	if len(pending(t0+19)) != 0 || !slices.Equal(pending(t0+20), []Post{p}) {
		t.Errorf("%+v", pending(t0+50))
	}
	none, only := map[ID]bool{a.Conversation: true}, map[string]bool{"web": true}
	if l, err := s.DueLines(t0+50, none, nil, 10); err != nil || len(l) != 0 {
		t.Errorf("a busy line: %+v, %v", l, err)
	}
	if l, err := s.DueLines(t0+50, nil, only, 10); err != nil || len(l) != 0 {
		t.Errorf("a line of a full surface: %+v, %v", l, err)
	}
	head := s.Head()
	p.State, p.Handle, p.Error = "done", "", ""
	if err := s.MarkPost(p, t0); err != nil {
		t.Fatal(err)
	}
	if len(pending(t0+49)) != 0 || pending(t0 + 50)[0].Text != "later" {
		t.Errorf("the next of the line: %+v", pending(t0+50))
	}
	if all, err := s.Posts(a.Turn); err != nil || len(all) != 3 || all[0] != p || all[1].Part != 1 || all[2].Part != 2 || s.Head() != head {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := s.StepTurn(Stepped{Turn: queued(t, s, 7), At: t0, Told: Told{Posts: []Post{p}}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("another turn's post was edited: %v", err)
	}
}

func TestGates(t *testing.T) {
	s := opened(t)
	put := func(g Gate, c *Command) error { return s.PutGate(g, t0, c) }
	if err := put(Gate{Key: "a", Provider: "openai", Model: "gpt", Why: "down", Until: t0, Version: 1, Record: []byte("r")}, nil); err != nil {
		t.Fatal(err)
	}
	c := Command{ID: "c", Hash: []byte("h"), At: t0}
	if err := put(Gate{Key: "a", Provider: "openai", Model: "gpt", Version: 3, Record: []byte("open")}, &c); err != nil {
		t.Fatal(err)
	}
	head := s.Head()
	if err := put(Gate{Key: "a", Why: "hold", Version: 2}, nil); err != nil { // made before, committed after
		t.Fatal(err)
	}
	if err := put(Gate{Key: "a", Why: "hold", Version: 9}, &c); !errors.Is(err, ErrDuplicate) {
		t.Errorf("got %v", err)
	}
	if list, err := s.Gates(); err != nil || len(list) != 1 || list[0].Why != "" || string(list[0].Record) != "open" || list[0].Until != 0 || list[0].Version != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	if s.Head() != head {
		t.Errorf("head %d → %d", head, s.Head())
	}
}

func TestLoginLinksAndSessions(t *testing.T) {
	s := opened(t)
	link, session := []byte("link"), []byte("session")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(s.PutLink([]byte("older"), t0+100))
	do(s.PutLink(link, t0+100))
	for _, c := range []struct {
		hash string
		now  Time
	}{{"older", t0}, {"link", t0 + 100}, {"none", t0}} {
		if err := s.UseLink([]byte(c.hash), session, c.now, t0+1000); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", c.hash, err)
		}
	}
	do(s.UseLink(link, session, t0+99, t0+1000))
	if err := s.UseLink(link, []byte("second"), t0+99, t0+1000); !errors.Is(err, ErrNotFound) {
		t.Errorf("a link was used twice: %v", err)
	}
	do(s.PutSession([]byte("other"), t0+500))
	good := func(hash string, now Time) bool {
		t.Helper()
		ok, err := s.Session([]byte(hash), now)
		do(err)
		return ok
	}
	if !good("session", t0+999) || good("session", t0+1000) || good("second", t0) || !good("other", t0) {
		t.Error("sessions are wrong")
	}
	do(s.EndSession(session))
	do(s.EndSession(session))
	if good("session", t0) {
		t.Error("a revoked session is good")
	}
}

func TestMeta(t *testing.T) {
	s := opened(t)
	get := func() string {
		t.Helper()
		v, err := s.Meta("paused")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if get() != "" {
		t.Error("not empty")
	}
	c := Command{ID: "c", Hash: []byte("h"), At: t0}
	if err := s.SetMeta("paused", "bot", &c); err != nil || get() != "bot" {
		t.Errorf("%q, %v", get(), err)
	}
	if err := s.SetMeta("paused", "all", &c); !errors.Is(err, ErrDuplicate) || get() != "bot" {
		t.Errorf("%q, %v", get(), err)
	}
	if err := s.SetMeta("paused", "", nil); err != nil || get() != "" {
		t.Errorf("%q, %v", get(), err)
	}
}

func TestPrune(t *testing.T) {
	s := opened(t)
	a := admit(t, s, hello(t0, "chat", "ada", "k1"))
	n := begin(t, s, a.Turn, 1)
	wait(t, s, a.Turn, Parked, Wait{RetryAt: t0, MS: 1}, Reason{})
	m := admit(t, s, hello(t0+1, "chat", "ada", "k2")) // merged, ended at t0+1
	cmd := hello(t0+2, "chat", "bob", "k3")
	cmd.Command = &Command{ID: "c", Hash: []byte("h"), At: t0 + 2}
	b := admit(t, s, cmd)
	settle(t, s, Settled{Turn: a.Turn, At: t0 + 100, Outcome: Answered, Text: "x",
		Told: Told{Attempt: &AttemptEnd{N: n, Outcome: "ok"}, Step: &Step{Kind: "note"}, Posts: []Post{{Kind: "answer", Text: "x"}}}})
	settle(t, s, Settled{Turn: b.Turn, At: t0 + 200, Outcome: Failed})
	open := queued(t, s, 5)
	if n, err := s.Prune(t0+100, 10); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	if read(t, s, m.Turn).MergedInto != a.Turn {
		t.Error("a merged turn went before its older one")
	}
	if n, err := s.Prune(t0+101, 10); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if n := rowsOf(t, s); n != (rowCount{2, 2, 2, 0, 0, 0}) {
		t.Errorf("left: %+v", n)
	}
	head := s.Head()
	if n, err := s.Prune(t0+1000, 10); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if n := rowsOf(t, s); n != (rowCount{1, 1, 1, 0, 0, 0}) || read(t, s, open).State != Queued {
		t.Errorf("left: %+v", n)
	}
	if got := changesAfter(t, s, head); !slices.Equal(got, []string{"removed chat/chat"}) {
		t.Errorf("changes %v", got)
	}
	if _, err := s.Admit(cmd); err != nil { // the event and the command are forgotten
		t.Errorf("got %v", err)
	}
}

func TestPruneBatches(t *testing.T) {
	s := opened(t)
	for i := range 7 {
		settle(t, s, Settled{Turn: queued(t, s, i), At: t0 + Time(i), Outcome: Answered})
	}
	for _, want := range []int{3, 3, 1, 0} {
		if n, err := s.Prune(t0+100, 3); err != nil || n != want {
			t.Errorf("%d, %v; want %d", n, err, want)
		}
	}
	if n := rowsOf(t, s); n != (rowCount{}) {
		t.Errorf("left: %+v", n)
	}
}

func TestChangeLog(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	if n, err := s.Oldest(); err != nil || n != 1 || s.Head() != 0 || len(s.Epoch()) != 32 {
		t.Errorf("new: oldest %d, %v, head %d, epoch %q", n, err, s.Head(), s.Epoch())
	}
	for i := range 4 {
		admit(t, s, hello(t0+Time(i), "chat", fmt.Sprint("p", i), fmt.Sprint("k", i))) // 3 changes each
	}
	if list, err := s.Changes(2, 2); err != nil || len(list) != 2 || list[0].Seq != 3 || list[0].Kind != "turn" || list[0].At != t0 || list[1].Seq != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := s.PruneChanges(t0+2, 4); err != nil || n != 4 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := s.PruneChanges(t0+2, 4); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := s.Oldest(); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
	head, epoch := s.Head(), s.Epoch()
	if n, err := s.PruneChanges(t0+1000, 100); err != nil || n != 5 {
		t.Errorf("%d, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openIn(t, dir)
	if s.Head() != head || s.Epoch() != epoch {
		t.Errorf("head %d → %d, epoch %s → %s", head, s.Head(), epoch, s.Epoch())
	}
}
