package store

import (
	"fmt"
	"log/slog"
	"testing"
)

const t0 = Time(1_800_000_000_000)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// opened is a store in a directory of its own, closed at the end of the test. Every fact of it runs twice,
// the first time for nothing: so each test of a fact proves as well that it may (see fact).
func opened(t testing.TB) *Store {
	t.Helper()
	s := openIn(t, t.TempDir())
	s.writer.rehearse = s.writer.undone
	return s
}

// undone runs a fact and takes back what it has written.
func (w *writer) undone(e *entry) {
	head, rehearse := w.head, w.rehearse
	_, _ = w.conn.exec("SAVEPOINT rehearsal") // of a full disk the fact itself will tell
	w.rehearse = nil
	w.run(e)
	w.rehearse = rehearse
	_, _ = w.conn.exec("ROLLBACK TO rehearsal")
	_, _ = w.conn.exec("RELEASE rehearsal")
	w.head, e.err, e.panicked = head, nil, nil
}

func openIn(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(Config{Dir: dir, Synchronous: "full"}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// hello is a message of a person in a chat on the web.
func hello(at Time, chat, person, key string) Admission {
	return Admission{At: at, Bot: "bot", Key: key, Kind: "message", Surface: "web", Channel: chat, Title: "Title of " + chat,
		Person: person, Name: person, Text: "text of " + key, Lane: "durable", Merge: true}
}

func admit(t testing.TB, s *Store, a Admission) Admitted {
	t.Helper()
	out, err := s.Admit(a)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// queued is a new turn in a chat of its own.
func queued(t testing.TB, s *Store, n int) ID {
	t.Helper()
	return admit(t, s, hello(t0, fmt.Sprintf("chat%d", n), "ada", fmt.Sprintf("key%d", n))).Turn
}
