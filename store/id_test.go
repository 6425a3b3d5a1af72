package store

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestIDText(t *testing.T) {
	for _, c := range []struct {
		id   ID
		text string
	}{
		{0, ""},
		{1, "0000000000001"},
		{31, "000000000000z"},
		{32, "0000000000010"},
		{math.MaxInt64, "7zzzzzzzzzzzz"},
		{ID(t0-idYear0)<<idRandom | 5, "0d2s000000005"},
	} {
		if c.id != 0 && len(c.id.String()) != 13 {
			t.Errorf("%d is %q: not 13 characters", c.id, c.id)
		}
		if c.id <= 1<<20 || c.id == math.MaxInt64 {
			if got := c.id.String(); got != c.text {
				t.Errorf("%d is %q, want %q", c.id, got, c.text)
			}
		}
		if c.id == 0 {
			continue
		}
		for _, text := range []string{c.id.String(), strings.ToUpper(c.id.String())} {
			if got, err := ParseID(text); err != nil || got != c.id {
				t.Errorf("ParseID(%q) = %d, %v", text, got, err)
			}
		}
	}
}

func TestParseIDRefuses(t *testing.T) {
	for _, text := range []string{
		"", "0", "0000000000000", "8000000000000", "zzzzzzzzzzzzz", "000000000001", "00000000000001",
		"000000000000i", "000000000000l", "000000000000o", "000000000000u", "000000000000-", " 000000000001", "00000000000é", "turn", strings.Repeat("1", 1000),
	} {
		if id, err := ParseID(text); !errors.Is(err, ErrNotFound) || id != 0 {
			t.Errorf("ParseID(%q) = %d, %v", text, id, err)
		}
	}
}

func TestIDsSortByAge(t *testing.T) {
	var s ids
	last := ID(0)
	for i := range 20000 {
		at := t0 + Time(i/5000) // many in a millisecond
		if i > 15000 {
			at = t0 - 3_600_000 // the clock steps back
		}
		id := s.next(at)
		if id <= last {
			t.Fatalf("id %d after %d", id, last)
		}
		if back, err := ParseID(id.String()); err != nil || back != id {
			t.Fatalf("round trip of %d: %d, %v", id, back, err)
		}
		last = id
	}
	if got := Time(s.next(t0+10_000)>>idRandom) + idYear0; got != t0+10_000 {
		t.Errorf("an id of %d tells of %d", t0+10_000, got)
	}
	if id := new(ids).next(0); id <= 0 {
		t.Errorf("id without a time is %d", id)
	}
}

func TestTime(t *testing.T) {
	at := At(time.Date(2027, 1, 15, 8, 0, 0, 999999, time.UTC))
	if b, err := at.MarshalJSON(); err != nil || string(b) != `"2027-01-15T08:00:00.000Z"` {
		t.Errorf("%s %v", b, err)
	}
	if b, err := Time(0).MarshalJSON(); err != nil || string(b) != "null" {
		t.Errorf("%s %v", b, err)
	}
	if got := at.Add(time.Nanosecond); got != at+1 {
		t.Errorf("a moment is due early: %d", got-at)
	}
	if at.Add(1500*time.Millisecond).Sub(at) != 1500*time.Millisecond {
		t.Error("Add and Sub differ")
	}
}
