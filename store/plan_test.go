package store

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// reads calls every method that reads with arguments that make it run all of its statements.
func reads(t *testing.T, s *Store) {
	t.Helper()
	a := admit(t, s, hello(t0, "plan", "ada", "plan"))
	do := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	do(s.Turn(a.Turn))
	do(s.Runnable(0, 10))
	do(s.Due(t0, 0, t0+1, 10))
	do(s.Sweep(t0+1, 10))
	do(s.TurnsOf([]ID{a.Turn}))
	do(s.Asked(a.Turn))
	do(s.OlderWaits(a.Conversation, a.Turn, "ada"))
	do(s.tables())
	do(s.AtGate("g", t0, nil, 10))
	do(s.GateWaiters())
	do(s.PeopleAt("g", "p", "m"))
	do(s.History(a.Conversation, a.Turn, 10))
	do(s.Attempts(a.Turn))
	do(s.Steps(a.Turn))
	do(s.Posts(a.Turn))
	do(s.DueLines(t0, nil, nil, 10))
	_, err := s.NextPost(a.Conversation, t0)
	if !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	do(s.Chats(0, 1))
	do(s.Chat("plan"))
	do(s.Chat(a.Conversation.String()))
	do(s.Messages(a.Conversation, 0, 10))
	do(s.Message(a.Turn))
	do(s.OpenTurns(a.Conversation))
	do(s.Gates())
	do(s.OverdueTurns(t0, []string{"g"}, 10))
	do(s.PostsPending())
	do(s.SpokenOnWeb(t0))
	do(s.ChatsOf("ada", 0, 1))
	do(s.EventByKey("bot", "plan"))
	do(s.Oldest())
	do(s.Changes(0, 10))
	do(s.Session([]byte("x"), t0))
	do(s.Meta("x"))
	do(s.Schedules())
	do(s.SchedulesIn("bot", "web", "plan", ""))
	do(s.NextSchedules(10))
	if _, err := s.Schedule("x"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	do(s.Recall("bot", "ada", "some words", 10))
	do(s.Recall("bot", "ada", "", 10))
	_, _, err = s.Memories(MemoryFilter{Words: "some", Limit: 10})
	do(nil, err)
	_, _, err = s.Memories(MemoryFilter{Limit: 10})
	do(nil, err)
	for _, f := range []Filter{{}, {States: []State{Parked}}, {States: []State{Parked, Owed}, OlderThan: t0, Model: "m", Bot: "bot"}} {
		_, _, err := s.Turns(f)
		do(nil, err)
	}
}

// writes calls every method that writes.
func writes(t *testing.T, s *Store) {
	t.Helper()
	c := func(id string) *Command { return &Command{ID: id, Hash: []byte("h"), At: t0} }
	a := admit(t, s, hello(t0, "plan2", "ada", "p1"))
	slack := hello(t0, "plan3", "ada", "p2")
	slack.Surface, slack.Command = "slack/x", c("a")
	admit(t, s, slack)
	n := begin(t, s, a.Turn, 1)
	told := Told{Attempt: &AttemptEnd{N: n}, Step: &Step{Kind: "note"}, Gates: []Gate{{Key: "g", Why: "hold", Version: 1}}, Posts: []Post{{Kind: "notice"}}}
	var errs []error
	add := func(_ any, err error) { errs = append(errs, err) }
	add(s.WaitTurn(Waiting{Turn: a.Turn, At: t0, State: Parked, Told: told}))
	add(s.WakeTurn(Wake{Turn: a.Turn, At: t0, Command: c("w")}))
	add(s.StepTurn(Stepped{Turn: a.Turn, At: t0, Told: told}))
	add(s.Reword(a.Turn, "other words", t0, c("e")))
	interrupted, _, err := s.Interrupt(t0, nil)
	add(interrupted, err)
	add(s.ClampWaits(t0))
	posts, err := s.Posts(a.Turn)
	add(nil, err)
	add(nil, s.MarkPost(posts[0], t0))
	posts[0].Text = "x"
	add(s.SettleTurn(Settled{Turn: a.Turn, At: t0, Outcome: Answered, Command: c("s"), Told: Told{Posts: posts}}))
	fork := hello(t0, "plan2", "ada", "again")
	fork.Merge, fork.Supersedes = false, a.Turn
	forked := admit(t, s, fork)
	add(s.Withdraw(forked.Turn, t0))
	add(s.SettleTurn(Settled{Turn: forked.Turn, At: t0, Outcome: Cancelled}))
	add(nil, s.RenameChat("plan2", "x", t0, nil))
	add(nil, s.SetMeta("k", "v", nil))
	add(nil, s.SetMeta("k", "", nil))
	add(nil, s.PutLink([]byte("l"), t0))
	add(nil, s.UseLink([]byte("l"), []byte("s"), t0-1, t0))
	add(nil, s.EndSession([]byte("s")))
	add(s.Prune(t0+1, 10))
	add(s.PruneChanges(t0+1, 10))
	b := admit(t, s, hello(t0, "plan4", "ada", "p4"))
	settle(t, s, Settled{Turn: b.Turn, At: t0, Outcome: Answered})
	add(nil, s.DeleteChat("plan4", t0, nil))
	x := Schedule{Source: "bot", Bot: "bot", Surface: "web", Channel: "plan", Cron: "@daily", Next: t0 + 9, MadeBy: "m"}
	add(nil, s.SetSchedule(&x, 9, t0))
	add(nil, s.PutSchedule(&x, t0))
	ticked := hello(t0, "plan", "ada", "tick")
	ticked.Tick = &Tick{Schedule: x.ID, Due: t0 + 9, Next: t0 + 10}
	admit(t, s, ticked)
	add(nil, s.PassTick(Tick{Schedule: x.ID, Due: t0 + 10, Next: t0 + 11}, t0))
	add(nil, s.PauseSchedule(x.Name, false, t0+12, 0, t0, c("p")))
	add(s.CancelSchedule(x.Name, "bot", "web", "plan", "", t0))
	add(s.PruneSchedules(t0, 10))
	add(nil, s.DeleteSchedule(x.Name, t0, nil))
	m := Memory{Bot: "bot", Text: "some words", At: t0}
	add(nil, s.Remember(&m, 9))
	add(s.Forget("bot", "", m.ID, true, t0))
	add(nil, s.Remember(&m, 9))
	add(nil, s.DeleteMemory(m.ID, t0, nil))
	_, _, err = s.Speak(Speech{Key: "k", Bot: "bot", Surface: "web", Channel: "said", Text: "x"}, t0)
	add(nil, err)
	for i, err := range errs {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// walks are the scans that may be: of a handful of rows, of rows that were limited before, or of as
// many as are counted or limited in their order.
var walks = []string{
	"SCAN CONSTANT ROW", "SCAN sqlite_schema", "SCAN gates", "SCAN links", "SCAN sessions", "SCAN h", "SCAN f", "SCAN (subquery", "SCAN commands", "SCAN changes",
	"SCAN turns USING COVERING INDEX turns_gate", "SCAN turns USING COVERING INDEX turns_state", "SCAN turns USING COVERING INDEX turns_due", "SCAN posts USING INDEX posts_pending", "SCAN c USING INDEX conversations_active",
	"SCAN schedules USING INDEX schedules_due", "SCAN schedules USING INDEX schedules_name", "SCAN w VIRTUAL TABLE INDEX", "SCAN j VIRTUAL TABLE INDEX",
}

// sorts are the statements that sort rows limited before, the few of one turn or of a start, or people to be counted.
var sorts = []string{"ORDER BY 1", "ORDER BY t.id DESC LIMIT ?", "state IN ('running', 'retrying')", "AND source = 'bot' AND next_at <> 0 ORDER BY next_at", "SELECT count(*) FROM (SELECT person"}

// TestEveryStatementUsesAnIndex asks SQLite for the plan of every statement the store has prepared:
// with a million rows waiting, none may walk through a table or sort more than it was limited to.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	s := opened(t)
	reads(t, s)
	writes(t, s)
	checkPlans(t, s.writer.conn)
	for _, c := range s.pool.open {
		checkPlans(t, c)
	}
}

// TestNoStatementIsPlannedAnew looks for statements that SQLite has planned again because of the values they
// were given, which takes longer than most of them run.
func TestNoStatementIsPlannedAnew(t *testing.T) {
	s := opened(t)
	for range 2 {
		reads(t, s)
	}
	writes(t, s)
	for _, c := range append(s.pool.open, s.writer.conn) {
		for sql, x := range c.statements {
			if n := sqlite3.Xsqlite3_stmt_status(c.tls, x.raw, sqlite3.SQLITE_STMTSTATUS_REPREPARE, 0); n > 0 {
				t.Errorf("planned %d times more: %s", n, sql)
			}
		}
	}
}

func checkPlans(t *testing.T, c *conn) {
	t.Helper()
	contains := func(list []string, in string) bool {
		return slices.ContainsFunc(list, func(x string) bool { return strings.Contains(in, x) })
	}
	for _, sql := range slices.Sorted(maps.Keys(c.statements)) {
		if !contains([]string{"SELECT", "UPDATE", "DELETE"}, sql) {
			continue
		}
		if err := c.each(func(r row) error {
			var id, parent, unused int
			var line string
			if err := r.Scan(&id, &parent, &unused, &line); err != nil {
				return err
			}
			switch {
			case strings.HasPrefix(line, "SCAN") && !contains(walks, line) && !(line == "SCAN turns" && strings.Contains(sql, "id < ? ORDER BY id DESC LIMIT")):
				t.Errorf("%s\n  walks: %s", sql, line)
			case strings.Contains(line, "TEMP B-TREE") && !contains(sorts, sql):
				t.Errorf("%s\n  sorts: %s", sql, line)
			}
			return nil
		}, "EXPLAIN QUERY PLAN "+sql, make([]any, strings.Count(sql, "?"))...); err != nil {
			t.Error(err)
		}
	}
}
