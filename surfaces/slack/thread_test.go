package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/surfaces/surfacetest"
)

// threadOf makes a thread in which others have talked; nobody has told the bot of it.
func (f *fake) threadOf(texts ...string) (root string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, text := range texts {
		m := &message{channel: general, user: []string{"U0ALICE", "U0BOB"}[i%2], text: text, thread: root, team: team}
		f.add(m)
		if root == "" {
			root = m.ts
		}
	}
	return root
}

// S9: called into a thread the bot knows what was said before, by whom and how it is read, but keeps
// nothing of it; a message that begins a thread, and one in a direct message, asks for nothing.
func TestCalledIntoAThreadS9(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		root := f.threadOf("the build &lt;is&gt; red", "<@U0ALICE> since when?", "since noon")
		h.Wait(time.Second)
		f.said(h, &message{channel: general, user: "U0BOB", text: "<@" + botUser + "> what is wrong?", thread: root}, "message", "app_mention")
		want := "[Holdfast: said in this thread by others, not to you:]\nalice: the build <is> red\nbob: @alice since when?\nalice: since noon\n[Holdfast: the end of that.]\n\nwhat is wrong?"
		if got := h.Model.Asked(); len(got) != 1 || got[0] != want {
			t.Fatalf("asked %q, want %q", got, want)
		}
		if n := f.Calls("conversations.replies"); n != 1 {
			t.Errorf("%d reads of threads", n)
		}
		f.Say("new", "alice", "hello")
		f.said(h, &message{channel: "D0ALICE", user: "U0ALICE", text: "hello"}, "message")
		if n := f.Calls("conversations.replies"); n != 1 || len(h.Turns()) != 3 {
			t.Errorf("%d reads of threads, %d turns", n, len(h.Turns()))
		}
		chats, err := h.Store.Chats(0, 10)
		if err != nil || len(chats) != 3 {
			t.Fatal(len(chats), err)
		}
		for _, c := range chats {
			if list, err := h.Store.Messages(c.ID, 0, 10); err != nil || len(list) != 2 {
				t.Errorf("%d messages are stored, %v", len(list), err)
			}
		}
	})
}

// A long thread: its root and the newest 49. What is limited or down is gone without, at once.
func TestLongThread(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		var texts []string
		for i := range 80 {
			texts = append(texts, fmt.Sprintf("line %d.", i))
		}
		root := f.threadOf(texts...)
		h.Wait(time.Second)
		ask := func() string {
			f.said(h, &message{channel: general, user: "U0BOB", text: mentioned, thread: root}, "message")
			all := h.Model.Asked()
			return all[len(all)-1]
		}
		if got := ask(); strings.Count(got, "line ") != 50 || !strings.Contains(got, "line 0.") || strings.Contains(got, "line 30.") || !strings.Contains(got, "line 31.") {
			t.Errorf("asked %q", got)
		}
		f.mu.Lock()
		f.errors["conversations.replies"] = "internal_error"
		f.mu.Unlock()
		if got := ask(); got != "hello" {
			t.Errorf("asked %q", got)
		}
	})
}

// Reads of threads leave room for those that look for the bot's own messages: 10 at once, 30 a minute.
func TestThreadsAreReadSparingly(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		for i := range 25 {
			root := f.threadOf("about", fmt.Sprint("this ", i))
			m := &message{channel: general, user: "U0BOB", text: mentioned, thread: root, team: team}
			f.mu.Lock()
			f.add(m)
			f.mu.Unlock()
			f.tell(m, "message")
		}
		h.Wait(2 * time.Minute)
		if n := f.Calls("conversations.replies"); n != 10 || len(h.Turns()) != 25 {
			t.Errorf("%d reads for %d turns", n, len(h.Turns()))
		}
		for _, turn := range h.Turns() {
			if turn.Text == "" {
				t.Errorf("%+v", turn)
			}
		}
	})
}
