package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// childEnv makes the test binary the child of a crash test: it works on the store in that directory.
const childEnv = "HOLDFAST_STORE_CHILD"

// TestChild is what the crash tests run in a process of their own: it writes from four goroutines
// and tells on its output what was acknowledged, until it is killed.
func TestChild(t *testing.T) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		t.Skip("only as a child")
	}
	s, err := Open(Config{Dir: dir}, quiet())
	if err != nil {
		fmt.Println("refused", err)
		os.Exit(3)
	}
	var all sync.WaitGroup
	var out sync.Mutex
	for i := range 4 {
		all.Go(func() {
			for j := range 100_000 {
				key := fmt.Sprintf("k%d-%d-%d", os.Getpid(), i, j)
				a, err := s.Admit(hello(t0, fmt.Sprint("chat", i), key, key))
				if err != nil {
					panic(err)
				}
				turn, state := a.Turn, Queued
				switch j % 3 {
				case 1:
					_, err = s.WaitTurn(Waiting{Turn: turn, At: t0, State: Parked, Wait: Wait{RetryAt: t0, MS: 1}, Told: Told{Posts: []Post{{Kind: "notice", Text: key}}}})
					state = Parked
				case 2:
					_, err = s.SettleTurn(Settled{Turn: turn, At: t0, Outcome: Answered, Text: key, Told: Told{Posts: []Post{{Kind: "answer", Text: key}}}})
					state = Done
				}
				if err != nil {
					panic(err)
				}
				out.Lock()
				fmt.Println("ack", turn, state)
				out.Unlock()
			}
		})
	}
	all.Wait()
}

// child starts the child and returns its output.
func child(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(pipe)
}

func TestKill9LosesNothingAcknowledgedS3(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]State{}
	for round := range 5 {
		cmd, out := child(t, dir)
		for n := 0; out.Scan(); n++ {
			if id, state, ok := strings.Cut(strings.TrimPrefix(out.Text(), "ack "), " "); ok && strings.HasPrefix(out.Text(), "ack ") {
				acknowledged[id] = State(state)
			}
			if n == 150+37*round {
				if err := cmd.Process.Kill(); err != nil { // kill -9; what it had said before is read on
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
		s, err := Open(Config{Dir: dir}, quiet())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if !s.unclean {
			t.Error("the kill is not noticed")
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		for text, state := range acknowledged {
			id, err := ParseID(text)
			if err != nil {
				t.Fatal(err)
			}
			if turn, err := s.Turn(id); err != nil || turn.State != state {
				t.Errorf("%s was acknowledged as %s, is %s, %v", text, state, turn.State, err)
			}
		}
		var torn int // facts of which only a part is there
		if err := s.read(func(c *conn) error {
			return c.one(`SELECT (SELECT count(*) FROM turns t WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.id = t.id))
				+ (SELECT count(*) FROM events e WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = e.id))
				+ (SELECT count(*) FROM turns t WHERE state <> 'queued' AND NOT EXISTS (SELECT 1 FROM posts p WHERE p.turn = t.id))
				+ (SELECT count(*) FROM turns t WHERE state = 'done' AND text = '')`).Scan(&torn)
		}); err != nil || torn != 0 {
			t.Errorf("%d torn facts, %v", torn, err)
		}
		if got := changesAfterAll(t, s); got != s.Head() {
			t.Errorf("%d changes, head %d", got, s.Head())
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acknowledged) < 1000 {
		t.Errorf("only %d acknowledged", len(acknowledged))
	}
}

func changesAfterAll(t *testing.T, s *Store) (n int64) {
	t.Helper()
	if err := s.read(func(c *conn) error { return c.one(`SELECT count(*) FROM changes`).Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSecondDaemonIsRefused(t *testing.T) {
	dir := t.TempDir()
	cmd, out := child(t, dir)
	if !out.Scan() {
		t.Fatal("the child says nothing")
	}
	if _, err := Open(Config{Dir: dir}, quiet()); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	r, err := OpenReader(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if turns, _, err := r.Turns(Filter{}); err != nil || len(turns) == 0 {
		t.Errorf("%d turns, %v", len(turns), err)
	}
	if err := errors.Join(r.Close(), cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	for out.Scan() {
	}
	_ = cmd.Wait()
	openIn(t, dir) // the system has let go of the lock
}
