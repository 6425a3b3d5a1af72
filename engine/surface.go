package engine

import (
	"context"

	"holdfast/store"
)

// Surface is where people talk. What comes in it hands to Engine.Receive; what goes out the engine
// hands to it, one call at a time per conversation.
type Surface interface {
	// Name is its address: "web", "slack/NAME", "discord/NAME".
	Name() string
	// Traits say what the platform can do.
	Traits() Traits
	// Run keeps the line alive until ctx ends; what comes in goes to e.Receive, and is acknowledged
	// to the platform only after that has returned. It returns early only if the line can never
	// come up again (a revoked token); e.SurfaceState tells people how it stands.
	Run(ctx context.Context, e *Engine) error
	// Post makes a message of p.Text as it is and returns the platform's handle. p.Tries > 0 says
	// that an earlier try, of this process or one that has died, may have gone through: look for it
	// first where the platform lets one. Errors: *RetryAfter, ErrGone (the place is no more), or
	// any other, after which it is tried again.
	Post(ctx context.Context, to Place, p store.Post) (handle string, err error)
	// Edit gives the message p.Handle the text p.Text. ErrGone if that message can never be edited
	// again: one new post takes its place.
	Edit(ctx context.Context, to Place, p store.Post) error
	// Working shows or hides the sign that a turn is being worked on. Best effort, returns at once.
	Working(to Place, turn store.ID, on bool)
	// Draft shows the text so far of an answer that streams. Best effort, returns at once.
	Draft(to Place, turn store.ID, text string)
}

// Place is a conversation as a surface addresses it.
type Place struct {
	Conversation store.ID
	Bot          string
	Channel      string
	Thread       string
}

// Traits are the differences between platforms that the engine acts by.
type Traits struct {
	Local   bool                           // a stored post is a shown post: nothing to deliver
	Split   func(markdown string) []string // an answer as the platform's messages, in order, at least one; the first may become an edit. nil = one message of Markdown
	Clock   func(t store.Time) string      // how a moment stands in its messages; nil = plain local time
	Mention func(persons []string) string  // a short message that mentions them, since an edit notifies nobody; nil = edits do
}

// Incoming is one inbound thing on its way to become a turn.
type Incoming struct {
	Bot     string
	Surface string
	Channel string
	Thread  string
	Title   string
	Key     string // the platform's own id of the event, unique per bot
	Kind    string // "message" | "tick" | "wake" | "button"; "" = message
	Person  string
	Name    string
	Text    string
	Dropped []string       // names of files and the like that came with it and that the model cannot read
	At      store.Time     // when the platform says it was sent; 0 = now
	Lane    string         // "" = durable
	Trusted bool           // the owner at the page or the API: no limits
	Own     bool           // web: only into a chat that Person has begun, or a new one; store.ErrNotFound else
	Command *store.Command // web: makes it idempotent by command id

	supersedes store.ID     // see again.go
	calls      []askedCall  // that the turn begins with, and
	decided    *decidedStep // the person's word on them; see unknown.go
	tick       *store.Tick  // the schedule that sends it
	repeatOf   store.ID     // its last turn, if that is not done
}
