package surfacetest

import (
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
