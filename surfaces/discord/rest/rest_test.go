package rest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/surfaces/discord/discordtest"
	"holdfast/surfaces/discord/rest"
)

// withClient runs a test in a bubble.
func withClient(t *testing.T, f func(t *testing.T, s *discordtest.Server, c *rest.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		s := discordtest.New()
		c := rest.New(rest.Config{URL: discordtest.URL, Token: "token", Dial: s.Dial})
		f(t, s, c)
		c.Close()
		s.Close()
	})
}

func out(text string) rest.Outgoing {
	return rest.Outgoing{Content: text, Mentions: rest.Notify(), Rows: rest.Buttons()}
}

func texts(list []discordtest.Message) (all []string) {
	for _, m := range list {
		all = append(all, m.Content)
	}
	return all
}

// The sixth call in 5 s is not sent: it is told how long to wait, and goes through then. Other channels and edits have buckets of their own.
func TestBuckets(t *testing.T) {
	withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
		var first rest.Message
		for i := range 5 {
			m, err := c.Create(t.Context(), discordtest.General, out(fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			if first.ID == "" {
				first = m
			}
		}
		_, err := c.Create(t.Context(), discordtest.General, out("six"))
		l, ok := errors.AsType[*rest.Limited](err)
		if !ok || l.After != 5*time.Second || l.Scope != "bucket" {
			t.Fatalf("sixth: %v", err)
		}
		if _, err := c.Create(t.Context(), discordtest.Other, out("elsewhere")); err != nil {
			t.Error(err)
		}
		if _, err := c.Edit(t.Context(), discordtest.General, first.ID, out("edited")); err != nil {
			t.Error(err)
		}
		time.Sleep(l.After)
		if _, err := c.Create(t.Context(), discordtest.General, out("six")); err != nil {
			t.Error(err)
		}
		for _, call := range s.Calls("") {
			if call.Status == 429 {
				t.Errorf("a 429 of our own making: %+v", call)
			}
		}
	})
}

// Many at once in channels of their own stay below 50 a second without a 429.
func TestGlobalCountOfOurs(t *testing.T) {
	withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
		var hands sync.WaitGroup
		for i := range 200 {
			id := fmt.Sprint(2000 + i)
			s.Put(id, func(*discordtest.Channel) {})
			hands.Go(func() {
				for {
					_, err := c.Create(t.Context(), id, out("hello"))
					l, ok := errors.AsType[*rest.Limited](err)
					if !ok {
						if err != nil {
							t.Error(err)
						}
						return
					}
					time.Sleep(l.After)
				}
			})
		}
		hands.Wait()
		calls := s.Calls("create")
		for i := 50; i < len(calls); i++ {
			if calls[i].At.Sub(calls[i-50].At) < time.Second {
				t.Fatalf("51 calls in %v", calls[i].At.Sub(calls[i-50].At))
			}
		}
		if len(calls) != 200 {
			t.Errorf("%d calls for 200 messages", len(calls))
		}
	})
}

// A 429 holds its own bucket for exactly as long as it says, a global one everything, one with a code of its own nothing.
func TestLimitsToldByDiscord(t *testing.T) {
	withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
		m, err := c.Create(t.Context(), discordtest.General, out("one"))
		if err != nil {
			t.Fatal(err)
		}
		after := func(err error) time.Duration {
			l, _ := errors.AsType[*rest.Limited](err)
			if l == nil {
				return 0
			}
			return l.After
		}
		try := func(channel string) time.Duration {
			_, err := c.Create(t.Context(), channel, out("x"))
			return after(err)
		}
		s.Fault(discordtest.Fault{Op: "create", Status: 429, RetryAfter: 7.5})
		if d := try(discordtest.General); d != 7500*time.Millisecond {
			t.Errorf("told to wait %v", d)
		}
		if d := try(discordtest.General); d != 7500*time.Millisecond || len(s.Calls("create")) != 2 {
			t.Errorf("asked again: %v, %d calls", d, len(s.Calls("create")))
		}
		if d := try(discordtest.Other); d != 0 {
			t.Errorf("another channel is held for %v", d)
		}
		s.Fault(discordtest.Fault{Op: "edit", Status: 429, Code: 30046, RetryAfter: 20})
		_, err = c.Edit(t.Context(), discordtest.General, m.ID, out("x"))
		if l, _ := errors.AsType[*rest.Limited](err); l == nil || l.Code != 30046 || l.After != 20*time.Second {
			t.Errorf("too many old edits: %v", err)
		}
		if _, err = c.Edit(t.Context(), discordtest.General, m.ID, out("x")); err != nil {
			t.Errorf("edits of other messages are held: %v", err)
		}
		s.Fault(discordtest.Fault{Op: "edit", Status: 429, RetryAfter: 3, Global: true})
		_, _ = c.Edit(t.Context(), discordtest.General, m.ID, out("x"))
		if d := try(discordtest.Other); d != 3*time.Second {
			t.Errorf("a global limit holds others for %v", d)
		}
	})
}

