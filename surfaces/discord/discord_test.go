package discord

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"holdfast/store"
	"holdfast/surfaces/discord/discordtest"
)

// A mention gets a reply that pings nobody; the sign is shown meanwhile and not after (P15). S4.
func TestMentionIsAnswered(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Model.Play("slow:hi @everyone and <@" + discordtest.Bob + ">")
		q := h.ask(discordtest.Alice, "hello")
		h.Wait(21 * time.Second)
		got := h.Bots(discordtest.General)
		if len(got) != 1 || got[0].ReplyTo != q || len(got[0].Pings) != 0 || len(got[0].Edits) != 0 {
			t.Errorf("%+v", got)
		}
		typed := len(h.Server.Calls("typing"))
		if typed != 3 {
			t.Errorf("typing shown %d times in 20 s", typed)
		}
		h.Wait(time.Minute)
		if n := len(h.Server.Calls("typing")); n != typed {
			t.Error("typing shown after the answer")
		}
		turn := h.Turns()[0]
		if turn.Person != "discord:"+discordtest.Alice || turn.Surface != "discord/ada" || h.Model.Asked()[0] != "hello" {
			t.Errorf("%+v, prompt %q", turn, h.Model.Asked())
		}
		chat, err := h.Engine.Store.ChatByID(turn.Conversation)
		if err != nil || chat.Title != "#general" || h.line() != "connected" {
			t.Errorf("%+v, %v, line %q", chat, err, h.line())
		}
	})
}

// S1: the same message again makes no second turn, also after a restart in between.
func TestRedeliveryS1(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		q := h.ask(discordtest.Alice, "hello")
		h.Wait(time.Second)
		h.Server.Again(q)
		h.Wait(time.Second)
		h.Stop()
		h.Start()
		h.Server.Again(q)
		h.Wait(time.Second)
		h.want(discordtest.General, "answer")
		if n := len(h.Turns()); n != 1 {
			t.Errorf("%d turns", n)
		}
	})
}

