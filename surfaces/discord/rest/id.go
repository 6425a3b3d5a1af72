package rest

import (
	"cmp"
	"strconv"
	"time"
)

// epoch is where Discord's ids begin to count, in ms since 1970.
const epoch = 1420070400000

// Later compares two ids, which are numbers that grow with time.
func Later(a, b string) bool { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) > 0 }

// IDAt is the least id of a message made at t.
func IDAt(t time.Time) string { return strconv.FormatInt(max(t.UnixMilli()-epoch, 0)<<22, 10) }

// MadeAt is when an id was made; the zero time if it is none.
func MadeAt(id string) time.Time {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n>>22 + epoch)
}
