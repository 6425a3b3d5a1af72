package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// stall holds the writer in a fact of its own, which does nothing, until the returned function is called;
// callers that come meanwhile are in its batch.
func stall(s *Store) (release func()) {
	in, out, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	begun := sync.OnceFunc(func() { close(in) })
	go func() {
		defer close(over)
		_ = s.write(t0, func(*fact) error { // fails if the batch does
			begun()
			<-out
			return nil
		})
	}()
	<-in
	return func() {
		close(out)
		<-over
	}
}

// together runs facts as one batch, in order, and returns their errors.
func together(t *testing.T, s *Store, facts ...func() error) []error {
	t.Helper()
	release := stall(s)
	errs := make([]error, len(facts))
	var all sync.WaitGroup
	for i, do := range facts {
		all.Go(func() { errs[i] = do() })
		for s.writer.waiting() <= i {
			runtime.Gosched()
		}
	}
	release()
	all.Wait()
	return errs
}

func (w *writer) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}

// commits counts the store's commits from now on; fail makes the n-th (from 1) fail inside SQLite.
func commits(t *testing.T, s *Store, fail int) *int {
	t.Helper()
	n := new(int)
	hook := &struct {
		f func(*libc.TLS, uintptr) int32
	}{func(*libc.TLS, uintptr) int32 {
		if *n++; *n == fail {
			return 1
		}
		return 0
	}}
	c := s.writer.conn
	sqlite3.Xsqlite3_commit_hook(c.tls, c.db, *(*uintptr)(unsafe.Pointer(hook)), 0)
	t.Cleanup(func() { runtime.KeepAlive(hook) }) // SQLite has it as a number
	return n
}

func TestConcurrentFactsShareACommit(t *testing.T) {
	s := opened(t)
	n := commits(t, s, 0)
	var facts []func() error
	for i := range 16 {
		facts = append(facts, func() error {
			_, err := s.Admit(hello(t0, fmt.Sprint("chat", i), "ada", fmt.Sprint("k", i)))
			return err
		})
	}
	for i, err := range together(t, s, facts...) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if *n != 1 {
		t.Errorf("%d commits", *n)
	}
	if list, err := s.Runnable(0, 100); err != nil || len(list) != 16 {
		t.Errorf("%d turns, %v", len(list), err)
	}
}

// However many come, the first is not kept waiting for all of them.
func TestACommitHasOnlySoManyFacts(t *testing.T) {
	s := openIn(t, t.TempDir())
	n := commits(t, s, 0)
	facts := make([]func() error, most+20)
	for i := range facts {
		facts[i] = func() error { return s.SetMeta(fmt.Sprint("key", i), "set", nil) }
	}
	for i, err := range together(t, s, facts...) {
		if value, failed := s.Meta(fmt.Sprint("key", i)); err != nil || failed != nil || value != "set" {
			t.Errorf("%d: %q, %v, %v", i, value, err, failed)
		}
	}
	if *n != 2 {
		t.Errorf("%d commits", *n)
	}
}

func TestFailedFactIsRolledBackAlone(t *testing.T) {
	s := opened(t)
	done := queued(t, s, 1)
	settle(t, s, Settled{Turn: done, At: t0, Outcome: Answered})
	broken := errors.New("broken")
	head := s.Head()
	errs := together(t, s,
		func() error { _, err := s.Admit(hello(t0, "a", "ada", "a")); return err },
		func() error { _, err := s.WaitTurn(Waiting{Turn: done, At: t0, State: Parked}); return err },
		func() error {
			return s.write(t0, func(f *fact) error {
				if _, err := f.admit(hello(t0, "b", "ada", "b")); err != nil {
					return err
				}
				return broken
			})
		},
		func() error { _, err := s.Admit(hello(t0, "c", "ada", "c")); return err },
	)
	if errs[0] != nil || !errors.Is(errs[1], ErrSettled) || !errors.Is(errs[2], broken) || errs[3] != nil {
		t.Errorf("%v", errs)
	}
	for chat, there := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, err := s.Chat(chat); (err == nil) != there {
			t.Errorf("chat %s: %v", chat, err)
		}
	}
	if got := changesAfter(t, s, head); len(got) != 6 { // changesAfter looks for holes
		t.Errorf("changes %v", got)
	}
}

// counted is a fact that counts in runs how often it was run, admits a message and fails with err.
func counted(s *Store, runs *int, key string, err error) func() error {
	return func() error {
		return s.write(t0, func(f *fact) error {
			*runs++
			_, failed := f.admit(hello(t0, key, "ada", key))
			return cmp.Or(failed, err)
		})
	}
}