// S9: who and what wakes it. Nothing else is stored.
func TestWhoWakesItS9(t *testing.T) {
	mention := "<@" + discordtest.Bot + "> hello"
	for name, c := range map[string]struct {
		configure func(*fake)
		say       func(*house)
		want      int
	}{
		"no mention":              {nil, func(h *house) { h.Server.Say(discordtest.General, discordtest.Alice, "hello all", "") }, 0},
		"another bot":             {nil, func(h *house) { h.Server.Say(discordtest.General, discordtest.Robot, mention, "") }, 0},
		"another bot, named":      {func(h *fake) { h.cfg.AllowUsers = []string{discordtest.Robot} }, func(h *house) { h.Server.Say(discordtest.General, discordtest.Robot, mention, "") }, 1},
		"its own message":         {nil, func(h *house) { h.Server.Say(discordtest.General, discordtest.Bot, mention, "") }, 0},
		"not allowed":             {func(h *fake) { h.cfg.AllowUsers = []string{discordtest.Bob} }, func(h *house) { h.ask(discordtest.Alice, "hello") }, 0},
		"allowed":                 {func(h *fake) { h.cfg.AllowUsers = []string{discordtest.Alice} }, func(h *house) { h.ask(discordtest.Alice, "hello") }, 1},
		"another channel":         {func(h *fake) { h.cfg.AllowChannels = []string{discordtest.Other} }, func(h *house) { h.ask(discordtest.Alice, "hello") }, 0},
		"its channel":             {func(h *fake) { h.cfg.AllowChannels = []string{discordtest.General} }, func(h *house) { h.ask(discordtest.Alice, "hello") }, 1},
		"its server":              {func(h *fake) { h.cfg.AllowChannels = []string{discordtest.Guild} }, func(h *house) { h.ask(discordtest.Alice, "hello") }, 1},
		"a thread of its channel": {func(h *fake) { h.cfg.AllowChannels = []string{discordtest.General}; thread(h) }, func(h *house) { h.Server.Say("77", discordtest.Alice, mention, "") }, 1},
		"a reply to it": {nil, func(h *house) {
			h.ask(discordtest.Alice, "hello")
			h.Wait(time.Second)
			h.Server.Say(discordtest.General, discordtest.Bob, "and?", h.Bots(discordtest.General)[0].ID)
		}, 2},
		"direct, dm = true":         {func(h *fake) { h.cfg.DM = true }, func(h *house) { h.Server.Say(discordtest.DM, discordtest.Alice, "hello", "") }, 1},
		"direct, named":             {func(h *fake) { h.cfg.AllowUsers = []string{discordtest.Alice} }, func(h *house) { h.Server.Say(discordtest.DM, discordtest.Alice, "hello", "") }, 1},
		"thread: not without it":    {func(h *fake) { h.reply = "thread"; h.Intents = 1 << 15; thread(h) }, func(h *house) { h.Server.Say("77", discordtest.Alice, "hello", "") }, 0},
		"thread: where it answered": {func(h *fake) { h.reply = "thread"; h.Intents = 1 << 15; thread(h) }, sayTwice, 2},
		"thread: to somebody else": {func(h *fake) { h.reply = "thread"; h.Intents = 1 << 15; thread(h) }, func(h *house) {
			h.Server.Say("77", discordtest.Alice, mention, "")
			h.Wait(time.Second)
			h.Server.Say("77", discordtest.Alice, "<@"+discordtest.Bob+"> what do you think?", "")
		}, 1},
		"mention: not in its thread": {thread, sayTwice, 1},
		"always":                     {func(h *fake) { h.reply = "always"; h.Intents = 1 << 15 }, func(h *house) { h.Server.Say(discordtest.General, discordtest.Alice, "hello all", "") }, 1},
		"an edit adds the mention": {nil, func(h *house) {
			id := h.Server.Say(discordtest.General, discordtest.Alice, "hello", "")
			h.Change(id, mention)
			h.Change(id, mention+"!")
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, c.configure, func(h *house) {
				c.say(h)
				h.Wait(2 * time.Second)
				if got := h.Turns(); len(got) != c.want {
					t.Errorf("%d turns, want %d; line %q", len(got), c.want, h.line())
				}
				if chats, _ := h.Engine.Store.Chats(0, 10); len(chats) > c.want {
					t.Errorf("%d conversations stored", len(chats))
				}
			})
		})
	}
}

func thread(h *fake) {
	h.Put("77", func(c *discordtest.Channel) { c.Type, c.Parent = 11, discordtest.General })
}

func sayTwice(h *house) {
	h.Server.Say("77", discordtest.Alice, "<@"+discordtest.Bot+"> hello", "")
	h.Wait(time.Second)
	h.Server.Say("77", discordtest.Alice, "and?", "")
}

// A stranger's direct message is refused once, also over restarts, and not stored (S9).
func TestStrangersAreToldOnce(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		for range 3 {
			h.Server.Say(discordtest.DMBob, discordtest.Bob, "hello", "")
			h.Wait(time.Second)
		}
		h.Wait(time.Hour)
		h.Stop()
		h.Start()
		h.Server.Say(discordtest.DMBob, discordtest.Bob, "hello?", "")
		h.Wait(time.Second)
		h.want(discordtest.DMBob, refusalText)
		if n := len(h.Turns()); n != 0 {
			t.Errorf("%d turns", n)
		}
	})
}

