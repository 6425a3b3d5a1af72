package surfacetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"holdfast/store"
)

const second = time.Second

// answer: a message is answered once, by one post (N5).
func answer(h *House) {
	h.Model.Play("ok:Hello, $said")
	h.Fake.Say("a", "alice", "who are you?")
	h.Wait(5 * second)
	got := h.Want("a", "Hello, who are you?")
	h.count("post", 1)
	h.count("edit", 0)
	if len(got[0].Pings) != 0 {
		h.T.Errorf("the answer pings %q", got[0].Pings)
	}
	if ts := h.Turns(); len(ts) != 1 || ts[0].Outcome != store.Answered || ts[0].Surface != h.name {
		h.T.Errorf("turns %+v", ts)
	}
}

func (h *House) count(op string, want int) {
	h.T.Helper()
	if got := h.Fake.Calls(op); got != want {
		h.T.Errorf("%d calls to %s, want %d\nlog:\n%s", got, op, want, &h.log)
	}
}

func (h *House) asked(want int) {
	h.T.Helper()
	if got := len(h.Model.Asked()); got != want {
		h.T.Errorf("the model was asked %d times, want %d", got, want)
	}
}

// eventTwice: however often the platform tells of a message, in this process or the next, it is one
// turn and one answer (S1).
func eventTwice(h *House) {
	h.Fake.Say("a", "alice", "hello")
	h.Wait(5 * second)
	h.Fake.Again()
	h.Wait(5 * second)
	h.Stop()
	h.Start()
	h.Fake.Again()
	h.Wait(10 * second)
	h.Want("a", "answer")
	h.asked(1)
	if ts := h.Turns(); len(ts) != 1 {
		h.T.Errorf("%d turns", len(ts))
	}
}

// noticeBecomesAnswer: one post for a real wait, which the answer edits (N2, N4).
func noticeBecomesAnswer(h *House) {
	h.Model.Play("429/45s", "ok:Here it is.")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(10 * second)
	h.Want("a", "no need to send it again")
	h.Wait(60 * second)
	h.Want("a", "Here it is.")
	h.count("post", 1)
	h.count("edit", 1)
}

// newProcessEdits: a resumed run in a new process edits the message of the old one (N7).
func newProcessEdits(h *House) {
	h.Model.Play("429/45s", "ok:Here it is.")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(10 * second)
	h.Want("a", "no need to send it again")
	h.Stop()
	h.Wait(10 * second)
	h.Start()
	h.Wait(60 * second)
	h.Want("a", "Here it is.")
	h.count("post", 1)
}

// killedAfterPost: a kill between the platform's post and the store's commit makes no second copy (N8).
func killedAfterPost(h *House) {
	h.DieAt("posted")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(5 * second)
	h.Want("a", "answer")
	h.Stop()
	h.Wait(20 * second)
	h.Start()
	h.Wait(20 * second)
	h.Want("a", "answer")
	h.asked(1)
	h.delivered()
}

// killedAfterNotice: the same of a notice, which must then become the answer (N8, N7).
func killedAfterNotice(h *House) {
	h.Model.Play("429/45s", "ok:Here it is.")
	h.DieAt("posted")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(5 * second)
	h.Want("a", "no need to send it again")
	h.Stop()
	h.Wait(3 * time.Minute)
	h.Start()
	h.Wait(60 * second)
	h.Want("a", "Here it is.")
	h.delivered()
}

// delivered fails unless every post is out.
func (h *House) delivered() {
	h.T.Helper()
	for _, t := range h.Turns() {
		posts, err := h.Store.Posts(t.ID)
		if err != nil {
			h.T.Fatal(err)
		}
		for _, p := range posts {
			if p.State != "done" || p.Handle == "" {
				h.T.Errorf("post is %s with handle %q after %d tries: %s", p.State, p.Handle, p.Tries, p.Error)
			}
		}
	}
}

// lostAnswerOfPost: the platform has made the message, but its answer is lost: no second copy.
func lostAnswerOfPost(h *House) {
	h.Fake.Fault(Fault{Op: "post", Kind: "lost", Times: 1})
	h.Fake.Say("a", "alice", "hello")
	h.Wait(60 * second)
	h.Want("a", "answer")
	h.asked(1)
	h.delivered()
}