// What may be repeated waits for its bucket and over a 503, but never past its context.
func TestPatience(t *testing.T) {
	withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
		s.Say(discordtest.General, discordtest.Alice, "hello", "")
		s.Fault(discordtest.Fault{Op: "messages", Status: 429, RetryAfter: 4})
		s.Fault(discordtest.Fault{Op: "messages", Status: 503})
		begun := time.Now()
		list, err := c.Messages(t.Context(), discordtest.General, "", 10)
		if err != nil || len(list) != 1 || time.Since(begun) < 4*time.Second {
			t.Errorf("%v, %v after %v", list, err, time.Since(begun))
		}
		s.Fault(discordtest.Fault{Op: "messages", Status: 429, RetryAfter: 60})
		begun = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := c.Messages(ctx, discordtest.General, "", 10); err == nil || time.Since(begun) >= 5*time.Second {
			t.Errorf("%v after %v: a wait that cannot end in time is not begun", err, time.Since(begun))
		}
	})
}

// A message is never sent twice by the client itself: not after a 5xx, a lost answer or a time-out.
func TestNoRepetitionOfMessages(t *testing.T) {
	for _, f := range []discordtest.Fault{{Status: 502}, {Lost: true}, {Delay: time.Minute}} {
		withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
			f.Op = "create"
			s.Fault(f)
			if _, err := c.Create(t.Context(), discordtest.General, out("x")); err == nil {
				t.Error("no error")
			}
			if n := len(s.Calls("create")); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// Errors say what was tried and what Discord says, and hold neither token nor URL.
func TestErrors(t *testing.T) {
	withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
		_, err := c.Create(t.Context(), "99", out("x"))
		if err == nil || err.Error() != "make a message: Discord answers 404: Unknown Channel (10003)" || !rest.Refused(err) {
			t.Errorf("%v", err)
		}
		s.Fault(discordtest.Fault{Op: "answer", Lost: true})
		err = c.Answer(t.Context(), rest.Interaction{ID: "1", Token: "secret"}, "x")
		if err == nil || strings.Contains(err.Error(), "secret") || rest.Refused(err) {
			t.Errorf("%v", err)
		}
		s.Fault(discordtest.Fault{Op: "app", Status: 401})
		if _, err := c.App(t.Context()); !rest.BadToken(err) {
			t.Errorf("%v", err)
		}
	})
}

