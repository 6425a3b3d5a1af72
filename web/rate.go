package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is a count per time, written "20/h" or "500/d". A count of 0 means no limit.
type Rate struct {
	N   int
	Per time.Duration // an hour or a day
}

// UnmarshalText reads the written form.
func (r *Rate) UnmarshalText(text []byte) error {
	count, per, _ := strings.Cut(strings.ReplaceAll(string(text), " ", ""), "/")
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 {
		return rateError(text)
	}
	switch per {
	case "h":
		*r = Rate{n, time.Hour}
	case "d":
		*r = Rate{n, 24 * time.Hour}
	default:
		return rateError(text)
	}
	return nil
}

// MarshalText writes it.
func (r Rate) MarshalText() ([]byte, error) {
	if r.Per == 24*time.Hour {
		return fmt.Appendf(nil, "%d/d", r.N), nil
	}
	return fmt.Appendf(nil, "%d/h", r.N), nil
}

func rateError(text []byte) error {
	return fmt.Errorf(`%q is not a rate; write a count per hour or day, for example "20/h" or "500/d"`, text)
}