// A fact that fails before it has written anything costs the others nothing; after one that has written they
// all run once more, but none that has failed.
func TestFailedFactLetsTheOthersRunAnew(t *testing.T) {
	s := openIn(t, t.TempDir())
	broken := errors.New("broken")
	var runs [4]int
	unknown := func() error { return s.RenameChat("nowhere", "x", t0, nil) }
	errs := together(t, s, counted(s, &runs[0], "a", nil), unknown, counted(s, &runs[1], "b", nil))
	if errs[0] != nil || !errors.Is(errs[1], ErrNotFound) || errs[2] != nil || runs[0] != 1 || runs[1] != 1 {
		t.Errorf("%v, runs %v", errs, runs)
	}
	runs = [4]int{}
	errs = together(t, s, counted(s, &runs[0], "c", nil), unknown, counted(s, &runs[1], "d", broken), counted(s, &runs[2], "e", nil), counted(s, &runs[3], "f", broken))
	if errs[0] != nil || !errors.Is(errs[1], ErrNotFound) || !errors.Is(errs[2], broken) || errs[3] != nil || !errors.Is(errs[4], broken) {
		t.Errorf("%v", errs)
	}
	if runs != [...]int{2, 1, 1, 1} {
		t.Errorf("runs %v", runs)
	}
	if rows := rowsOf(t, s); rows.turns != 4 || rows.conversations != 4 {
		t.Errorf("%+v", rows)
	}
	if got := changesAfter(t, s, 0); len(got) != 12 { // changesAfter looks for holes
		t.Errorf("changes %v", got)
	}
}

func TestFailedCommitReachesAll(t *testing.T) {
	s := opened(t)
	n := commits(t, s, 1)
	head := s.Head()
	changed := s.Changed()
	c := Command{ID: "c", Hash: []byte("h"), At: t0}
	errs := together(t, s,
		func() error { _, err := s.Admit(hello(t0, "a", "ada", "a")); return err },
		func() error {
			a := hello(t0, "b", "ada", "b")
			a.Command = &c
			_, err := s.Admit(a)
			return err
		},
		func() error { return s.RenameChat("nowhere", "x", t0, nil) },
	)
	if errs[0] == nil || errs[1] == nil || !errors.Is(errs[2], ErrNotFound) {
		t.Errorf("%v", errs)
	}
	if rows := rowsOf(t, s); rows != (rowCount{}) || s.Head() != head || *n < 1 {
		t.Errorf("%+v, head %d → %d, %d commits", rows, head, s.Head(), *n)
	}
	select {
	case <-changed:
		t.Error("told of nothing")
	default:
	}
	for i := range 3 { // it goes on
		queued(t, s, i)
	}
	if got := changesAfter(t, s, head); len(got) != 9 {
		t.Errorf("changes %v", got)
	}
}

func TestPanicInAFactReachesItsCallerOnly(t *testing.T) {
	s := opened(t)
	panics := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = errors.New("panicked")
			}
		}()
		return s.write(t0, func(f *fact) error {
			if _, err := f.admit(hello(t0, "p", "ada", "p")); err != nil {
				return err
			}
			return f.each(func(row) error { panic("in the middle of a query") }, `SELECT id FROM turns`)
		})
	}
	if err := panics(); err == nil || err.Error() != "panicked" {
		t.Errorf("alone: %v", err)
	}
	errs := together(t, s, panics, func() error { _, err := s.Admit(hello(t0, "a", "ada", "a")); return err }, panics)
	if errs[0] == nil || errs[1] != nil || errs[2] == nil {
		t.Errorf("%v", errs)
	}
	queued(t, s, 1)
	if rows := rowsOf(t, s); rows.turns != 2 {
		t.Errorf("%+v", rows)
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	s := opened(t)
	n := commits(t, s, 0)
	const callers, each = 16, 25
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for j := range each {
				a, err := s.Admit(hello(t0, fmt.Sprint("chat", i), "ada", fmt.Sprintf("k%d-%d", i, j)))
				if err != nil {
					t.Error(err)
					return
				}
				if turn, err := s.Turn(a.Turn); err != nil || turn.State != Queued {
					t.Errorf("a reader does not see what was acknowledged: %+v, %v", turn, err)
				}
			}
		})
	}
	all.Wait()
	if rows := rowsOf(t, s); rows.turns != callers*each || rows.conversations != callers {
		t.Errorf("%+v", rows)
	}
	if got := changesAfter(t, s, 0); int64(len(got)) != min(1000, s.Head()) || s.Head() != callers*each*3 {
		t.Errorf("%d changes", len(got))
	}
	if *n >= callers*each {
		t.Errorf("%d commits for %d facts", *n, callers*each)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := opened(t)
	turn := queued(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Admit(hello(t0, "a", "ada", "a")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if _, err := s.Turn(turn); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read: %v", err)
	}
	if err := s.Verify(context.Background()); err != nil {
		t.Errorf("verify: %v", err)
	}
	if _, err := s.Counts(); err == nil {
		t.Error("counts of a closed store")
	}
}

func TestStoreInABubble(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openIn(t, dir)
		changed := s.Changed()
		go func() {
			if _, err := s.Admit(hello(t0, "a", "ada", "a")); err != nil {
				t.Error(err)
			}
		}()
		<-changed
		synctest.Wait()
		if s.Head() == 0 {
			t.Error("no change")
		}
	})
}
