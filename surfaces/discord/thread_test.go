package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/surfaces/discord/discordtest"
	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/door"
)

// threadAt makes a thread of a message in the general channel.
func (h *house) threadAt(root string) {
	h.Put(root, func(c *discordtest.Channel) { c.Type, c.Parent, c.Guild = 11, discordtest.General, discordtest.Guild })
}

// S9: called into a thread the bot knows what was said before, by whom, but keeps nothing of it; what is
// said in a channel around a mention it does not look at.
func TestCalledIntoAThreadS9(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		root := h.Server.Say(discordtest.General, discordtest.Alice, "the build is red", "")
		h.threadAt(root)
		h.Server.Say(root, discordtest.Bob, "since when?", "")
		h.Server.Say(root, discordtest.Alice, "", "", "log.txt")
		h.Wait(time.Second)
		h.Server.Say(root, discordtest.Bob, "<@"+discordtest.Bot+"> what is wrong?", "")
		h.Wait(time.Second)
		want := "[Holdfast: said in this thread by others, not to you:]\nBob: since when?\nAlice: [file: log.txt]\n[Holdfast: the end of that.]\n\nwhat is wrong?"
		if got := h.Model.Asked(); len(got) != 1 || got[0] != want {
			t.Fatalf("asked %q, want %q", got, want)
		}
		reads := len(h.Server.Calls("messages"))
		h.ask(discordtest.Alice, "and here?")
		h.Wait(time.Second)
		if got := h.Model.Asked(); len(got) != 2 || got[1] != "and here?" || len(h.Server.Calls("messages")) != reads {
			t.Errorf("asked %q", got)
		}
		chats, err := h.Store.Chats(0, 10)
		if err != nil || len(chats) != 2 {
			t.Fatal(len(chats), err)
		}
		for _, c := range chats {
			if list, err := h.Store.Messages(c.ID, 0, 10); err != nil || len(list) != 2 {
				t.Errorf("%d messages are stored, %v", len(list), err)
			}
		}
	})
}

// A long thread: the message that it was made of, and the newest 49.
func TestLongThread(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		root := h.Server.Say(discordtest.General, discordtest.Alice, "the build is red", "")
		h.threadAt(root)
		for i := range 80 {
			h.Server.Say(root, discordtest.Bob, fmt.Sprintf("line %d.", i), "")
		}
		h.Wait(time.Second)
		h.Server.Say(root, discordtest.Bob, "<@"+discordtest.Bot+"> hello", "")
		h.Wait(5 * time.Second)
		got := strings.Join(h.Model.Asked(), "|")
		if strings.Count(got, "line ") != 49 || !strings.Contains(got, "Alice: the build is red\n") || strings.Contains(got, "line 30.") || !strings.Contains(got, "line 31.") {
			t.Errorf("asked %q", got)
		}
	})
}

// An app that is not shown what people write to each other does not ask for it again and again.
func TestBlindToThreads(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.threadAt("77")
		for range 3 {
			h.Server.Say("77", discordtest.Bob, "", "")
		}
		for range 3 {
			h.Server.Say("77", discordtest.Bob, "<@"+discordtest.Bot+"> hello", "")
			h.Wait(time.Second)
		}
		if got := h.Model.Asked(); len(got) != 3 || got[2] != "hello" {
			t.Errorf("asked %q", got)
		}
		if n := len(h.Server.Calls("messages")); n != 1 {
			t.Errorf("%d reads", n)
		}
	})
}

// A thread's first message stands for the one that it was made of.
func TestThreadStarter(t *testing.T) {
	s := New(Default(), door.Parts{})
	starter := rest.Message{ID: "2", Type: rest.TypeStarter, Referenced: &rest.Message{ID: "1", Content: "the build is red", Author: rest.User{ID: "7", Name: "ann"}}}
	if got := s.said([]rest.Message{starter, {ID: "3", Type: 6, Content: "pinned"}}); len(got) != 1 || got[0].Key != "discord:1" || got[0].Name != "ann" || got[0].Text != "the build is red" {
		t.Errorf("%+v", got)
	}
}
