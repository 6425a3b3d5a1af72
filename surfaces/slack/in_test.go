package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/surfaces/surfacetest"
)

// said sends a message as Slack tells of it, and waits.
func (f *fake) said(h *surfacetest.House, m *message, types ...string) *message {
	if m.team == "" {
		m.team = team
	}
	f.mu.Lock()
	f.add(m)
	f.mu.Unlock()
	f.tell(m, types...)
	h.Wait(3 * time.Second)
	return m
}

const mentioned = "<@" + botUser + "> hello"

// S9: who is not served, and what is not meant for the bot, wakes nobody and is not stored.
func TestWhoMayWakeItS9(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   func(*Config)
		reply string
		m     message
		want  bool
	}{
		{"mention", nil, "", message{channel: general, user: "U0ALICE", text: mentioned}, true},
		{"no mention", nil, "", message{channel: general, user: "U0ALICE", text: "hello"}, false},
		{"no mention, always", nil, "always", message{channel: general, user: "U0ALICE", text: "hello"}, true},
		{"direct message", nil, "", message{channel: "D0ALICE", user: "U0ALICE", text: "hello"}, true},
		{"direct message, dm off", func(c *Config) { c.DM = false }, "", message{channel: "D0ALICE", user: "U0ALICE", text: "hello"}, false},
		{"direct message, dm off, named", func(c *Config) { c.DM, c.AllowUsers = false, []string{"U0ALICE"} }, "", message{channel: "D0ALICE", user: "U0ALICE", text: "hello"}, true},
		{"other bot", nil, "", message{channel: general, user: "U0OTHER", bot: "B0OTHER", text: mentioned}, false},
		{"other bot, named", func(c *Config) { c.AllowUsers = []string{"B0OTHER"} }, "", message{channel: general, user: "U0OTHER", bot: "B0OTHER", text: mentioned}, true},
		{"itself", nil, "always", message{channel: general, user: botUser, bot: botID, text: mentioned}, false},
		{"other workspace", nil, "", message{channel: general, user: "U0EVE", text: mentioned, team: "T0EVE"}, false},
		{"other workspace, named", func(c *Config) { c.AllowUsers = []string{"U0EVE"} }, "", message{channel: general, user: "U0EVE", text: mentioned, team: "T0EVE"}, true},
		{"not named", func(c *Config) { c.AllowUsers = []string{"U0BOB"} }, "", message{channel: general, user: "U0ALICE", text: mentioned}, false},
		{"stranger's direct message", func(c *Config) { c.AllowUsers = []string{"U0BOB"} }, "", message{channel: "D0ALICE", user: "U0ALICE", text: "hello"}, false},
		{"other channel", func(c *Config) { c.AllowChannels = []string{"C0OTHER"} }, "", message{channel: general, user: "U0ALICE", text: mentioned}, false},
		{"allowed channel", func(c *Config) { c.AllowChannels = []string{general} }, "", message{channel: general, user: "U0ALICE", text: mentioned}, true},
		{"somebody has joined", nil, "always", message{channel: general, user: "U0ALICE", text: "has joined", subtype: "channel_join"}, false},
		{"file", nil, "", message{channel: general, user: "U0ALICE", text: mentioned, subtype: "file_share", files: []object{{"name": "a.pdf"}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			make := func(t *testing.T) *fake {
				f := newFake(t)
				f.reply = c.reply
				if c.cfg != nil {
					c.cfg(&f.cfg)
				}
				return f
			}
			surfacetest.In(t, make, func(h *surfacetest.House, f *fake) {
				f.said(h, &c.m, "message")
				turns := h.Turns()
				if got := len(turns) == 1; got != c.want {
					t.Errorf("%d turns", len(turns))
				}
				if chats, err := h.Store.Chats(0, 10); err != nil || len(chats) != len(turns) {
					t.Errorf("%d conversations are stored, %v", len(chats), err)
				}
			})
		})
	}
}

// Reply thread: where the bot has been spoken to it goes on without a mention, also in a new
// process, unless somebody else is mentioned.
func TestReplyInThread(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.Say("a", "alice", "one")
		h.Wait(3 * time.Second)
		root := f.roots["a"]
		f.said(h, &message{channel: general, user: "U0BOB", text: "<@U0ALICE> what do you think?", thread: root}, "message")
		if n := len(h.Turns()); n != 1 {
			t.Errorf("answers a message to somebody else: %d turns", n)
		}
		h.Stop()
		h.Start()
		f.said(h, &message{channel: general, user: "U0BOB", text: "and then?", thread: root}, "message")
		f.said(h, &message{channel: general, user: "U0BOB", text: "elsewhere", thread: "1.000001"}, "message")
		turns := h.Turns()
		if len(turns) != 2 || turns[1].Thread != root || turns[1].Person != "slack:U0BOB" {
			t.Errorf("turns %+v", turns)
		}
		h.Want("a", "answer", "answer")
	})
}

// A direct message is one conversation, without threads; what an earlier process has posted there
// is found in its history (N8).
func TestDirectMessageKilledAfterPostN8(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		h.DieAt("posted")
		f.said(h, &message{channel: "D0ALICE", user: "U0ALICE", text: "hello"}, "message")
		h.Stop()
		h.Wait(10 * time.Second)
		h.Start()
		f.said(h, &message{channel: "D0ALICE", user: "U0ALICE", text: "again"}, "message")
		h.Wait(10 * time.Second)
		var said []string
		for _, m := range f.messages {
			if m.bot == botID {
				said = append(said, m.channel+" "+m.thread+" "+m.text)
			}
		}
		if want := []string{"D0ALICE  answer", "D0ALICE  answer"}; fmt.Sprint(said) != fmt.Sprint(want) {
			t.Errorf("the bot said %q", said)
		}
		turns := h.Turns()
		if len(turns) != 2 || turns[0].Conversation != turns[1].Conversation {
			t.Errorf("turns %+v", turns)
		}
	})
}

