package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The limit of pages makes SQLite find the disk full in the middle of a fact.
func TestFullFileLosesNothingS3(t *testing.T) {
	s := openIn(t, t.TempDir())
	long := strings.Repeat("a long message ", 500)
	var acknowledged []ID
	say := func(i int) error {
		a := hello(t0, fmt.Sprint("chat", i), "ada", fmt.Sprint("k", i))
		a.Text = long
		out, err := s.Admit(a)
		if err == nil {
			acknowledged = append(acknowledged, out.Turn)
		}
		return err
	}
	if err := say(0); err != nil {
		t.Fatal(err)
	}
	limit := func(pages string) {
		if err := s.writer.conn.script("PRAGMA max_page_count = " + pages); err != nil {
			t.Fatal(err)
		}
	}
	var now int
	if err := s.writer.conn.one("PRAGMA page_count").Scan(&now); err != nil {
		t.Fatal(err)
	}
	limit(fmt.Sprint(now + 12))
	var err error
	i := 1
	for ; err == nil && i < 100; i++ {
		err = say(i)
	}
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("got %v", err)
	}
	head := s.Head()
	batch := together(t, s, // one too large and one that finds room, at once
		func() error { return say(i) },
		func() error { return s.SetMeta("small", "yes", nil) })
	if !errors.Is(batch[0], ErrFull) || s.Head() != head {
		t.Errorf("%v, head %d → %d", batch, head, s.Head())
	}
	answer := Settled{Turn: acknowledged[0], At: t0, Outcome: Answered, Text: long, Told: Told{Posts: []Post{{Kind: "answer", Text: long + long}}}}
	for range 2 {
		if _, err := s.SettleTurn(answer); !errors.Is(err, ErrFull) {
			t.Errorf("got %v", err)
		}
	}
	limit("1073741823")
	if _, err := s.SettleTurn(answer); err != nil { // the same fact once more: what it makes is made, and not looked for
		t.Errorf("after space was made: %v", err)
	} else if posts, err := s.Posts(acknowledged[0]); err != nil || len(posts) != 1 || posts[0].Text != long+long {
		t.Errorf("%v, %v", posts, err)
	}
	if err := say(i); err != nil { // it goes on by itself
		t.Errorf("after space was made: %v", err)
	}
	for _, id := range acknowledged {
		if state := read(t, s, id).State; state != Queued && id != answer.Turn {
			t.Errorf("%s is lost", id)
		}
	}
	if rows := rowsOf(t, s); rows.turns != len(acknowledged) || rows.events != len(acknowledged) {
		t.Errorf("%+v, acknowledged %d", rows, len(acknowledged))
	}
	if got := changesAfterAll(t, s); got != s.Head() {
		t.Errorf("%d changes, head %d", got, s.Head())
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestDirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: filepath.Join(file, "dir")}, quiet()); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}