// S2: what was said while the daemon was down is answered once: over a resume, and over a lost session by reading.
func TestCatchUpS2(t *testing.T) {
	for name, lost := range map[string]bool{"resumed": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *fake) { h.cfg.DM = true; thread(h) }, func(h *house) {
				h.Server.Say(discordtest.DM, discordtest.Alice, "before", "")
				h.Wait(time.Second)
				h.Stop()
				if lost {
					h.Forget()
				}
				h.ask(discordtest.Alice, "one")
				h.Server.Say(discordtest.General, discordtest.Alice, "not for it", "")
				h.ask(discordtest.Bob, "two")
				h.Server.Say("77", discordtest.Bob, "<@"+discordtest.Bot+"> three", "")
				h.Server.Say(discordtest.DM, discordtest.Alice, "four", "")
				h.Wait(30 * time.Second)
				h.Start()
				h.Wait(20 * time.Second)
				h.Server.Again(h.ask(discordtest.Bob, "five"))
				h.Wait(10 * time.Second)
				h.want(discordtest.General, "answer", "answer", "answer")
				h.want("77", "answer")
				h.want(discordtest.DM, "answer", "answer")
				if n := len(h.Turns()); n != 6 {
					t.Errorf("%d turns: %q", n, h.Model.Asked())
				}
			})
		})
	}
}

// Catching up is bounded: by age, and 50 messages of a channel.
func TestCatchUpIsBounded(t *testing.T) {
	inHouse(t, func(h *fake) { h.Limits = false }, func(h *house) {
		h.ask(discordtest.Alice, "before")
		h.Wait(time.Second)
		h.Stop()
		h.Forget()
		h.ask(discordtest.Alice, "too old")
		h.Wait(7 * time.Hour)
		for i := range 60 {
			h.Server.Say(discordtest.General, discordtest.Bob, "chatter", "")
			h.ask(discordtest.Alice, fmt.Sprint(i))
		}
		h.Start()
		h.Wait(2 * time.Minute)
		p := h.Model.Asked()
		if len(p) != 51 || p[1] != "0" || p[50] != "49" {
			t.Errorf("%d prompts: %q", len(p), p)
		}
	})
}

// A first start answers nothing that was said before there was a bot.
func TestFirstStart(t *testing.T) {
	inHouse(t, func(h *fake) {
		h.Server.Say(discordtest.General, discordtest.Alice, "<@"+discordtest.Bot+"> long ago", "")
	}, func(h *house) {
		if n := len(h.Turns()); n != 0 {
			t.Errorf("%d turns", n)
		}
	})
}

// N2, N3, N4, N10: silent for 30 s, then one post, edited when the time moves, with buttons; it becomes the answer, and
// the person is mentioned once since edits notify nobody. The sign is off while it waits.
func TestNoticeBecomesTheAnswer(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Model.Play("429/2m", "429/10m", "ok:the **answer**")
		q := h.ask(discordtest.Alice, "hello")
		h.Wait(time.Second)
		got := h.Bots(discordtest.General)
		if len(got) != 1 || got[0].ReplyTo != q || !strings.Contains(got[0].Content, "<t:") || len(got[0].Buttons) != 2 || len(got[0].Pings) != 0 {
			t.Fatalf("notice %+v", got)
		}
		id, turn := got[0].ID, h.Turns()[0]
		h.Wait(3 * time.Minute)
		got = h.Bots(discordtest.General)
		if len(got) != 1 || len(got[0].Edits) != 1 {
			t.Errorf("after the second wait: %+v", got)
		}
		typed := len(h.Server.Calls("typing"))
		h.Wait(5 * time.Minute)
		if n := len(h.Server.Calls("typing")); n != typed {
			t.Errorf("typing shown %d times while parked (P15)", n-typed)
		}
		h.Wait(5 * time.Minute)
		got = h.want(discordtest.General, "the **answer**", "<@"+discordtest.Alice+"> the answer is above.")
		if got[0].ID != id || len(got[0].Edits) != 2 || len(got[0].Buttons) != 0 || !slices.Equal(got[1].Pings, []string{discordtest.Alice}) || got[1].ReplyTo != "" {
			t.Errorf("%+v", got)
		}
		if n := len(h.Server.Calls("create")); n != 2 || turn.Person == "" {
			t.Errorf("%d creates", n)
		}
		for _, c := range append(h.Server.Calls("create"), h.Server.Calls("edit")...) {
			if a, ok := c.Body["allowed_mentions"].(discordtest.Object); !ok || a["replied_user"] != false || len(a["parse"].([]any)) != 0 {
				t.Errorf("%s without allowed_mentions: %v", c.Op, c.Body)
			}
		}
	})
}

