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

// Known tells whether a command was carried out before: ErrDuplicate with its stored result,
// ErrCommandReused, or nil. The facts ask it again in their own transaction; this is for callers that
// would otherwise refuse a repeated command for what the first one has changed.
func (s *Store) Known(c *Command) error {
	return s.read(func(r *conn) error { return r.known(c) })
}
