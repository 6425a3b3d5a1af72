// Package llm says what a model is: one send, its stream of events, and what its failures mean.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Provider speaks one wire to one service. Safe for concurrent use.
type Provider interface {
	// Prepare fixes the bytes of a send, so that every resend sends the same (T8).
	Prepare(Request) (Prepared, error)
	// Stream sends it once, one HTTP request, never repeated here, and yields what comes. The
	// last pair carries the error, a *Failure for whatever the provider or the network did; a
	// stream without an error ends with a Finish event. Cancelling ctx ends it with class canceled.
	// Breaking off the range ends the request.
	Stream(context.Context, Prepared) iter.Seq2[Event, error]
}

// Request is one logical model call.
type Request struct {
	Model    string // without the provider
	Messages []Message
	Tools    []Tool
	Params   map[string]any // as the wire names them
}

// Message is one entry of the context.
type Message struct {
	Role   string // "system" | "user" | "assistant" | "tool"
	Text   string
	Calls  []Call // assistant: the tool calls it made
	CallID string // tool: the call it answers
}

// Tool is a function the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments
}

// Call is a tool call of the model. Arguments are always valid JSON: a model that writes something
// else has its text there as a JSON string, and no arguments are {}.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Prepared is a send whose bytes are fixed.
type Prepared struct {
	Model string
	Body  []byte
}

// Event is one thing that comes on the stream; exactly one field is set.
type Event struct {
	Head   *Head   // the answer's headers have come
	Text   string  // more text of the answer
	Call   *Call   // a whole tool call
	Finish *Finish // the terminal event
}

// Head is what the response's headers said.
type Head struct {
	Status    int
	RequestID string
}

// Finish is how a complete answer ended.
type Finish struct {
	Reason    string // "stop" | "length" | "tool_calls", as the wire's words map
	TokensIn  int64  // 0 = not told
	TokensOut int64
}

// Class is what kind a failure is; corpus README gives the order of the questions.
type Class string

const (
	Canceled     Class = "canceled"
	Quota        Class = "quota"
	TooLarge     Class = "too_large"
	Auth         Class = "auth"
	Refused      Class = "refused"
	RateLimit    Class = "rate_limit"
	Overloaded   Class = "overloaded"
	Timeout      Class = "timeout"
	Server       Class = "server"
	Network      Class = "network"
	Unclassified Class = "unclassified"
)

// Failure is a classified provider failure. Its Error is fit for an operator's log: no key, no URL with a key.
type Failure struct {
	Class       Class
	Transient   bool
	Status      int           // 0 without an HTTP answer
	Stated      time.Duration // the wait it states
	HasStated   bool          // 0 is a statement
	Begun       bool          // the headers of a 200 had come
	Silent      bool          // our own first-byte or idle limit ran out
	Certificate bool          // a certificate or scheme error
	Loading     bool          // overloaded: the model is still being loaded
	NoRetry     bool          // marked not to be retried (x-should-retry: false)
	Limit       int64         // too_large: the stated limit in tokens, 0 = none stated
	RequestID   string
	Text        string // the provider's words in one line, at most 300 characters, secrets removed
}

// Answer is what a client saw of a failed request; Classify reads it.
type Answer struct {
	Status int                 // 0: no HTTP answer
	Header map[string][]string // canonical or not
	Body   []byte
	Stream []string // status 200: the raw lines so far, without line ends
	End    string   // how the stream stopped: "eof" | "reset" | "idle"; "" = not a stream
	Err    error    // no usable answer: the client's error
	Now    time.Time
}

// Config is a [provider.NAME] section.
type Config struct {
	Wire             string            `toml:"wire"`
	BaseURL          string            `toml:"base_url"`
	APIKey           string            `toml:"api_key" secret:"true"`
	FirstByteTimeout time.Duration     `toml:"first_byte_timeout"`
	IdleTimeout      time.Duration     `toml:"idle_timeout"`
	Concurrency      int               `toml:"concurrency"`
	DailyRequests    int               `toml:"daily_requests"`
	Headers          map[string]string `toml:"headers"`
}
