// Package command reads the body of POST /api/v1/commands: strictly, and into typed arguments, so
// that what reaches the engine has been checked once and in one place.
//
// A command is idempotent by its client-made id. Two bodies are the same if their Hash is: it is
// taken over the values, not the bytes, so the order of keys and white space do not matter.
package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a command.
const (
	MaxBody = 3 << 19 // bytes of a whole body
	MaxText = 1 << 20 // bytes of a message
	maxID   = 64
	maxName = 200 // characters of a title or of a target
)

// The commands that are carried out.
const (
	Send    = "message.send"
	Edit    = "message.edit"
	Stop    = "turn.stop"
	Resume  = "turn.resume"
	Cancel  = "turn.cancel"
	Again   = "turn.regenerate"
	Release = "hold.release"
	Ack     = "alert.ack"
	Decide  = "approval.decide"
	Pause   = "pause"
	Unpause = "unpause"
	Rename  = "chat.rename"
	Delete  = "chat.delete"
	Forget  = "memory.delete"

	RunSchedule    = "schedule.run"
	PauseSchedule  = "schedule.pause"
	DeleteSchedule = "schedule.delete" // of what a bot has set for itself
)

// Known lists every command by name, in the order of the documentation.
func Known() []string {
	return []string{
		Send, Stop, Resume, Cancel, Again, Edit, Release, Ack, RunSchedule, PauseSchedule, DeleteSchedule, Decide, Forget, Rename, Delete, Pause, Unpause,
	}
}

// Command is a body that has been understood. Of Message, Filter, Say, Text, Title, Allow and Paused only those are
// set that belong to Name.
type Command struct {
	ID        string // client-made, 1 to 64 of A-Za-z0-9_-
	Name      string
	Target    string
	IfVersion int64 // 0 = any
	Hash      []byte
	Message   Message // message.send
	Filter    *Filter // turn.resume, turn.cancel without a target
	Say       string  // turn.cancel: what the person is told
	Text      string  // message.edit: what the message now says
	Title     string  // chat.rename
	Allow     bool    // approval.decide
	Paused    bool    // schedule.pause
}

// Message is what a person says.
type Message struct {
	Bot  string // "" = the only one
	Chat string // "" = a new one
	Text string // not blank
}

// Error is a body that was not understood.
type Error struct {
	Code    string // "bad_command" | "unknown_command"
	Message string // for people: what is wrong and what to write
}

func (e *Error) Error() string { return e.Message }

func bad(format string, args ...any) error {
	return &Error{Code: "bad_command", Message: fmt.Sprintf(format, args...)}
}

// body is a command as it is written.
type body struct {
	ID        string          `json:"id"`
	Cmd       string          `json:"cmd"`
	Target    string          `json:"target"`
	IfVersion int64           `json:"if_version"`
	Args      json.RawMessage `json:"args"`
}

// Parse reads one command. Every error is an *Error.
func Parse(raw []byte) (Command, error) {
	var b body
	if err := strict(raw, &b); err != nil {
		return Command{}, bad("the command is not understood: %s", plain(err))
	}
	if !ValidID(b.ID) {
		return Command{}, bad(`"id" must be 1 to 64 of A-Z a-z 0-9 _ - , made by the client, new for every command`)
	}
	if err := known(b.Cmd); err != nil {
		return Command{}, err
	}
	if b.IfVersion < 0 {
		return Command{}, bad(`"if_version" must be a turn's version, or left out`)
	}
	if utf8.RuneCountInString(b.Target) > maxName {
		return Command{}, bad(`"target" is longer than %d characters`, maxName)
	}
	c := Command{ID: b.ID, Name: b.Cmd, Target: b.Target, IfVersion: b.IfVersion}
	hash, err := b.hash()
	if err != nil {
		return Command{}, bad(`"args" is not understood: %s`, plain(err))
	}
	c.Hash = hash
	if err := c.args(b.Args); err != nil {
		return Command{}, err
	}
	return c, nil
}

// known refuses a name that is not in the list.
func known(name string) error {
	if slices.Contains(Known(), name) {
		return nil
	}
	return &Error{Code: "unknown_command", Message: fmt.Sprintf("no command %q; known are %s", cut(name), strings.Join(Known(), ", "))}
}

// hash is over the values in a fixed order; Marshal sorts the keys of args.
func (b body) hash() ([]byte, error) {
	var args any
	if len(b.Args) > 0 {
		d := json.NewDecoder(bytes.NewReader(b.Args))
		d.UseNumber()
		if err := d.Decode(&args); err != nil {
			return nil, err
		}
	}
	canonical, err := json.Marshal([]any{b.Cmd, b.Target, b.IfVersion, args})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(canonical)
	return sum[:], nil
}

// ValidID says whether s can be the id of a command, a chat or any other object.
func ValidID(s string) bool {
	if s == "" || len(s) > maxID {
		return false
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return true
}

// strict decodes exactly one value without unknown fields.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows after its end")
	}
	return nil
}

// plain turns a decoder's error into words without the names of Go types.
func plain(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return "it must be an object, {…}"
		}
		return fmt.Sprintf("%q has the wrong type (%s)", wrong.Field, wrong.Value)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// cut keeps a strange name in an error text short.
func cut(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