// One gesture of a person that a client has sent twice, with two ids, is one turn (S1).
func TestSentTwiceS1(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.said(h, &message{channel: general, user: "U0ALICE", text: mentioned, sent: "c-7"}, "message")
		f.said(h, &message{channel: general, user: "U0ALICE", text: mentioned, sent: "c-7"}, "message", "app_mention")
		if n := len(h.Turns()); n != 1 {
			t.Errorf("%d turns", n)
		}
	})
}

// S10: a message with only a file is a turn; deleting the asking message cancels its waiting turn;
// an edit that adds the mention makes a turn.
func TestFilesDeletesEditsS10(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.said(h, &message{channel: "D0ALICE", user: "U0ALICE", subtype: "file_share", files: []object{{"name": "plan.pdf"}}}, "message")
		if turns := h.Turns(); len(turns) != 1 || turns[0].State != store.Done {
			t.Fatalf("turns %+v", turns)
		}
		h.Model.Play("429/5m")
		m := f.said(h, &message{channel: general, user: "U0ALICE", text: mentioned}, "message", "app_mention")
		f.deliver("events_api", object{"event": object{"type": "message", "subtype": "message_deleted", "channel": general, "channel_type": "channel", "deleted_ts": m.ts, "ts": f.ts()}})
		h.Wait(3 * time.Second)
		if turns := h.Turns(); len(turns) != 2 || turns[1].Outcome != store.Cancelled {
			t.Errorf("turns %+v", turns)
		}
		m = f.said(h, &message{channel: general, user: "U0ALICE", text: "hello"}, "message")
		m.text = mentioned
		for range 2 {
			f.deliver("events_api", object{"event": object{"type": "message", "subtype": "message_changed", "channel": general, "channel_type": "channel", "message": f.json(m, false), "ts": f.ts()}})
			h.Wait(3 * time.Second)
		}
		if turns := h.Turns(); len(turns) != 3 || turns[2].Person != "slack:U0ALICE" {
			t.Errorf("turns %+v", turns)
		}
	})
}

// S2: replies in threads are caught up too, at most 50 of a conversation, and nothing from before
// the window or from before the first start.
func TestCatchUpS2(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		if n := len(h.Turns()); n != 0 {
			t.Errorf("%d turns at the first start", n)
		}
		f.Say("a", "alice", "one")
		h.Wait(time.Minute)
		h.Stop()
		quietly := func(m message) {
			f.mu.Lock()
			m.team = team
			f.add(&m)
			f.mu.Unlock()
		}
		quietly(message{channel: general, user: "U0ALICE", text: mentioned + " too old"})
		h.Wait(7 * time.Hour)
		quietly(message{channel: general, user: "U0ALICE", text: "in the thread", thread: f.roots["a"]})
		quietly(message{channel: general, user: "U0ALICE", text: "not for the bot"})
		for i := range 60 {
			quietly(message{channel: "D0ALICE", user: "U0ALICE", text: fmt.Sprint("direct ", i)})
		}
		h.Wait(time.Hour)
		f.mu.Lock()
		f.channels = []string{general, "D0ALICE"}
		f.mu.Unlock()
		h.Start()
		h.Wait(10 * time.Minute)
		direct, threads := 0, 0
		for _, x := range h.Turns() {
			if x.Channel == "D0ALICE" {
				direct++
			} else {
				threads++
			}
		}
		if direct != 50 || threads != 2 {
			t.Errorf("%d direct messages, want 50; %d in the channel, want 2", direct, threads)
		}
		for _, text := range h.Model.Asked() {
			if strings.Contains(text, "too old") || strings.Contains(text, "not for") {
				t.Errorf("asked %q", text)
			}
		}
	})
}

// S2: what could not be read when the line came up is read later, also by the next process, however much was heard
// meanwhile.
func TestCatchUpAgainS2(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		fails := func(why string) {
			f.mu.Lock()
			f.errors = map[string]string{"conversations.history": why}
			f.channels = []string{general}
			f.mu.Unlock()
		}
		quietly := func(text string) {
			f.mu.Lock()
			f.add(&message{channel: general, user: "U0ALICE", team: team, text: mentioned + " " + text})
			f.mu.Unlock()
		}
		asked := func(text string) (n int) {
			for _, x := range h.Model.Asked() {
				if strings.Contains(x, text) {
					n++
				}
			}
			return n
		}
		f.Say("a", "alice", "one")
		h.Wait(time.Minute)
		h.Stop()
		quietly("missed")
		fails("internal_error")
		h.Start()
		h.Wait(20 * time.Minute)
		f.Say("b", "alice", "two")
		h.Wait(time.Minute)
		h.Stop()
		h.Start()
		h.Wait(20 * time.Minute)
		if n := asked("missed"); n != 0 {
			t.Errorf("asked %d times while nothing could be read", n)
		}
		if n := f.Calls("conversations.history"); n < 10 || n > 30 {
			t.Errorf("%d tries in 40 minutes", n)
		}
		fails("")
		h.Wait(10 * time.Minute)
		if n := asked("missed"); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
		tries := f.Calls("conversations.history")
		h.Wait(time.Hour)
		if n := f.Calls("conversations.history"); n != tries {
			t.Errorf("read %d times more when nothing was missing", n-tries)
		}
	})
}