func lostAnswerOfEdit(h *House) {
	h.Model.Play("429/45s", "ok:Here it is.")
	h.Fake.Fault(Fault{Op: "edit", Kind: "lost", Times: 2})
	h.Fake.Say("a", "alice", "hello")
	h.Wait(2 * time.Minute)
	h.Want("a", "Here it is.")
	h.count("post", 1)
	h.delivered()
}

// limitedFinalEdit: five 429s on the final edit delay it; no model is asked again, and nothing is
// sent before the platform's time (N9).
func limitedFinalEdit(h *House) {
	h.Model.Play("429/45s", "ok:Here it is.")
	h.Fake.Fault(Fault{Op: "edit", Kind: "limited", After: 7 * second, Times: 5})
	h.Fake.Say("a", "alice", "hello")
	h.Wait(60 * second)
	h.Want("a", "no need to send it again")
	h.Wait(60 * second)
	h.Want("a", "Here it is.")
	h.asked(2)
	h.count("post", 1)
	h.count("edit", 6)
	h.delivered()
}

// platformDown: the answer waits and is delivered later, once (N9).
func platformDown(h *House) {
	h.Fake.Fault(Fault{Op: "post", Kind: "down", Times: 6})
	h.Fake.Say("a", "alice", "hello")
	h.Wait(20 * second)
	h.Want("a")
	h.Wait(5 * time.Minute)
	h.Want("a", "answer")
	h.asked(1)
	h.delivered()
}

// noticeDeleted: what was deleted during the wait is posted anew, once.
func noticeDeleted(h *House) {
	h.Model.Play("429/45s", "ok:Here it is.")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(10 * second)
	h.Want("a", "no need to send it again")
	h.Fake.Delete("a", 0)
	h.Wait(2 * time.Minute)
	h.Want("a", "Here it is.")
	h.count("post", 2)
	h.delivered()
}

// twoThreads: each answer goes where it was asked.
func twoThreads(h *House) {
	h.Model.Play("slow:to $said")
	h.Fake.Say("a", "alice", "one")
	h.Fake.Say("b", "bob", "two")
	h.Wait(40 * second)
	h.Want("a", "to one")
	h.Want("b", "to two")
}

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

// whileDown: what was said while no process ran is answered at the next start, once (S2).
func whileDown(h *House) {
	h.Fake.Say("a", "alice", "one")
	h.Wait(5 * second)
	h.Stop()
	h.Model.Play("ok:to $said")
	h.Fake.Say("b", "alice", "two")
	h.Wait(30 * time.Minute)
	h.Start()
	h.Wait(30 * second)
	h.Want("b", "to two")
	h.Stop()
	h.Start()
	h.Wait(30 * second)
	h.Want("a", "answer")
	h.Want("b", "to two")
	h.asked(2)
}

// stopped: "!stop" ends what waits, by a short word in the place of the notice.
func stopped(h *House) {
	h.Model.Play("429/45s", "ok:Here it is.")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(10 * second)
	h.Fake.Say("a", "alice", "!stop")
	h.Wait(2 * time.Minute)
	h.Want("a", "Stopped", "Stopped")
	h.asked(1)
}

// buttons: they act on their own turn and for the asker alone (R16).
func buttons(h *House) {
	h.Model.Play("503")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(60 * second)
	h.Want("a", "no need to send it again")
	before := len(h.Model.Asked())
	h.Fake.Press("a", 0, "bob", "Stop")
	h.Wait(second)
	if told := h.Fake.Told(); len(told) != 1 || !strings.Contains(told[0], "Only the person who asked") {
		h.T.Errorf("bob was told %q", told)
	}
	h.Fake.Press("a", 0, "alice", "Try now")
	h.Wait(second)
	if len(h.Model.Asked()) == before {
		h.T.Error("Try now did not try")
	}
	h.Fake.Press("a", 0, "alice", "Stop")
	h.Wait(10 * second)
	h.Want("a", "Stopped")
	asked := len(h.Model.Asked())
	h.Wait(10 * time.Minute)
	h.asked(asked)
}

