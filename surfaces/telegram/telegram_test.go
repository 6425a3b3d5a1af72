package telegram

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/surfacetest"
	"holdfast/surfaces/telegram/bot"
)

// inHouse runs a test in a bubble; configure may be nil.
func inHouse(t *testing.T, configure func(*fake), test func(h *surfacetest.House, f *fake)) {
	t.Helper()
	surfacetest.In(t, func(*testing.T) *fake {
		f := newFake()
		if configure != nil {
			configure(f)
		}
		return f
	}, test)
}

// line is how the engine says that the surface stands.
func line(h *surfacetest.House) string {
	for _, l := range h.Engine.Shape().Surfaces {
		if l.Name == "telegram/ada" {
			return strings.TrimSpace(l.State + " " + l.Why)
		}
	}
	return ""
}

// S9: who and what wakes it. Nothing else is stored.
func TestWhoWakesItS9(t *testing.T) {
	topic := object{"is_topic_message": true, "message_thread_id": 7}
	for name, c := range map[string]struct {
		configure func(*fake)
		say       func(*surfacetest.House, *fake)
		want      int
	}{
		"direct, dm = true":     {func(f *fake) { f.cfg.DM = true }, func(_ *surfacetest.House, f *fake) { f.say(dm, "alice", "hello", nil) }, 1},
		"direct, named":         {func(f *fake) { f.cfg.AllowUsers = []string{"1001"} }, func(_ *surfacetest.House, f *fake) { f.say(dm, "alice", "hello", nil) }, 1},
		"direct, a stranger":    {nil, func(_ *surfacetest.House, f *fake) { f.say(dm, "alice", "hello", nil) }, 0},
		"no mention":            {nil, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", "hello all", nil) }, 0},
		"to somebody else":      {func(f *fake) { f.reply = "always" }, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", "hello @someone", nil) }, 0},
		"mention, case aside":   {nil, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", "hello @holdfastbot", nil) }, 1},
		"another bot":           {nil, func(_ *surfacetest.House, f *fake) { f.say(group, "robot", botTag+" hello", nil) }, 0},
		"another bot, named":    {func(f *fake) { f.cfg.AllowUsers = []string{"1003"} }, func(_ *surfacetest.House, f *fake) { f.say(group, "robot", botTag+" hello", nil) }, 1},
		"not allowed":           {func(f *fake) { f.cfg.AllowUsers = []string{"1002"} }, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", botTag+" hello", nil) }, 0},
		"another chat":          {func(f *fake) { f.cfg.AllowChats = []string{"-1"} }, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", botTag+" hello", nil) }, 0},
		"its chat":              {func(f *fake) { f.cfg.AllowChats = []string{group} }, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", botTag+" hello", nil) }, 1},
		"always":                {func(f *fake) { f.reply = "always" }, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", "hello all", nil) }, 1},
		"a command":             {nil, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", "/status", nil) }, 1},
		"a command for another": {nil, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", "/status@otherbot", nil) }, 0},
		"a reply to it": {nil, func(_ *surfacetest.House, f *fake) {
			f.say(group, "alice", "and?", object{"reply_to_message": object{"from": object{"id": botID}}})
		}, 1},
		"a topic without it": {nil, func(_ *surfacetest.House, f *fake) { f.say(group, "alice", "hello", topic) }, 0},
		"a topic it has been in": {nil, func(h *surfacetest.House, f *fake) {
			f.say(group, "alice", botTag+" hello", topic)
			h.Wait(time.Second)
			f.say(group, "bob", "and?", topic)
		}, 2},
		"an album is one": {func(f *fake) { f.cfg.DM = true }, func(_ *surfacetest.House, f *fake) {
			for i := range 3 {
				f.say(dm, "alice", "", object{"media_group_id": "g", "photo": []object{{}}, "caption": []string{"look", "", ""}[i]})
			}
		}, 1},
		"what Telegram says": {func(f *fake) { f.cfg.DM = true }, func(_ *surfacetest.House, f *fake) { f.say(dm, "alice", "", nil) }, 0},
		"an edit adds the mention": {nil, func(_ *surfacetest.House, f *fake) {
			id := f.say(group, "alice", "hello", nil)
			for range 2 {
				f.mu.Lock()
				f.tell(object{"edited_message": object{"message_id": id, "date": time.Now().Unix(), "edit_date": time.Now().Unix() + 5, "text": botTag + " hello", "entities": entities(botTag + " hello"),
					"chat": object{"id": -5000, "type": "supergroup"}, "from": object{"id": alice}}})
				f.mu.Unlock()
			}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, c.configure, func(h *surfacetest.House, f *fake) {
				c.say(h, f)
				h.Wait(2 * time.Second)
				if got := h.Turns(); len(got) != c.want {
					t.Errorf("%d turns, want %d; line %q", len(got), c.want, line(h))
				}
			})
		})
	}
}

// Strangers are told once, also over a restart.
func TestStrangersAreToldOnce(t *testing.T) {
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		for range 3 {
			f.say(bobDM, "bob", "hello", nil)
			h.Wait(time.Second)
		}
		h.Stop()
		h.Start()
		f.say(bobDM, "bob", "hello?", nil)
		h.Wait(time.Second)
		if got := f.in(bobDM); len(got) != 1 || got[0].text != refusalText || len(h.Turns()) != 0 {
			t.Errorf("%+v, %d turns", got, len(h.Turns()))
		}
	})
}

// The offset moves only over what is stored: with a store that takes nothing the update stays, and
// comes again.
func TestStoredBeforeConfirmed(t *testing.T) {
	inHouse(t, func(f *fake) { f.cfg.DM = true }, func(h *surfacetest.House, f *fake) {
		f.say(dm, "alice", "one", nil)
		h.Wait(time.Second)
		h.DieAt("admitted") // killed after the commit, before the offset moves
		f.say(dm, "alice", "two", nil)
		h.Wait(time.Second)
		h.Stop()
		f.mu.Lock()
		left := len(f.updates)
		f.mu.Unlock()
		if left != 1 {
			t.Errorf("%d updates left, want the one that was not confirmed", left)
		}
		h.Start()
		h.Wait(5 * time.Second)
		if got := f.in(dm); len(got) != 2 || len(h.Turns()) != 2 {
			t.Errorf("%d answers, %d turns", len(got), len(h.Turns()))
		}
	})
}

// A lost answer: an answer is sent once more, never a third time; a mere notice is not.
func TestLostAnswer(t *testing.T) {
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		f.plan(fault{method: "sendMessage", lost: true, times: 1})
		f.Say("a", "alice", "hello")
		h.Wait(time.Minute)
		h.Want("a", "answer", "answer")
		f.plan(fault{method: "sendMessage", lost: true, times: 5})
		f.Say("b", "alice", "hello")
		h.Wait(time.Hour)
		h.Want("b", "answer", "answer")
		posts, err := h.Store.Posts(h.Turns()[1].ID)
		if err != nil || len(posts) != 1 || posts[0].State != "failed" || !strings.Contains(posts[0].Error, "it may be there") {
			t.Errorf("%+v, %v", posts, err)
		}
	})
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		f.plan(fault{method: "sendMessage", lost: true, times: 1})
		h.Model.Play("429/45s", "ok:Here it is.")
		f.Say("a", "alice", "hello")
		h.Wait(30 * time.Second)
		h.Want("a", "no need to send it again")
		h.Wait(time.Minute)
		h.Want("a", "no need to send it again", "Here it is.")
	})
}

// A message that never went out is in no doubt: it is tried until it is out.
func TestUnsentIsNoDoubt(t *testing.T) {
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		f.plan(fault{method: "sendMessage", status: 502, times: 4})
		f.Say("a", "alice", "hello")
		h.Wait(5 * time.Minute)
		h.Want("a", "answer")
	})
}

