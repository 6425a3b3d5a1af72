package tool

import (
	"context"
	"errors"
)

// Mistake is what was wrong with a call, in words by which a model can do better. A built-in that
// returns one has done nothing.
type Mistake string

func (m Mistake) Error() string { return string(m) }

// act is a built-in tool.
type act struct {
	spec Spec
	do   func(context.Context, Call) (Result, error)
}

func (a act) Spec() Spec                                                  { return a.spec }
func (a act) Call(ctx context.Context, c Call) (result Result, err error) { return a.do(ctx, c) }

// doing reads a call's arguments and gives what comes of it its form.
func doing[A any](f func(context.Context, Call, A) (string, error)) func(context.Context, Call) (Result, error) {
	return func(ctx context.Context, c Call) (Result, error) {
		var args A
		if err := arguments(c.Arguments, &args); err != nil {
			return Result{Text: err.Error(), Failed: true}, nil
		}
		text, err := f(ctx, c, args)
		if m, ok := errors.AsType[Mistake](err); ok {
			return Result{Text: m.Error(), Failed: true}, nil
		}
		return Result{Text: text}, err
	}
}
