package surfacetest

import (
	"strings"
	"time"
)

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