// Killed between the post and the commit: the answer may come twice, and never a third time.
func TestKilledAfterPost(t *testing.T) {
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		h.DieAt("posted")
		f.Say("a", "alice", "hello")
		h.Wait(5 * time.Second)
		h.Stop()
		h.Start()
		h.Wait(time.Hour)
		h.Want("a", "answer", "answer")
		h.Stop()
		h.Start()
		h.Wait(time.Hour)
		h.Want("a", "answer", "answer")
	})
}

// What Telegram says about an edit: "not modified" is a success, "not found" makes a new message.
func TestEdits(t *testing.T) {
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		h.Model.Play("429/45s", "ok:Here it is.")
		f.plan(fault{method: "editMessageText", lost: true, times: 1}) // the second edit is "not modified"
		f.Say("a", "alice", "hello")
		h.Wait(2 * time.Minute)
		h.Want("a", "Here it is.")
		if n := f.Calls("edit"); n != 2 {
			t.Errorf("%d edits", n)
		}
	})
}

// A group that has moved is followed, markup that Telegram cannot read is sent as plain text, a chat
// that is no more fails honestly and holds nobody up.
func TestRefusals(t *testing.T) {
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		f.plan(fault{method: "sendMessage", status: 400, what: "Bad Request: group chat was upgraded", migrate: -7000, times: 1})
		f.Say("a", "alice", "hello")
		h.Wait(5 * time.Second)
		if got := f.in("-7000"); len(got) != 1 {
			t.Errorf("moved: %+v", got)
		}
		f.plan(fault{method: "sendMessage", status: 400, what: "Bad Request: can't parse entities: end tag", times: 1})
		h.Model.Play("ok:**a** < b & c")
		f.Say("b", "alice", "hello")
		h.Wait(5 * time.Second)
		h.Want("b", "a < b & c")
		f.plan(fault{method: "sendMessage", status: 403, what: "Forbidden: bot was kicked from the supergroup chat", times: 9})
		f.Say("c", "alice", "hello")
		h.Wait(time.Minute)
		turns := h.Turns()
		posts, err := h.Store.Posts(turns[len(turns)-1].ID)
		if err != nil || len(posts) != 1 || posts[0].State != "failed" || !strings.Contains(posts[0].Error, "kicked") {
			t.Errorf("%+v, %v", posts, err)
		}
	})
}

