package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/slack-go/slack"
)

// Limited says that nothing was done, and when to try again: by Slack's word, or by the pace that is
// kept here.
type Limited struct {
	After time.Duration
	Err   error
}

func (l *Limited) Error() string { return l.Err.Error() }
func (l *Limited) Unwrap() error { return l.Err }

// Verdict is what an error means.
type Verdict int

// Verdicts.
const (
	Unsure Verdict = iota // it may have been done: look before it is done again
	Later                 // nothing was done; it is a Limited
	Mend                  // nothing was done, and nothing will before somebody has done what Advice says
	Never                 // nothing was done: the message or the place is gone, or the form will not get better
)

// limitedFor is the wait after a limit that names none.
const limitedFor = 30 * time.Second

// Judge reads an error of Once or Update, and gives it a form that says what to do.
func Judge(err error) (Verdict, error) {
	if _, ok := errors.AsType[*Limited](err); ok {
		return Later, err
	}
	if l, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return Later, &Limited{After: max(l.RetryAfter, time.Second), Err: err}
	}
	switch why := reason(err); why {
	case "", "internal_error", "fatal_error", "request_timeout", "service_unavailable", "update_failed":
		return Unsure, err
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return Later, &Limited{After: limitedFor, Err: err}
	default:
		if a := advice("bot_token", why) + blocked(why); a != "" {
			return Mend, fmt.Errorf("%w: %s", err, a)
		}
		return Never, err
	}
}

// Passing tells whether an error may be gone at the next try; one that is not Slack's own may.
func Passing(err error) bool {
	verdict, _ := Judge(err)
	return err != nil && (verdict == Unsure || verdict == Later)
}
