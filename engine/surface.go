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
	// Run keeps the line alive until ctx ends.
	Run(ctx context.Context) error
	// Post makes a message and returns the platform's handle. p.Handle is empty; p.Tries > 0 says that an earlier try may have gone through.
	Post(ctx context.Context, to Place, p store.Post) (handle string, err error)
	// Edit gives the message p.Handle its new text.
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
	Local bool                      // a stored post is a shown post: nothing to deliver
	Limit int                       // characters of one message; 0 = no limit
	Clock func(t store.Time) string // how a moment stands in its messages; nil = plain local time
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
	Lane    string         // "" = durable
	Command *store.Command // web: makes it idempotent by command id
}
