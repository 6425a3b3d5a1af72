package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Builtin are the names that a bot's list of tools may hold without an [[mcp]] section.
func Builtin() []string { return []string{"fetch", "files", "memory", "schedule", "send", "time"} }

// plainly is doing for tools whose every error is one that the model should know.
func plainly[A any](f func(context.Context, Call, A) (string, error)) func(context.Context, Call) (Result, error) {
	return doing(func(ctx context.Context, c Call, args A) (string, error) {
		text, err := f(ctx, c, args)
		if err != nil && ctx.Err() == nil {
			err = Mistake(Cut(err.Error(), MaxResult))
		}
		return text, err
	})
}

// arguments reads what the model has given, which may be nothing at all; a wrong type is said in words that
// it can mend.
func arguments(given json.RawMessage, into any) error {
	if len(bytes.TrimSpace(given)) == 0 {
		return nil
	}
	if err := json.Unmarshal(given, into); err != nil {
		return fmt.Errorf("the arguments are not understood: %w", err)
	}
	return nil
}

// page is at most size bytes of a text from a place on, whole characters only, and a line that says how
// to go on if there is more.
func page(text string, from, size int) (string, error) {
	if from < 0 || from > len(text) || from == len(text) && from > 0 {
		return "", fmt.Errorf("offset %d is not in the text, which has %d bytes", from, len(text))
	}
	from = whole(text, from)
	end := whole(text, from+size)
	if end == len(text) {
		return text[from:], nil
	}
	return text[from:end] + fmt.Sprintf("\n[bytes %d to %d of %d; go on with offset %d]", from, end, len(text), end), nil
}