// staleQuestion: an owed question that is old asks whether it is still wanted; Yes answers it, in the
// same message, and No drops it (R13), for the asker alone (R16).
func staleQuestion(h *House) {
	h.Model.Play("503")
	h.Fake.Say("a", "alice", "what is open?")
	h.Fake.Say("b", "alice", "and what is not?")
	h.Wait(2 * time.Hour)
	h.Want("a", "Still wanted?")
	h.Want("b", "Still wanted?")
	asked := len(h.Model.Asked())
	h.Model.Play("ok:Here it is.")
	h.Fake.Press("a", 0, "bob", "Yes")
	h.Wait(5 * time.Minute)
	if told := h.Fake.Told(); len(told) != 1 || !strings.Contains(told[0], "Only the person who asked") {
		h.T.Errorf("bob was told %q", told)
	}
	h.asked(asked)
	h.Fake.Press("a", 0, "alice", "Yes")
	h.Wait(10 * second)
	h.Want("a", "Here it is.")
	h.asked(asked + 1)
	h.Fake.Press("b", 0, "alice", "No")
	h.Wait(10 * second)
	h.Want("b", "Stopped")
	h.Wait(time.Hour)
	h.asked(asked + 1)
	h.delivered()
}

// changedQuestion: other words are what is answered, as long as nothing was; with the message its
// waiting turn goes too (S10).
func changedQuestion(h *House) {
	h.Model.Play("429/45s", "ok:to $said")
	h.Fake.Say("a", "alice", "helo")
	h.Wait(10 * second)
	h.Fake.Reword("hello")
	h.Wait(60 * second)
	if got := h.Want("a", "to hello"); strings.Contains(got[0].Text, "helo") {
		h.T.Errorf("the old words are answered: %q", got[0].Text)
	}
	h.Fake.Reword("goodbye") // too late
	h.Wait(10 * second)
	h.Want("a", "to hello")
	h.asked(2)
	h.Model.Play("429/45s", "ok:to $said")
	h.Fake.Say("b", "alice", "forget this")
	h.Wait(10 * second)
	if !h.Fake.Unsay() {
		return
	}
	h.Wait(2 * time.Minute)
	h.Want("b", "Stopped")
	h.asked(3)
}

// fileAlone: a file without words is a question, and its name is told, since it cannot be read (S10).
func fileAlone(h *House) {
	h.Model.Play("ok:about $said")
	h.Fake.SayFile("a", "alice", "plan.pdf")
	h.Wait(10 * second)
	h.Want("a", "plan.pdf")
	h.asked(1)
}

// workingSign: on while the model works and in the silent window, off with the answer and while a
// notice says what is waited for (P15); a park shows no error (P13).
func workingSign(h *House) {
	sign := func(want bool, when string) {
		h.T.Helper()
		if h.Fake.Working("a") != want {
			h.T.Errorf("the working sign is %v %s", !want, when)
		}
	}
	h.Model.Play("slow:done")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(15 * second)
	sign(true, "while the model works")
	h.Wait(15 * second)
	sign(false, "after the answer")
	h.Model.Play("429/20s", "429/5m", "slow:late")
	h.Fake.Say("a", "alice", "again")
	h.Wait(10 * second)
	h.Want("a", "done")
	sign(true, "in the silent window")
	h.Wait(60 * second)
	h.Want("a", "done", "no need to send it again")
	sign(false, "while the notice stands")
	h.Wait(10 * time.Minute)
	h.Want("a", "done", "late", "")
	sign(false, "at the end")
	if strings.Contains(h.log.String(), "ERROR") {
		h.T.Errorf("an error in the log:\n%s", &h.log)
	}
}

// failure: a terminal text replaces the notice (N5).
func failure(h *House) {
	h.Model.Play("429/45s", "400")
	h.Fake.Say("a", "alice", "hello")
	h.Wait(2 * time.Minute)
	h.Want("a", "annot answer")
	h.count("post", 1)
}