// A reply stands at the question in groups, in its topic.
func TestWhereItAnswers(t *testing.T) {
	inHouse(t, func(f *fake) { f.cfg.DM = true }, func(h *surfacetest.House, f *fake) {
		id := f.say(group, "alice", botTag+" hello", object{"is_topic_message": true, "message_thread_id": 7})
		f.say(dm, "alice", "hello", nil)
		h.Wait(5 * time.Second)
		if got := f.in(group); len(got) != 1 || got[0].replyTo != id || got[0].topic != "7" {
			t.Errorf("%+v", got)
		}
		if got := f.in(dm); len(got) != 1 || got[0].replyTo != 0 {
			t.Errorf("%+v", got)
		}
		turns := h.Turns()
		if turns[0].Thread != "7" || turns[0].Person != "telegram:1001" || h.Model.Asked()[0] != "hello" {
			t.Errorf("%+v, asked %q", turns[0], h.Model.Asked())
		}
	})
}

// S2: bounded by age, and 50 messages of a chat.
func TestCatchUpIsBounded(t *testing.T) {
	inHouse(t, func(f *fake) { f.cfg.DM = true }, func(h *surfacetest.House, f *fake) {
		h.Stop()
		f.say(dm, "alice", "too old", nil)
		h.Wait(7 * time.Hour)
		for i := range 60 {
			f.say(dm, "alice", fmt.Sprint(i), nil)
		}
		h.Wait(10 * time.Second)
		h.Start()
		h.Wait(5 * time.Minute)
		if p := h.Model.Asked(); len(p) != 50 || p[0] != "0" || len(f.in(dm)) != 50 {
			t.Errorf("%d prompts: %q, %d answers", len(p), p, len(f.in(dm)))
		}
		for _, c := range f.of("sendMessage") {
			if c.status == 429 {
				t.Error("a 429 of our own making")
			}
		}
	})
}

// Commands as Telegram writes them.
func TestCommands(t *testing.T) {
	inHouse(t, func(f *fake) { f.cfg.DM = true }, func(h *surfacetest.House, f *fake) {
		f.say(dm, "alice", "/start", nil)
		h.Wait(2 * time.Second)
		help := f.in(dm)
		if len(help) != 1 {
			t.Fatalf("%+v", help)
		}
		known, listed := regexp.MustCompile(`![a-z]+`).FindAllString(help[0].text, -1), []string{}
		for _, c := range door.Commands() {
			listed = append(listed, "!"+c.Name)
		}
		slices.Sort(known)
		slices.Sort(listed)
		if want := []string{"!approve", "!deny", "!help", "!new", "!retry", "!status", "!stop"}; !slices.Equal(known, want) || !slices.Equal(listed, want) {
			t.Errorf("the help tells of %q, the menu lists %q", known, listed)
		}
		h.Model.Play("503")
		f.Say("a", "alice", "hello")
		h.Wait(time.Second)
		f.say(group, "alice", "/stop"+botTag, nil)
		h.Wait(2 * time.Second)
		if turns := h.Turns(); turns[1].Outcome != store.Cancelled {
			t.Errorf("%+v", turns[1])
		}
	})
}