func TestOnce(t *testing.T) {
	name := func(again bool) rest.Try {
		return rest.Try{Name: "hf-0123456789abc", Again: again, Since: time.Now(), Self: discordtest.Bot}
	}
	for what, f := range map[string]func(t *testing.T, s *discordtest.Server, c *rest.Client){
		"lost answer: the nonce finds it (N8)": func(t *testing.T, s *discordtest.Server, c *rest.Client) {
			s.Fault(discordtest.Fault{Op: "create", Lost: true})
			try := name(false)
			if _, err := c.Once(t.Context(), discordtest.General, out("one"), try); err == nil {
				t.Error("no error")
			}
			try.Again = true
			id, err := c.Once(t.Context(), discordtest.General, out("one"), try)
			if b := s.Bots(discordtest.General); err != nil || len(b) != 1 || b[0].ID != id || len(b[0].Edits) != 0 {
				t.Errorf("%v, %v", b, err)
			}
		},
		"made with an older text: edited": func(t *testing.T, s *discordtest.Server, c *rest.Client) {
			try := name(false)
			_, _ = c.Once(t.Context(), discordtest.General, out("old"), try)
			try.Again = true
			_, err := c.Once(t.Context(), discordtest.General, out("new"), try)
			if b := s.Bots(discordtest.General); err != nil || !slices.Equal(texts(b), []string{"new"}) {
				t.Errorf("%v, %v", b, err)
			}
		},
		"nonce forgotten: found in the channel by what it answers": func(t *testing.T, s *discordtest.Server, c *rest.Client) {
			question := s.Say(discordtest.General, discordtest.Alice, "hello <@"+discordtest.Bot+">", "")
			try, o := name(false), out("old")
			o.ReplyTo = &rest.Reference{Message: question}
			_, _ = c.Once(t.Context(), discordtest.General, o, try)
			time.Sleep(10 * time.Minute)
			for i := range 150 {
				s.Say(discordtest.General, discordtest.Bob, fmt.Sprint("chatter ", i), "")
			}
			try.Again, o.Content = true, "new"
			_, err := c.Once(t.Context(), discordtest.General, o, try)
			if b := s.Bots(discordtest.General); err != nil || !slices.Equal(texts(b), []string{"new"}) {
				t.Errorf("%v, %v", b, err)
			}
		},
		"nonce forgotten: found by its text, other posts of the turn aside": func(t *testing.T, s *discordtest.Server, c *rest.Client) {
			other, _ := c.Create(t.Context(), discordtest.General, out("same"))
			try := name(false)
			_, _ = c.Once(t.Context(), discordtest.General, out("same"), try)
			time.Sleep(10 * time.Minute)
			try.Again, try.Not = true, []string{other.ID}
			id, err := c.Once(t.Context(), discordtest.General, out("same"), try)
			if b := s.Bots(discordtest.General); err != nil || len(b) != 2 || id != b[1].ID {
				t.Errorf("%v, %v", b, err)
			}
		},
		"deleted: made anew, once": func(t *testing.T, s *discordtest.Server, c *rest.Client) {
			id, _ := c.Once(t.Context(), discordtest.General, out("one"), name(false))
			s.Remove(id)
			second, err := c.Once(t.Context(), discordtest.General, out("two"), name(false))
			if b := s.Bots(discordtest.General); err != nil || !slices.Equal(texts(b), []string{"two"}) {
				t.Fatalf("%v, %v", b, err)
			}
			again, err := c.Once(t.Context(), discordtest.General, out("two"), name(true))
			if err != nil || again != second || len(s.Bots(discordtest.General)) != 1 {
				t.Errorf("%v: %v", again, err)
			}
		},
		"every try was refused: nothing is searched": func(t *testing.T, s *discordtest.Server, c *rest.Client) {
			s.Fault(discordtest.Fault{Op: "create", Status: 429, RetryAfter: 90})
			try := name(false)
			_, _ = c.Once(t.Context(), discordtest.General, out("one"), try)
			time.Sleep(90 * time.Second)
			try.Again = true
			if _, err := c.Once(t.Context(), discordtest.General, out("one"), try); err != nil || len(s.Calls("messages")) != 0 {
				t.Errorf("%v, %d reads", err, len(s.Calls("messages")))
			}
		},
	} {
		t.Run(what, func(t *testing.T) { withClient(t, f) })
	}
}

