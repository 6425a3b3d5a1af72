package store

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// A finished turn of one question and one answer, with all its rows and indices, takes at most 3 KiB
// on the disk.
func TestSizeOfAFinishedTurn(t *testing.T) {
	s, err := Open(Config{Dir: t.TempDir(), Synchronous: "normal"}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	const turns, perChat = 500, 20
	for i := range turns {
		id := rand.Text() + rand.Text()[:10]
		hash := sha256.Sum256([]byte(id))
		a := hello(t0+Time(i), fmt.Sprintf("c-%030d", i/perChat), "web:owner", id)
		a.Text = strings.Repeat("a question ", 12)
		a.Command = &Command{ID: id, Hash: hash[:], At: t0 + Time(i)}
		turn := admit(t, s, a).Turn
		n, err := s.BeginRequest(Begin{Turn: turn, At: t0 + Time(i), Send: 1, NewSend: true, Model: "openrouter/meta-llama/llama-3.3-70b-instruct:free", Messages: 1})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("words of an answer ", 30)
		settle(t, s, Settled{Turn: turn, At: t0 + Time(i) + 900, Outcome: Answered, Text: text, Messages: 1, Told: Told{
			Attempt: &AttemptEnd{N: n, Status: 200, StatedMS: -1, Outcome: "ok", RequestID: "req_" + id[:24], MS: 900, TokensIn: 900, TokensOut: 150},
			Posts:   []Post{{Kind: "answer", Text: text, State: "done"}},
		}})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		t.Fatal(err)
	}
	each := info.Size() / turns
	t.Logf("%d bytes each, texts included", each)
	if each > 3<<10 {
		t.Errorf("%d bytes", each)
	}
}

// A park writes the page of its turn, of its request, of the log of changes and of two indices. Rows that must grow
// for it, in pages full of others, would make it a third more: see roomOfTurn.
func TestPagesOfAPark(t *testing.T) {
	const frame = 24 + 4096
	s := openIn(t, t.TempDir())
	log := func() int64 {
		info, err := os.Stat(s.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const rounds, turns = 8, 32
	var alone, together int64
	for i := range rounds * 2 {
		ids := parkable(t, s, i*turns, (i+1)*turns)
		began := log()
		if i%2 == 0 {
			for j, id := range ids {
				if _, err := s.WaitTurn(parking(id, t0+Time(j))); err != nil {
					t.Fatal(err)
				}
			}
			alone += log() - began
			continue
		}
		err := s.write(t0, func(f *fact) error {
			for j, id := range ids {
				if err := f.wait(new(Turn), parking(id, t0+Time(j))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		together += log() - began
	}
	each, all := float64(alone)/frame/rounds/turns, float64(together)/frame/rounds
	t.Logf("%.2f pages for one, %.1f for %d in one commit", each, all, turns)
	if each < 5 || each > 5.25 {
		t.Errorf("a park writes %.2f pages, want 5.0 to 5.25", each)
	}
	if all > 13 {
		t.Errorf("%d parks in one commit write %.1f pages, want at most 13", turns, all)
	}
}