// Trouble with the line is told with what to do: two pollers, a revoked token, no answer.
func TestLine(t *testing.T) {
	inHouse(t, nil, func(h *surfacetest.House, f *fake) {
		if l := line(h); l != "connected" {
			t.Errorf("line %q", l)
		}
		f.plan(fault{method: "getUpdates", status: 409, what: "Conflict: terminated by other getUpdates request", times: 2})
		f.say(dm, "alice", "wake", nil)
		h.Wait(time.Second)
		if l := line(h); !strings.HasPrefix(l, "down another program asks for this bot's messages") || !strings.Contains(l, "@BotFather") {
			t.Errorf("line %q", l)
		}
		h.Wait(time.Minute)
		if l := line(h); l != "connected" {
			t.Errorf("line %q", l)
		}
		f.plan(fault{method: "getUpdates", status: 502, times: 4})
		f.say(dm, "alice", "wake", nil)
		h.Wait(5 * time.Second)
		if l := line(h); !strings.HasPrefix(l, "down getUpdates: Telegram answers 502") || strings.Contains(l, "abc") {
			t.Errorf("line %q", l)
		}
		h.Wait(time.Minute)
		f.mu.Lock()
		f.token = "456:def"
		f.mu.Unlock()
		f.say(dm, "alice", "wake", nil)
		h.Wait(time.Minute)
		if l := line(h); l != "down "+bot.NewToken {
			t.Errorf("line %q", l)
		}
		if got := f.surface.Check(h.T.Context()); len(got) != 1 || got[0] != bot.NewToken {
			t.Errorf("check %q", got)
		}
		h.Wait(3 * time.Minute)
		h.WantAlert("surface_down", "@BotFather")
	})
}

func TestCheck(t *testing.T) {
	inHouse(t, func(f *fake) { f.cfg.AllowChats = []string{group, "-1"} }, func(h *surfacetest.House, f *fake) {
		got := f.surface.Check(h.T.Context())
		if len(got) != 2 || !strings.Contains(got[0], "/setprivacy") || !strings.Contains(got[1], "allow_chats: the bot is not in -1") {
			t.Errorf("%q", got)
		}
	})
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"@HoldfastBot hello": "hello", "@holdfastbot: hello": "hello", "hello @HoldfastBot": "hello", "hi @HoldfastBot, hello": "hi @HoldfastBot, hello",
		"/stop@HoldfastBot": "/stop", "/stop@holdfastbot now": "/stop now", "/stop@other": "/stop@other", "/start": "!help", "": "", "@HoldfastBot": "",
	} {
		m := bot.Message{Text: text}
		if got := m.Words("HoldfastBot"); got != want {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
	m := bot.Message{Caption: "see", Photo: []any{1}, Document: &bot.File{Name: "a.pdf"}}
	if got := m.Files(); m.Words("x") != "see" || len(got) != 2 || got[0] != "file a.pdf" || got[1] != "photo" {
		t.Errorf("%q", got)
	}
	emoji := bot.Message{Text: "👍🏽 @HoldfastBot", Entities: []bot.Entity{{Type: "mention", Offset: 5, Length: 12}, {Type: "mention", Offset: 90, Length: 12}}}
	if got := emoji.Mentions(); len(got) != 1 || got[0] != "@holdfastbot" {
		t.Errorf("%q", got)
	}
}

// What is remembered has an end, and a full memory still takes changes of what it holds.
func TestRemember(t *testing.T) {
	known := map[int]int{}
	for i := range remembered {
		remember(known, i, i)
	}
	if remember(known, 0, 7); len(known) != remembered || known[0] != 7 {
		t.Errorf("%d, %d", len(known), known[0])
	}
	if remember(known, remembered, 1); len(known) != 1 || known[remembered] != 1 {
		t.Errorf("%d are remembered", len(known))
	}
}