// An edit in an archived thread opens it; where it may not, the next message takes the old one's place.
func TestArchivedThread(t *testing.T) {
	withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
		s.Put("77", func(x *discordtest.Channel) { x.Type, x.Parent = 11, discordtest.General })
		try := rest.Try{Name: "hf-0123456789abc", Since: time.Now(), Self: discordtest.Bot}
		id, err := c.Once(t.Context(), "77", out("notice"), try)
		if err != nil {
			t.Fatal(err)
		}
		s.Put("77", func(x *discordtest.Channel) { x.Archived = true })
		if err := c.Change(t.Context(), "77", id, out("later"), try.Name); err != nil {
			t.Errorf("edit in an archived thread: %v", err)
		}
		s.Put("77", func(x *discordtest.Channel) { x.Archived, x.Locked = true, true })
		if err := c.Change(t.Context(), "77", id, out("answer"), try.Name); rest.CodeOf(err) != rest.ThreadArchived {
			t.Errorf("edit in a locked thread: %v", err)
		}
		s.Put("77", func(x *discordtest.Channel) { x.Locked = false })
		if _, err := c.Once(t.Context(), "77", out("answer"), try); err != nil {
			t.Error(err)
		}
		if b := s.Bots("77"); !slices.Equal(texts(b), []string{"answer"}) {
			t.Errorf("%v", b)
		}
	})
}

// Typing is shown every 8 s for any number of reasons, and ends with the last.
func TestTyping(t *testing.T) {
	withClient(t, func(t *testing.T, s *discordtest.Server, c *rest.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		typing := rest.NewTyping(c, slog.New(slog.DiscardHandler))
		var run sync.WaitGroup
		run.Go(func() { typing.Run(ctx) })
		typing.Set(discordtest.General, 1, true)
		typing.Set(discordtest.General, 2, true)
		time.Sleep(20 * time.Second)
		if n := len(s.Calls("typing")); n != 3 {
			t.Errorf("%d calls in 20 s", n)
		}
		typing.Set(discordtest.General, 1, false)
		time.Sleep(8 * time.Second)
		typing.Quiet(ctx, discordtest.General, 2)
		before := len(s.Calls("typing"))
		for range 30 { // off and on again does not show it more often
			typing.Set(discordtest.General, 3, true)
			time.Sleep(time.Second)
			typing.Set(discordtest.General, 3, false)
		}
		if n := len(s.Calls("typing")) - before; n > 4 {
			t.Errorf("%d calls in 30 s", n)
		}
		s.Fault(discordtest.Fault{Op: "typing", Delay: 2 * time.Second})
		time.Sleep(10 * time.Second)
		typing.Set(discordtest.General, 4, true)
		time.Sleep(time.Second)
		begun := time.Now()
		typing.Quiet(ctx, discordtest.General, 4)
		if d := time.Since(begun); d != time.Second {
			t.Errorf("waited %v for the call under way", d)
		}
		before = len(s.Calls("typing"))
		time.Sleep(time.Hour)
		if n := len(s.Calls("typing")); n != before {
			t.Errorf("%d calls after the end", n-before)
		}
		typing.Set(discordtest.General, 5, true)
		time.Sleep(2 * time.Hour)
		if n := len(s.Calls("typing")) - before; n > 230 {
			t.Errorf("a sign without an end was shown %d times", n)
		}
		cancel()
		run.Wait()
	})
}

func TestWords(t *testing.T) {
	users := []rest.User{{ID: "1", Name: "bot"}, {ID: "2", Name: "ann", Global: "Ann"}}
	for content, want := range map[string]string{
		"<@1> hello":                "hello",
		"<@!1>, !stop":              "!stop",
		"!stop <@1>":                "!stop",
		"hey <@1> and <@2>, hello ": "hey @you and @Ann, hello",
		" <@1> <@1> ":               "",
		"<@2> said <#5>":            "@Ann said <#5>",
	} {
		m := rest.Message{Content: content, Mentions: users}
		if got := m.Words("1"); got != want {
			t.Errorf("%q reads %q, want %q", content, got, want)
		}
	}
	if got := rest.MentionedIn("<@1> <@!2> <@1> <@&3> @everyone"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("mentioned %v", got)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	if got := rest.MadeAt(rest.IDAt(at)); !got.Equal(at) || !rest.Later("100", "99") || rest.Later("99", "100") {
		t.Errorf("an id of %v was made at %v", at, got)
	}
	if got := rest.Clock(at); got != fmt.Sprintf("<t:%d:t>", at.Unix()+1) {
		t.Errorf("clock %s", got)
	}
	if got := rest.Clock(time.Now().Add(48 * time.Hour)); !strings.HasSuffix(got, ":f>") {
		t.Errorf("clock %s", got)
	}
}
