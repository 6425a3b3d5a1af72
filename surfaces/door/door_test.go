package door

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine"
	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// house is an engine that takes messages in and works on none.
func house(t *testing.T) *engine.Engine {
	t.Helper()
	st, err := store.Open(store.Config{Dir: t.TempDir(), Synchronous: "normal"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	ada := engine.DefaultBot()
	ada.Name, ada.Models = "ada", []string{"none/one"}
	eve := ada
	eve.Name = "eve"
	e, err := engine.New(engine.Parts{
		Config: engine.Config{Workers: 1, Durable: true, Merge: true}, Retry: ladder.Default(), Alerts: engine.DefaultAlerts(), Bots: []engine.Bot{ada, eve},
		Providers: map[string]engine.Provider{"none": {Config: llm.Config{Concurrency: 1}}}, Store: st, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// opened is a new process's door; memory is what it recalls.
func opened(e *engine.Engine, bot string, memory any) *Door {
	d := New("slack", "work", bot, slog.New(slog.DiscardHandler))
	d.Recall(e, memory)
	d.Open()
	return d
}

// S1, S10: a message is taken in once, changed and taken back by its key.
func TestMessage(t *testing.T) {
	e := house(t)
	d := opened(e, "ada", new(string))
	in := engine.Incoming{Channel: "C1", Thread: "7", Key: "slack:T:C1:7", Person: d.Person("U1")}
	for range 2 {
		if taken, err := d.Receive(t.Context(), in); !taken || err != nil {
			t.Fatalf("taken %v, %v", taken, err)
		}
	}
	ev, err := e.Store.EventByKey("ada", in.Key)
	if err != nil || ev.Text != "(a mention without words)" {
		t.Fatalf("%+v, %v", ev, err)
	}
	chats := d.Chats(10)
	if len(chats) != 1 || chats[0].Surface != "slack/work" || chats[0].Title != "Direct messages" || chats[0].Person != "slack:U1" {
		t.Fatalf("chats %+v", chats)
	}
	if got := d.Asked(chats[0].ID, ev.Turn); got != "T:C1:7" {
		t.Errorf("asked by %q", got)
	}
	if fresh, err := d.Edited(t.Context(), in.Key, "hello"); fresh || err != nil {
		t.Errorf("fresh %v, %v", fresh, err)
	}
	if ev, err = e.Store.EventByKey("ada", in.Key); err != nil || ev.Text != "hello" {
		t.Errorf("%+v, %v", ev, err)
	}
	if fresh, err := d.Edited(t.Context(), "slack:T:C1:8", "hello"); !fresh || err != nil {
		t.Errorf("an unknown message: fresh %v, %v", fresh, err)
	}
	d.Deleted(t.Context(), in.Key)
	if turn, err := e.Store.Turn(ev.Turn); err != nil || turn.Outcome != store.Cancelled {
		t.Errorf("after deleting: %+v, %v", turn, err)
	}
	if fresh, err := d.Edited(t.Context(), in.Key, "too late"); fresh || err != nil {
		t.Errorf("too late: fresh %v, %v", fresh, err)
	}
}

// What cannot be stored must come again; what has no bot never gets better.
func TestNotTaken(t *testing.T) {
	e := house(t)
	d := opened(e, "ada", new(string))
	ended, end := context.WithCancel(t.Context())
	end()
	in := engine.Incoming{Channel: "C1", Key: "slack:1", Person: "slack:U1", Text: "hello"}
	if taken, err := d.Receive(ended, in); taken || !errors.Is(err, context.Canceled) {
		t.Errorf("taken %v, %v", taken, err)
	}
	if taken, err := opened(e, "nobody", new(string)).Receive(t.Context(), in); taken || err != nil {
		t.Errorf("without a bot: taken %v, %v", taken, err)
	}
	if d.Spoken("C1", "") {
		t.Error("spoken to by what was not taken in")
	}
}

// The next process knows where its bot has been spoken to, and what the last one has remembered.
func TestRecall(t *testing.T) {
	e := house(t)
	var none []string
	d := opened(e, "ada", &none)
	if none != nil || d.Spoken("C1", "7") {
		t.Errorf("at the first start: %q", none)
	}
	if _, err := d.Receive(t.Context(), engine.Incoming{Channel: "C1", Thread: "7", Key: "slack:1", Person: "slack:U1", Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if !d.Remember([]string{"a", "b"}) {
		t.Error("not remembered")
	}
	var known []string
	next := opened(e, "ada", &known)
	if !slices.Equal(known, []string{"a", "b"}) || !next.Spoken("C1", "7") || next.Spoken("C1", "") {
		t.Errorf("known %q", known)
	}
	if other := opened(e, "eve", &known); other.Spoken("C1", "7") || len(other.Chats(10)) != 0 {
		t.Error("another bot was not spoken to")
	}
	if d.Remember(func() {}) {
		t.Error("what cannot be written is not remembered")
	}
}

// Posts wait until what must be recalled is known.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New("slack", "work", "ada", slog.New(slog.DiscardHandler))
		within, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := d.Wait(within); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before it is open: %v", err)
		}
		d.Open()
		if err := d.Wait(t.Context()); err != nil {
			t.Errorf("after: %v", err)
		}
	})
}

// An answer to a button goes out although the line has ended, but not for ever.
func TestAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New("slack", "work", "ada", slog.New(slog.DiscardHandler))
		line, end := context.WithCancel(t.Context())
		end()
		began, took := time.Now(), time.Duration(0)
		d.Aside(line, 3*time.Second, func(ctx context.Context) error {
			<-ctx.Done()
			took = time.Since(began)
			return ctx.Err()
		})
		d.Finish()
		if took != 3*time.Second {
			t.Errorf("it had %s", took)
		}
	})
}

func TestWords(t *testing.T) {
	d := New("slack", "work", "ada", slog.New(slog.DiscardHandler))
	mention := d.Mention(func(id string) string { return "<@" + id + "> " }, "It is above.")
	if got := mention([]string{"slack:U1", "web:owner", "slack:U2"}); got != "<@U1> <@U2> It is above." {
		t.Errorf("%q", got)
	}
	for want, got := range map[string]string{
		"":                         WithFiles("", nil),
		"look":                     WithFiles("look", nil),
		"[file: a.txt]":            WithFiles("", []string{"a.txt"}),
		"look [file: a] [file: b]": WithFiles("look", []string{"a", "b"}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for address, fine := range map[string]bool{"https://slack.com/api/": true, "http://localhost:1": true, "": false, "slack.com": false, "ftp://slack.com": false, "https:///x": false} {
		said := ""
		CheckURL(address, "https://usual/", func(key, what string) { said = key + " " + what })
		if want := `api_url is no address; write "https://usual/"`; fine != (said == "") || !fine && said != want {
			t.Errorf("%q: %q", address, said)
		}
	}
}
