package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
)

// threads is a surface on which others have talked before the bot was asked.
type threads struct {
	*fakeSurface
	mu    sync.Mutex
	said  []Said
	err   error
	takes time.Duration
	asked []string
}

func (f *threads) Earlier(ctx context.Context, _ Place, key string, _ store.Time) ([]Said, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, key)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(f.takes):
	}
	return append([]Said(nil), f.said...), f.err
}

// inThread is a house whose surface knows what was said in a thread.
func inThread(t *testing.T, configure func(*Parts), f func(h *house, in *threads)) {
	t.Helper()
	in := &threads{}
	inHouse(t, func(p *Parts) {
		onChat(p)
		in.fakeSurface = p.Surfaces[0].(*fakeSurface)
		p.Surfaces = []Surface{in}
		if configure != nil {
			configure(p)
		}
	}, func(h *house) { f(h, in) })
}

// others is a talk of n messages that was over a minute ago.
func others(n int) (list []Said) {
	for i := range n {
		list = append(list, Said{Key: fmt.Sprint("t", i), Name: "bob", Text: fmt.Sprintf("secret word %d", i), At: store.At(time.Now().Add(time.Duration(i-n) * time.Minute))})
	}
	return list
}

const wantEarlier = "user: [Holdfast: said in this thread by others, not to you:]\nbob: secret word 0\nbob: secret word 1\nbob: secret word 2\n[Holdfast: the end of that.]\n\nwho is right?\n"

// What was said in a thread before the bot came is in the context of its turn, the same in every request,
// over parks, a restart and talk that came later; nothing of it is stored (S9).
func TestThreadIsKnownAndNotStoredS9(t *testing.T) {
	inThread(t, nil, func(h *house, in *threads) {
		in.said = others(3)
		h.models.play("503")
		id := h.say("ann", "who is right?")
		h.wait(s(30))
		if n := len(h.models.requests()); n < 5 || len(in.asked) != 1 || in.asked[0] != "m1" {
			t.Fatalf("%d requests, the platform was asked for what was before %q", n, in.asked)
		}
		h.crash()
		in.said = append([]Said{{Key: "older", Name: "eve", Text: "moved into the window", At: 1}}, in.said...)
		in.said[0], in.said[1] = in.said[1], in.said[0] // the root stays first
		h.models.play("ok:bob")
		h.start()
		h.settled(id, s(120))
		for i, body := range h.bodies() {
			if !strings.HasPrefix(body, strings.TrimSuffix(wantEarlier, "\n")) {
				t.Errorf("request %d: %q", i, body)
			}
		}
		if len(in.asked) != 2 {
			t.Errorf("asked %q", in.asked)
		}
		steps, err := h.store.Steps(id)
		if err != nil || len(steps) == 0 || steps[0].Kind != "context" || string(steps[0].Body) != `{"from":"t1","n":3}` {
			t.Errorf("%+v, %v", steps, err)
		}
		files, _ := filepath.Glob(filepath.Join(h.file.dir, "*"))
		if len(files) < 2 {
			t.Errorf("files %q", files)
		}
		for _, name := range files {
			if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte("secret word")) {
				t.Errorf("%s holds what was not said to the bot", name)
			}
		}
	})
}

// A platform that is slow or down holds a turn up for three seconds at most; it is not asked again, so
// that the turn's requests stay the same.
func TestThreadThatCannotBeRead(t *testing.T) {
	inThread(t, nil, func(h *house, in *threads) {
		in.said, in.takes = others(3), time.Minute
		h.models.play("429/45s", "ok")
		begin := time.Now()
		id := h.say("ann", "who is right?")
		h.wait(s(4))
		all := h.models.requests()
		if len(all) != 1 || all[0].at.Sub(begin) > earlierWithin || all[0].body != "user: who is right?\n" {
			t.Fatalf("%+v", all)
		}
		h.crash()
		in.takes, in.err = 0, nil
		h.start()
		h.settled(id, s(60))
		if last := h.bodies()[1]; !strings.HasPrefix(last, "user: who is right?\n") || strings.Contains(last, "secret") {
			t.Errorf("%q", last)
		}
		in.err = errors.New("ratelimited")
		h.settled(h.say("ann", "and now?"), s(1))
		if log := h.log.with("what was said in a thread could not be read; the turn goes on without"); len(log) != 2 || len(in.asked) != 2 {
			t.Errorf("%q, asked %q", log, in.asked)
		}
	})
}

// An edit of the question is taken as long as nothing of the answer is journaled: what was read is not that (S10).
func TestEditBesideAThreadS10(t *testing.T) {
	inThread(t, nil, func(h *house, in *threads) {
		in.said = others(1)
		h.models.play("429/45s", "ok")
		id := h.say("ann", "who is wrong?")
		h.wait(s(1))
		if err := h.engine.EditQuestion(t.Context(), "bot", "m1", "who is right?"); err != nil {
			t.Fatal(err)
		}
		h.settled(id, s(60))
		if last := h.bodies()[1]; !strings.Contains(last, "secret word 0") || !strings.Contains(last, "who is right?") {
			t.Errorf("%q", last)
		}
	})
}

// What is in the store is not said twice, what others say in between stands in between, and "!new" cuts both off.
func TestThreadBetweenTurns(t *testing.T) {
	inThread(t, nil, func(h *house, in *threads) {
		h.models.play("ok:first answer", "ok:second answer", "ok:third answer")
		in.said = others(1)
		h.settled(h.say("ann", "one"), s(1))
		h.wait(time.Minute)
		now := store.At(time.Now())
		in.said = append(in.said, Said{Key: "m1", Name: "ann", Text: "one", At: now - 60_000}, Said{Key: "x", Name: "eve", Text: "in between", At: now - 1000})
		h.settled(h.say("ann", "two"), s(1))
		want := "user: [Holdfast: said in this thread by others, not to you:]\nbob: secret word 0\n[Holdfast: the end of that.]\n\none\nassistant: first answer\n" +
			"user: [Holdfast: said in this thread by others, not to you:]\neve: in between\n[Holdfast: the end of that.]\n\ntwo\n"
		if got := h.bodies()[1]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		h.settled(h.say("ann", "!new"), s(1))
		h.settled(h.say("ann", "three"), s(1))
		if got := h.bodies()[2]; got != "user: three\n" {
			t.Errorf("%q", got)
		}
	})
}

// The bounds: 50 messages, 16 KiB, 2 KiB of each and a quarter of what the bot may send; the root stays longest.
func TestThreadIsBounded(t *testing.T) {
	long := make([]Said, 60)
	for i := range long {
		long[i] = Said{Key: fmt.Sprint(i), Name: "bob", Text: strings.Repeat("ü", 1500)}
	}
	got := bounded(append([]Said(nil), long...))
	if n := len(got); n != 7 || got[0].Key != "0" || got[1].Key != "44" || got[6].Key != "49" || sizeOf(got) > earlierBytes || len(got[0].Text) > earlierEach+len(" […]") {
		t.Errorf("%d messages, %s and %s to %s, %d bytes", n, got[0].Key, got[1].Key, got[n-1].Key, sizeOf(got))
	}
	if again := from(append([]Said(nil), long[:50]...), fromOf(got)); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("read again: %d messages", len(again))
	}
	if few := unheard(got, nil, 4500); len(few) != 2 || few[0].Key != "0" || few[1].Key != "49" {
		t.Errorf("%d messages in a small context", len(few))
	}
	if none := unheard(got, nil, 100); len(none) != 0 {
		t.Errorf("%d messages in none", len(none))
	}
}
