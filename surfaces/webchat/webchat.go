// Package webchat is the built-in web page as a place where people talk.
//
// Nothing has to be delivered: what is in the store is what the page shows, so a stored post is a
// shown post. What people write comes in as commands over HTTP; only what cannot be stored goes
// through here, the text of an answer while it streams.
package webchat

import (
	"context"

	"holdfast/engine"
	"holdfast/store"
)

// Sink shows open pages what is not stored. Its methods return at once.
type Sink interface {
	// Draft is the text so far of a turn's answer.
	Draft(chat string, turn store.ID, text string)
	// Working is told when a request of the turn begins, and when its work ends.
	Working(chat string, turn store.ID, on bool)
}

// Surface implements engine.Surface.
type Surface struct{ sink Sink }

// New makes the surface of the pages behind sink.
func New(sink Sink) *Surface { return &Surface{sink} }

// Name is "web".
func (*Surface) Name() string { return "web" }

// Traits: nothing to deliver, no limit.
func (*Surface) Traits() engine.Traits { return engine.Traits{Local: true} }

// Run has no line to keep alive.
func (*Surface) Run(ctx context.Context, _ *engine.Engine) error {
	<-ctx.Done()
	return nil
}

// Post has nothing to do: the post is in the store. Its handle is its own id.
func (*Surface) Post(_ context.Context, _ engine.Place, p store.Post) (string, error) {
	return p.ID.String(), nil
}

// Edit has nothing to do either.
func (*Surface) Edit(context.Context, engine.Place, store.Post) error { return nil }

// Working shows or hides the sign that a turn is being worked on.
func (s *Surface) Working(to engine.Place, turn store.ID, on bool) {
	s.sink.Working(to.Channel, turn, on)
}

// Draft shows the text so far.
func (s *Surface) Draft(to engine.Place, turn store.ID, text string) {
	s.sink.Draft(to.Channel, turn, text)
}