// N7, N8: the notice is posted and the process dies before it knows; the next one finds it by its nonce, later in the channel,
// and edits it to the answer.
func TestKilledBetweenPostAndCommitN8(t *testing.T) {
	for name, away := range map[string]time.Duration{"the nonce is known": 10 * time.Second, "the nonce is forgotten": 20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, nil, func(h *house) {
				h.Model.Play("429/1m", "ok:done")
				h.Server.Fault(discordtest.Fault{Op: "create", Delay: 5 * time.Second}) // made at once, answered late
				h.ask(discordtest.Alice, "hello")
				h.Wait(time.Second)
				h.Stop() // the answer is on its way
				h.Wait(away)
				h.Start()
				h.Wait(2 * time.Minute)
				got := h.Bots(discordtest.General)
				if len(got) == 0 || got[0].Content != "done" || len(got) > 2 || len(got) == 2 && !strings.Contains(got[1].Content, "the answer is above") {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// N9: Discord answers nothing, or 429 five times on the final edit: the answer waits, without another request to the model.
func TestDiscordIsDownN9(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Model.Play("429/40s", "ok:done")
		h.ask(discordtest.Alice, "hello")
		h.Wait(10 * time.Second)
		h.Server.Fault(discordtest.Fault{Op: "edit", Status: 429, RetryAfter: 5, Times: 5})
		h.Wait(3 * time.Minute)
		h.want(discordtest.General, "done")
		if n := len(h.Model.Asked()); n != 2 {
			t.Errorf("%d requests", n)
		}
		if n := len(h.Server.Calls("edit")); n != 6 {
			t.Errorf("%d edits", n)
		}
		h.Model.Play("ok:late")
		h.ask(discordtest.Alice, "again")
		h.Put(discordtest.General, func(*discordtest.Channel) {})
		h.Server.Fault(discordtest.Fault{Op: "create", Status: 503, Times: 4})
		h.Wait(5 * time.Minute)
		h.want(discordtest.General, "done", "late")
	})
}

// N8: an answer whose post was made but never acknowledged appears once.
func TestLostAnswer(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Server.Fault(discordtest.Fault{Op: "create", Lost: true, Times: 3})
		h.ask(discordtest.Alice, "hello")
		h.Wait(time.Minute)
		h.want(discordtest.General, "answer")
		if n := len(h.Server.Calls("create")); n != 4 {
			t.Errorf("%d creates", n)
		}
	})
}

// N6: a notice deleted during the wait makes one new message. So does one in a thread that was archived, the old one goes.
func TestNoticeGoneN6(t *testing.T) {
	inHouse(t, thread, func(h *house) {
		h.Model.Play("429/1m")
		h.ask(discordtest.Alice, "hello")
		h.Server.Say("77", discordtest.Bob, "<@"+discordtest.Bot+"> hello", "")
		h.Wait(5 * time.Second)
		h.Remove(h.Bots(discordtest.General)[0].ID)
		h.Put("77", func(c *discordtest.Channel) { c.Archived = true })
		h.Model.Play("ok:done")
		h.Wait(2 * time.Minute)
		h.want(discordtest.General, "done")
		h.want("77", "done")
	})
}

