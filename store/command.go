package store

// Command makes a fact idempotent: it is stored in the fact's own transaction. If its ID is known
// with the same Hash nothing is written, Duplicate is set, Turn, Chat and Seq hold what was stored,
// and the method returns ErrDuplicate; with another Hash it returns ErrCommandReused. With any other
// error the stored fields mean nothing.
type Command struct {
	ID        string // client-made, at most 64 characters
	Hash      []byte // of the body
	At        Time
	Turn      ID     // stored result, filled in by the store: the turn it made or acted on
	Chat      string // likewise: outside id of the chat
	Seq       int64  // likewise: the change that tells of it
	Duplicate bool   // set by the store
}
