package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Codes of Discord's errors that callers decide by.
const (
	UnknownMessage     = 10008
	MissingPermissions = 50013
	ThreadArchived     = 50083
)

// Error is an answer that refuses a call.
type Error struct {
	Call    string
	Status  int    // of HTTP
	Code    int    // Discord's own; 0 = none
	Message string // Discord's words; "" = none
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: Discord answers %d", e.Call, e.Status)
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Code != 0 {
		s += fmt.Sprintf(" (%d)", e.Code)
	}
	return s
}

// CodeOf is Discord's own code of an error; 0 = none.
func CodeOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return 0
}

// Refused tells whether an error is an answer that the same call will get again: a 4xx that is no
// limit and was not made up by a proxy, which gives no code with a 403.
func Refused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status < 500 && (e.Status != http.StatusForbidden || e.Code != 0)
}

// BadToken tells whether Discord does not take the token.
func BadToken(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusUnauthorized
}

// Limited is Discord's word, or our own count, that a call must wait. Nothing was done.
type Limited struct {
	Call  string
	After time.Duration // from now; > 0
	Scope string        // "user" | "global" | "shared": Discord's; "bucket" | "second": our own count
	Code  int           // Discord's own, if it is a limit with a name (30046)
}

func (l *Limited) Error() string {
	return fmt.Sprintf("%s: limited for %s (%s)", l.Call, l.After.Round(time.Millisecond), l.Scope)
}

// answered is nil for a 2xx, else what the answer says.
func answered(k call, resp *http.Response, body []byte) error {
	if resp.StatusCode < 300 {
		return nil
	}
	var said struct {
		Message    string          `json:"message"`
		Code       int             `json:"code"`
		RetryAfter float64         `json:"retry_after"` // seconds
		Global     bool            `json:"global"`
		Errors     json.RawMessage `json:"errors"`
	}
	_ = json.Unmarshal(body, &said) // a proxy answers with HTML
	if resp.StatusCode == http.StatusTooManyRequests {
		l := &Limited{Call: k.name, Scope: resp.Header.Get("X-RateLimit-Scope"), Code: said.Code}
		l.After = time.Duration(said.RetryAfter * float64(time.Second))
		if l.After <= 0 {
			l.After = seconds(resp.Header.Get("Retry-After"))
		}
		l.After = max(l.After, 10*time.Millisecond)
		if said.Global {
			l.Scope = "global"
		}
		return l
	}
	e := &Error{Call: k.name, Status: resp.StatusCode, Code: said.Code, Message: said.Message}
	if first := firstError(said.Errors); first != "" {
		e.Message += ": " + first
	}
	return e
}

// firstError finds the first of a form's errors, which stand at any depth under their field's name.
func firstError(raw json.RawMessage) string {
	var list []struct{ Code, Message string }
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	if json.Unmarshal(fields["_errors"], &list) == nil && len(list) > 0 {
		return list[0].Code + " " + list[0].Message
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if first := firstError(fields[name]); first != "" {
			return strings.TrimSpace(name + " " + first)
		}
	}
	return ""
}

// seconds reads a header's number of seconds; 0 if there is none.
func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}
