package surfacetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// longText is an answer of at least n characters with a code block in each part of it.
func longText(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "Paragraph %d has some words in it.\n\n```go\n", i)
		for j := range 12 {
			fmt.Fprintf(&b, "call(%d, %d) // some code\n", i, j)
		}
		b.WriteString("```\n\n")
	}
	return b.String()
}

var callLine = regexp.MustCompile(`call\(\d+, \d+\)|Paragraph \d+`)

// longAnswers come whole, in order, in messages that the platform takes, with no code block torn.
func longAnswers(h *House) {
	for _, n := range []int{9000, 30000} {
		thread := fmt.Sprint("t", n)
		h.Model.Play("ok:" + longText(n))
		h.Fake.Say(thread, "alice", "tell me all")
		h.Wait(2 * time.Minute)
		h.wantWhole(thread, longText(n))
	}
	h.delivered()
}

func (h *House) wantWhole(thread, text string) {
	h.T.Helper()
	var seen []string
	for i, m := range h.Fake.Shown(thread) {
		if n := utf16Length(m.Text); n > h.Fake.Limit() {
			h.T.Errorf("message %d has %d units", i, n)
		}
		if strings.Count(m.Text, "```")%2 != 0 {
			h.T.Errorf("message %d has a torn code block", i)
		}
		seen = append(seen, callLine.FindAllString(m.Text, -1)...)
	}
	if want := callLine.FindAllString(text, -1); !slices.Equal(seen, want) {
		h.T.Errorf("%d lines of %d, or in another order: %.300q", len(seen), len(want), seen)
	}
}

func utf16Length(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// orderOfParts: a part that is delayed delays those after it, and none is lost.
func orderOfParts(h *House) {
	text := longText(3 * h.Fake.Limit())
	h.Model.Play("429/45s", "ok:"+text)
	h.Fake.Fault(Fault{Op: "edit", Kind: "limited", After: 20 * second, Times: 2})
	h.Fake.Fault(Fault{Op: "post", Kind: "limited", After: 9 * second, Skip: 1, Times: 1})
	h.Fake.Say("a", "alice", "tell me all")
	h.Wait(5 * time.Minute)
	h.wantWhole("a", text)
	h.asked(2)
	h.delivered()
}

// pings: what a model writes notifies nobody (S4).
func pings(h *House) {
	h.Model.Play("ok:Hey <!channel> <!here> <@U0123ABC> @everyone @here <@123456> <@&789> <!subteam^S1>!\n\n```\n<!channel> @everyone <@123456>\n```\n")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(5 * second)
	if got := h.Want("a", "Hey"); len(got[0].Pings) != 0 {
		h.T.Errorf("pings %q", got[0].Pings)
	}
}

// lateMention: an answer that comes by an edit, long after the question, mentions once who asked (N10).
func lateMention(h *House) {
	h.Model.Play("429/10m", "ok:Here it is.")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(11 * time.Minute)
	got := h.Want("a", "Here it is.", "")
	if len(got[0].Pings) != 0 || len(got[1].Pings) != 1 || !strings.Contains(got[1].Pings[0], "alice") {
		h.T.Errorf("pings %s, want alice in the second", describe(got))
	}
	h.count("post", 2)
	h.count("edit", 1)
}
