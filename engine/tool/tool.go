// Package tool is what a bot can do besides talk.
//
// A Tool is called by the engine, which journals every call before it is made and its result after:
// a call that has resulted is never made again, and one that was cut off is repeated only if its Spec
// says that this does no harm.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrNotMade is wrapped by the error of a call that surely has not reached its tool: nothing has happened.
var ErrNotMade = errors.New("the call was not made")

// Tool is one thing that a bot can do.
type Tool interface {
	Spec() Spec
	// Call does it. What went wrong in a way that the model should know is a Result with Failed; an error
	// says the same of a tool that could not be reached or has broken down. After ctx has ended it
	// returns soon, and whoever does the work has been told to stop.
	Call(ctx context.Context, c Call) (Result, error)
}

// Set is what one name in a bot's list of tools stands for: a built-in, or all tools of a server.
type Set interface {
	// Tools are those that can be called now. A server that has not answered yet is waited for, at
	// most 10 s and no longer than ctx; the error says in plain words why it has none.
	Tools(ctx context.Context) ([]Tool, error)
}

// Spec is a tool as it shows itself.
type Spec struct {
	Name        string          // as the model calls it: 1 to 64 of A-Za-z0-9_-
	Title       string          // for people; "" = Name
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	ReadOnly    bool            // changes nothing
	Idempotent  bool            // a second call with the same arguments changes nothing more
	Destructive bool            // may delete or overwrite
	Approve     string          // "never" | "writes" | "always": which calls a person approves first; "" = never
	Timeout     time.Duration   // of a call; 0 = DefaultTimeout
}

// DefaultTimeout is what a call gets.
const DefaultTimeout = 2 * time.Minute

// MaxResult is how many bytes of a result go to the model; what is longer is cut, and says so.
const MaxResult = 32 << 10

// Repeatable reports whether a call that was cut off may be made again.
func (s Spec) Repeatable() bool { return s.ReadOnly || s.Idempotent }

// NeedsApproval reports whether a person approves a call before it is made.
func (s Spec) NeedsApproval() bool {
	return s.Approve == "always" || s.Approve == "writes" && !s.ReadOnly
}

// Call is one call of a tool.
type Call struct {
	Key       string          // the same for every try of this call, and for no other: an idempotency key
	Arguments json.RawMessage // as the model gave them: not checked against the schema
	By        Caller
	Progress  func(text string) // what people may see of it meanwhile; nil = nobody looks
}

// Caller is on whose behalf a tool is called.
type Caller struct {
	Bot          string
	Person       string // who asked, as the surface names people
	Surface      string
	Channel      string
	Thread       string
	Conversation string // id
	Turn         string // id
	Visitor      bool   // somebody without a login
}

// Result is what a call has come to.
type Result struct {
	Text   string // for the model
	Failed bool
}

// Fixed is a set that is always there.
type Fixed []Tool

// Tools are its tools.
func (f Fixed) Tools(context.Context) ([]Tool, error) { return f, nil }