// A place that is no more fails honestly and holds nobody up.
func TestPlaceGone(t *testing.T) {
	inHouse(t, func(h *fake) {
		h.Put("80", func(*discordtest.Channel) {})
		h.Put("81", func(*discordtest.Channel) {})
	}, func(h *house) {
		h.Model.Play("slow:done")
		h.Server.Say("80", discordtest.Alice, "<@"+discordtest.Bot+"> hello", "")
		h.Server.Say("81", discordtest.Alice, "<@"+discordtest.Bot+"> hello", "")
		h.ask(discordtest.Alice, "hello")
		h.Wait(time.Second)
		h.Put("80", func(c *discordtest.Channel) { c.NoAccess = true })
		h.Put("81", func(c *discordtest.Channel) { c.NoSend = true })
		h.Wait(2 * time.Minute)
		h.want(discordtest.General, "done")
		states := map[string]string{}
		for _, turn := range h.Turns() {
			posts, err := h.Engine.Store.Posts(turn.ID)
			if err != nil || len(posts) != 1 {
				t.Fatal(posts, err)
			}
			states[turn.Channel] = posts[0].State + " " + posts[0].Error
		}
		if !strings.HasPrefix(states["80"], "failed ") || !strings.Contains(states["80"], "Missing Access") {
			t.Errorf("closed channel: %q", states["80"])
		}
		if !strings.HasPrefix(states["81"], "pending ") || !strings.Contains(states["81"], "Send Messages") {
			t.Errorf("no permission: %q", states["81"])
		}
		h.Put("81", func(c *discordtest.Channel) { c.NoSend = false })
		h.Wait(6 * time.Minute)
		h.want("81", "done")
	})
}

// Too many edits of an old message delay the answer, and lose nothing.
func TestOldEdits(t *testing.T) {
	inHouse(t, func(h *fake) { h.Put(discordtest.General, func(c *discordtest.Channel) { c.OldEdits = true }) }, func(h *house) {
		h.Model.Play("429/2h", "ok:done")
		h.ask(discordtest.Alice, "hello")
		h.Wait(2*time.Hour + time.Minute)
		if got := h.Bots(discordtest.General); len(got) != 1 || got[0].Content == "done" {
			t.Fatalf("%+v", got)
		}
		h.Put(discordtest.General, func(c *discordtest.Channel) { c.OldEdits = false })
		h.Wait(time.Minute)
		h.want(discordtest.General, "done", "<@"+discordtest.Alice+"> the answer is above.")
	})
}

// Long answers: parts in order, each at most 2,000 characters, code fences closed and opened again.
func TestLongAnswers(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		for _, size := range []int{9000, 30000} {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, "Paragraph %d.\n\n```go\nfmt.Println(%d) // %s\n```\n\n", i, i, strings.Repeat("x", 60))
			}
			h.Model.Play("ok:" + b.String())
			before := len(h.Bots(discordtest.General))
			h.ask(discordtest.Alice, "long")
			h.Wait(time.Minute)
			all := ""
			for _, m := range h.Bots(discordtest.General)[before:] {
				if n := utf8.RuneCountInString(m.Content); n > 2000 || strings.Count(m.Content, "```")%2 != 0 {
					t.Errorf("a part of %d characters, fences %d", n, strings.Count(m.Content, "```"))
				}
				all += m.Content
			}
			at := 0
			for i := range strings.Count(b.String(), "Paragraph") {
				next := strings.Index(all[at:], fmt.Sprintf("fmt.Println(%d)", i))
				if next < 0 {
					t.Fatalf("%d: line %d is missing or out of order", size, i)
				}
				at += next
			}
		}
		for _, c := range h.Server.Calls("create") {
			if c.Status == 429 {
				t.Error("a 429 of our own making")
			}
		}
	})
}

