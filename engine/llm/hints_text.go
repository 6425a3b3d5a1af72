package llm

import (
	"math"
	"strings"
	"time"
)

// text finds the waits that a sentence states: a duration or a date behind one of a few phrases.
// Nothing else counts, in particular no other number.
func (w *waits) text(s string) {
	if len(s) > 64<<10 {
		s = s[:64<<10]
	}
	low := lowerASCII(s)
	for _, phrase := range []string{"try again in", "try again after", "retry in", "retry after", "retry-after",
		"regain access on", "resets at"} {
		from := 0
		for range 32 {
			i := strings.Index(low[from:], phrase)
			if i < 0 {
				break
			}
			from += i + len(phrase)
			w.behind(low[from:], s[from:])
		}
	}
}

// behind reads what stands behind a phrase.
func (w *waits) behind(low, original string) {
	skip := len(low) - len(strings.TrimLeft(low, " \t\r\n:=`'\"*"))
	low, original = low[skip:], original[skip:]
	for _, vague := range []string{"about ", "approximately ", "around ", "at least ", "~", "another "} {
		low = strings.TrimPrefix(low, vague)
	}
	if seconds, _, ok := duration(low); ok {
		w.add(&w.binding, seconds, true)
		return
	}
	if t, ok := dateIn(original); ok {
		w.add(&w.binding, w.until(t), true)
	}
}

// duration reads numbers with units, one after the other: "20ms", "1.2s", "6m0s", "7 seconds",
// "1 hour and 5 minutes". rest is what follows. Small letters.
func duration(s string) (seconds float64, rest string, ok bool) {
	for {
		s = strings.TrimLeft(s, " ")
		number, after := digits(s)
		n, isNumber := decimal(strings.ReplaceAll(number, ",", ""))
		if !isNumber {
			return seconds, s, ok
		}
		unit, tail := letters(strings.TrimLeft(after, " "))
		size, known := unitSeconds(unit)
		if !known {
			return seconds, s, ok
		}
		seconds, ok = seconds+n*size, true
		if math.IsInf(seconds, 0) {
			return 0, "", false
		}
		s = tail
		next := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(s, " "), ","), " ")
		if next = strings.TrimPrefix(next, "and "); startsDigit(next) {
			s = next
		}
	}
}

// digits cuts a number off, with a point or with commas between thousands.
func digits(s string) (number, rest string) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || (s[i] == '.' || s[i] == ',') && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9') {
		i++
	}
	return s[:i], s[i:]
}

func letters(s string) (word, rest string) {
	i := 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 0x80) {
		i++
	}
	return s[:i], s[i:]
}

func startsDigit(s string) bool {
	s = strings.TrimLeft(s, " ")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

func unitSeconds(unit string) (float64, bool) {
	switch unit {
	case "ns", "nanosecond", "nanoseconds":
		return 1e-9, true
	case "us", "µs", "μs", "microsecond", "microseconds":
		return 1e-6, true
	case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds":
		return 1e-3, true
	case "s", "sec", "secs", "second", "seconds":
		return 1, true
	case "m", "min", "mins", "minute", "minutes":
		return 60, true
	case "h", "hr", "hrs", "hour", "hours":
		return 3600, true
	case "d", "day", "days":
		return 86400, true
	case "w", "wk", "wks", "week", "weeks":
		return 7 * 86400, true
	}
	return 0, false
}

// dateIn reads a date and time at the start of a text, as long a one as there is.
func dateIn(s string) (time.Time, bool) {
	if len(s) > 80 {
		s = s[:80]
	}
	fields := strings.Fields(strings.NewReplacer(" at ", " ", " on ", " ", "(", " ", ")", " ").Replace(s))
	for n := min(len(fields), 7); n > 0; n-- {
		words, zone := cutZone(fields[:n])
		text := strings.TrimRight(strings.Join(words, " "), ".,;:!")
		for _, layout := range dateLayouts() {
			if t, err := time.ParseInLocation(layout, text, zone); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// cutZone takes the name of a zone off the end; without one it is UTC.
func cutZone(words []string) ([]string, *time.Location) {
	last := strings.ToUpper(strings.TrimRight(words[len(words)-1], ".,;:!"))
	hours, known := map[string]int{"UTC": 0, "GMT": 0, "Z": 0, "PST": -8, "PDT": -7, "MST": -7, "EST": -5, "EDT": -4, "CET": 1, "CEST": 2}[last]
	if !known || len(words) == 1 {
		return words, time.UTC
	}
	return words[:len(words)-1], time.FixedZone(last, hours*3600)
}

func dateLayouts() []string {
	return []string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700",
		"2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02 15:04Z07:00", "2006-01-02", "2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02",
		"Mon, 02 Jan 2006 15:04:05", "Mon, 2 Jan 2006 15:04:05", "Monday, 02-Jan-06 15:04:05",
		"Mon Jan _2 15:04:05 2006", "Mon Jan 2 15:04:05 2006",
		"January 2, 2006 15:04:05", "January 2, 2006 15:04", "January 2, 2006 3:04 PM", "January 2, 2006, 15:04",
		"January 2, 2006, 3:04 PM", "January 2, 2006",
		"Jan 2, 2006 15:04:05", "Jan 2, 2006 15:04", "Jan 2, 2006 3:04 PM", "Jan 2, 2006, 15:04",
		"Jan 2, 2006, 3:04 PM", "Jan 2, 2006",
		"2 January 2006 15:04:05", "2 January 2006 15:04", "2 January 2006", "2 Jan 2006 15:04:05",
		"2 Jan 2006 15:04", "2 Jan 2006",
	}
}
