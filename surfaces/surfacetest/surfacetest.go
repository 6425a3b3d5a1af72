// Package surfacetest is what every chat surface must do, as tests that run against its own small
// fake of the platform: a real engine on a real store, with a model that follows a script, inside a
// bubble of fake time. So that the bubble's clock can move, a fake listens on Pipes and not on real
// sockets.
package surfacetest

import (
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine"
)

// Fake is a chat platform, as the suite needs it. Threads are called by names of the suite's: the
// first message in one begins it.
type Fake interface {
	// Surface makes one on this platform, as a new process would; its Name is the same each time.
	Surface() engine.Surface
	// Say lets a person say something that mentions the bot, with all the events that the platform
	// sends of it. It comes again, unchanged, when Again is called.
	Say(thread, person, text string)
	Again()
	// SayFile lets a person send a file with no words but that mention.
	SayFile(thread, person, name string)
	// Reword gives what was said last other words; Unsay deletes it, false if this platform does not
	// tell of that.
	Reword(text string)
	Unsay() bool
	// Shown lists the bot's messages in a thread that are there, oldest first.
	Shown(thread string) []Message
	// Delete takes away the i-th of these.
	Delete(thread string, i int)
	// Press lets a person press a button of the i-th, by its label; what only he is told is returned later by Told.
	Press(thread string, i int, person, label string)
	Told() []string
	// Fault makes calls go wrong.
	Fault(Fault)
	// Calls counts those that were made to "post" or "edit", failed ones included.
	Calls(op string) int
	// Working reports whether a thread shows that the bot is at work.
	Working(thread string) bool
	// Limit is how long a message may be, in UTF-16 units.
	Limit() int
	// Close ends everything that runs.
	Close()
}

// Message is one of the bot's, as people see it.
type Message struct {
	Text  string
	Pings []string // the persons and groups it notifies
	Edits int
}

// Fault is something that goes wrong.
type Fault struct {
	Op    string        // "post" | "edit"
	Kind  string        // "limited" (a 429), "down" (a 503, nothing done), "lost" (done, but the answer is lost)
	After time.Duration // limited: what the platform states
	Skip  int           // calls that go well first
	Times int           // how many go wrong
}

// Run runs the suite. make is called once in each bubble.
func Run(t *testing.T, make func(t *testing.T) Fake) {
	for name, test := range map[string]func(h *House){
		"Answer": answer, "EventTwice": eventTwice, "NoticeBecomesAnswer": noticeBecomesAnswer, "NewProcessEdits": newProcessEdits,
		"KilledAfterPost": killedAfterPost, "KilledAfterNotice": killedAfterNotice, "LostAnswerOfPost": lostAnswerOfPost, "LostAnswerOfEdit": lostAnswerOfEdit,
		"LimitedFinalEdit": limitedFinalEdit, "PlatformDown": platformDown, "NoticeDeleted": noticeDeleted, "TwoThreads": twoThreads,
		"LongAnswers": longAnswers, "OrderOfParts": orderOfParts, "Pings": pings, "LateMention": lateMention, "WhileDown": whileDown, "Stopped": stopped, "Buttons": buttons, "StaleQuestion": staleQuestion, "ChangedQuestion": changedQuestion, "FileAlone": fileAlone,
		"WorkingSign": workingSign, "Failure": failure,
	} {
		t.Run(name, func(t *testing.T) {
			In(t, make, func(h *House, _ Fake) { test(h) })
		})
	}
}

// In runs one test of a surface's own in a bubble, with a house over the fake that make makes.
func In[F Fake](t *testing.T, make func(t *testing.T) F, test func(h *House, f F)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := make(t)
		h := &House{T: t, Fake: f, Model: &Model{}, dir: t.TempDir()}
		defer f.Close()
		defer h.Stop()
		h.Start()
		test(h, f)
	})
}