// R16: buttons act on their own turn, for who asked and operators only.
func TestButtonsR16(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Model.Play("503")
		h.ask(discordtest.Alice, "hello")
		h.Wait(50 * time.Second)
		n := h.Bots(discordtest.General)[0]
		press := func(user, id, want string) {
			t.Helper()
			h.Server.Press(discordtest.General, user, id)
			h.Wait(time.Second)
			if a := h.Answers(); a[len(a)-1] != want {
				t.Errorf("told %q, want %q", a[len(a)-1], want)
			}
		}
		press(discordtest.Robot, n.Buttons[0], "Only the person who asked, or an operator of this bot, may do that.")
		press(discordtest.Robot, n.Buttons[1], "Only the person who asked, or an operator of this bot, may do that.")
		before := len(h.Model.Asked())
		press(discordtest.Alice, n.Buttons[0], "Trying again now.")
		if len(h.Model.Asked()) == before {
			t.Error("it was not tried")
		}
		press(discordtest.Alice, n.Buttons[1], "Stopped.")
		h.want(discordtest.General, "Stopped.")
		h.Model.Play("ok:second")
		h.ask(discordtest.Alice, "new")
		h.Wait(time.Second)
		press(discordtest.Alice, n.Buttons[1], "Stopped.") // of the old turn: nothing happens
		press(discordtest.Alice, n.Buttons[0], "This is done already.")
		press(discordtest.Alice, "stop:"+h.Turns()[1].ID.String()+":0", "This is done already.")
		press(discordtest.Alice, "stop:0000000000001:0", "This is so long ago that it is not kept any more.")
		press(discordtest.Alice, "nonsense", "I do not know this any more.")
		h.want(discordtest.General, "Stopped.", "second")
		if a := h.Answers(); len(h.Server.Calls("answer")) != len(a) {
			t.Errorf("%d answers to %d presses", len(h.Server.Calls("answer")), len(a))
		}
	})
}

// Inside a hold Try now says until when.
func TestTryNowInAHold(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Model.Play("429/1h")
		h.ask(discordtest.Alice, "hello")
		h.Wait(time.Second)
		h.Server.Press(discordtest.General, discordtest.Alice, h.Bots(discordtest.General)[0].Buttons[0])
		h.Wait(time.Second)
		if a := h.Answers(); len(a) != 1 || !strings.HasPrefix(a[0], "The provider takes nothing until <t:") {
			t.Errorf("told %q", a)
		}
	})
}

// Commands, by mention and as slash commands; those are stored before they are answered.
func TestCommands(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		if n := len(h.Server.Calls("commands")); n != 1 {
			t.Errorf("registered %d times", n)
		}
		h.Model.Play("503")
		h.ask(discordtest.Alice, "hello")
		h.Wait(time.Second)
		h.Slash(discordtest.General, discordtest.Alice, "stop")
		h.Wait(time.Second)
		if a := h.Answers(); !slices.Equal(a, []string{"All right."}) {
			t.Errorf("told %q", a)
		}
		turns := h.Turns()
		if turns[0].Outcome != store.Cancelled || len(turns) != 2 {
			t.Errorf("%+v", turns)
		}
		h.want(discordtest.General, "Stopped.")
		h.ask(discordtest.Alice, "!stop")
		h.Wait(time.Second)
		h.want(discordtest.General, "Stopped.", "There is nothing to stop.")
		h.Slash(discordtest.DM, discordtest.Alice, "status")
		h.Wait(time.Second)
		if a := h.Answers(); a[1] != refusalText {
			t.Errorf("told %q", a[1])
		}
	})
}

// S10: deleting the question cancels its waiting turn; a message with only a file is a turn.
func TestDeletedAndFilesS10(t *testing.T) {
	inHouse(t, func(h *fake) { h.cfg.DM = true }, func(h *house) {
		h.Model.Play("503")
		q := h.ask(discordtest.Alice, "hello")
		h.Wait(time.Minute)
		h.Remove(q)
		h.Wait(time.Second)
		h.want(discordtest.General, "Stopped.")
		if turn := h.Turns()[0]; turn.Outcome != store.Cancelled {
			t.Errorf("%+v", turn)
		}
		h.Model.Play("ok:seen")
		h.Server.Say(discordtest.DM, discordtest.Alice, "", "", "photo.png")
		h.Wait(10 * time.Minute)
		if n := len(h.Turns()); n != 2 {
			t.Errorf("%d turns", n)
		}
	})
}

