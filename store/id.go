package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// ID names a row for good: 41 bits of milliseconds since 2020-01-01 and 22 random bits, so ids
// sort by age, an insert lands at the end of its table, and a restored copy of the file never
// hands out an id again. Outside it is written as 13 characters of Crockford's base32, lower case.
type ID int64

const (
	idLength   = 13
	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	idRandom   = 22                  // random bits below the milliseconds
	idYear0    = Time(1577836800000) // 2020-01-01 UTC
)

// String is the id as people and JSON see it; the zero ID is "".
func (id ID) String() string {
	if id <= 0 {
		return ""
	}
	var b [idLength]byte
	for i := idLength - 1; i >= 0; i-- {
		b[i] = idAlphabet[id&31]
		id >>= 5
	}
	return string(b[:])
}

// ParseID reads what String wrote, in either letter case; anything else is ErrNotFound, since
// nothing can have that name.
func ParseID(s string) (ID, error) {
	bad := fmt.Errorf("id %.20q: %w", s, ErrNotFound)
	if len(s) != idLength || s[0] > '7' { // 13 × 5 bits are two more than an ID has
		return 0, bad
	}
	var id ID
	for i := range len(s) {
		v := idDigit(s[i])
		if v < 0 {
			return 0, bad
		}
		id = id<<5 | ID(v)
	}
	if id == 0 {
		return 0, bad
	}
	return id, nil
}

// idDigit is a digit's value, or -1. Crockford's look-alikes (i, l, o) are no second spelling here.
func idDigit(c byte) int {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	for v := range len(idAlphabet) {
		if idAlphabet[v] == c {
			return v
		}
	}
	return -1
}

// ids makes new ids, each above the one before, so that what happens within a millisecond or after
// a backward clock step still sorts in the order it was written.
type ids struct {
	mu   sync.Mutex
	last ID
}

// next makes an id for something that happens at a moment.
func (s *ids) next(at Time) ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := ID(max(at-idYear0, 0))<<idRandom | ID(rand.Uint32N(1<<idRandom))
	if id <= s.last {
		id = s.last + 1 + ID(rand.Uint32N(1<<10))
	}
	s.last = id
	return id
}

// Time is a wall-clock moment in milliseconds since 1970, as the tables keep it; 0 is "none".
type Time int64

// At turns a Go time into a Time, cutting what is finer than a millisecond.
func At(t time.Time) Time { return Time(t.UnixMilli()) }

// Go is the moment as a Go time in UTC.
func (t Time) Go() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Add moves a moment by d, rounded up to whole milliseconds so that nothing is ever due early.
func (t Time) Add(d time.Duration) Time {
	return t + Time((d+time.Millisecond-1)/time.Millisecond)
}

// Sub is the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// MarshalJSON writes RFC 3339 in UTC with milliseconds, and null for none.
func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(t.Go().Format("2006-01-02T15:04:05.000Z"))
}