// A token that is taken away is told with what to do, at the line and at the outbox.
func TestRevokedToken(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Token = "another"
		h.CloseWith(4004)
		h.Wait(time.Second)
		if l := h.line(); !strings.HasPrefix(l, "down Discord does not take the token") || !strings.Contains(l, "Reset Token") {
			t.Errorf("line %q", l)
		}
		if got := h.fake.surface.Check(h.T.Context()); len(got) != 1 || !strings.Contains(got[0], "Reset Token") {
			t.Errorf("check %q", got)
		}
		h.Wait(4 * time.Minute)
		h.WantAlert("surface_down", "Reset Token")
	})
}

func TestCheck(t *testing.T) {
	inHouse(t, func(h *fake) { h.cfg.AllowChannels = []string{discordtest.General, discordtest.Guild} }, func(h *house) {
		if got := h.fake.surface.Check(h.T.Context()); got != nil {
			t.Errorf("%q", got)
		}
		h.fake.surface.Reply = "always"
		h.fake.surface.cfg.AllowChannels = append(h.fake.surface.cfg.AllowChannels, "99")
		got := h.fake.surface.Check(h.T.Context())
		if len(got) != 2 || !strings.Contains(got[0], "Message Content Intent") || !strings.Contains(got[1], "invite it") {
			t.Errorf("%q", got)
		}
	})
}

// 100 people in 10 channels who all wait and get a notice, then their answer and a mention: limits are met
// by none of it, nothing is lost, and each channel has its answers in the order of its questions.
func TestManyPeopleWait(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.Model.Play("429/10m")
		var asked [10][]string
		for i := range 100 {
			id := fmt.Sprint(3000 + i%10)
			h.Put(id, func(*discordtest.Channel) {})
			person := fmt.Sprint(90000 + i)
			asked[i%10] = append(asked[i%10], h.Server.Say(id, person, "<@"+discordtest.Bot+"> hello", ""))
		}
		h.Wait(9 * time.Minute)
		h.Model.Play("ok:late")
		h.Wait(20 * time.Minute)
		for i := range 10 {
			var answered []string
			mentions := 0
			for _, m := range h.Bots(fmt.Sprint(3000 + i)) {
				if m.Content == "late" {
					answered = append(answered, m.ReplyTo)
				} else if strings.HasSuffix(m.Content, "the answer is above.") {
					mentions++
				}
			}
			if !slices.Equal(answered, asked[i]) || mentions != 10 {
				t.Errorf("channel %d: answers to %v of %v, %d mentions", i, answered, asked[i], mentions)
			}
		}
		for _, op := range []string{"create", "edit"} {
			for _, c := range h.Server.Calls(op) {
				if c.Status == 429 {
					t.Fatalf("a 429 of our own making at %s", op)
				}
			}
		}
	})
}

// 200 conversations with the platform's limits on: everything is delivered, in order, and no 429 is of our making.
func TestManyConversations(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		var b strings.Builder
		for i := range 500 {
			fmt.Fprintf(&b, "word%d ", i)
		}
		h.Model.Play("ok:" + b.String()) // three parts
		for i := range 200 {
			id := fmt.Sprint(3000 + i)
			h.Put(id, func(*discordtest.Channel) {})
			h.Server.Say(id, discordtest.Alice, "<@"+discordtest.Bot+"> hello", "")
		}
		h.Wait(3 * time.Minute)
		for i := range 200 {
			all := ""
			for _, m := range h.Bots(fmt.Sprint(3000 + i)) {
				all += m.Content + " "
			}
			if all != b.String() {
				t.Fatalf("channel %d has %d characters of %d, or not in order", i, len(all), b.Len())
			}
		}
		for _, c := range h.Server.Calls("create") {
			if c.Status == 429 {
				t.Fatal("a 429 of our own making")
			}
		}
	})
}
