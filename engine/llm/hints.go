package llm

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait is the longest stated wait that is believed.
const longestWait = 31 * 24 * time.Hour

// waits gathers what an answer states.
type waits struct {
	now      time.Time
	limited  bool            // the answer is a 429
	binding  []time.Duration // credible
	fallback []time.Duration // reset headers that bind only if nothing else does
}

// wait is the longest credible wait that binds; ok is false if none is stated.
func (r *reading) wait(header map[string][]string, now time.Time) (time.Duration, bool) {
	w := &waits{now: now, limited: r.http == 429 || r.status() == 429}
	w.headers(header)
	for _, set := range r.headers {
		h := map[string][]string{}
		for _, f := range set {
			h[f.name] = append(h[f.name], texts(f.value)...)
		}
		w.headers(h)
	}
	for _, f := range r.fields {
		w.field(f)
	}
	for _, s := range r.said {
		w.text(s)
	}
	bound := w.binding
	if len(bound) == 0 {
		bound = w.fallback
	}
	longest := time.Duration(-1)
	for _, d := range bound {
		longest = max(longest, d)
	}
	return max(longest, 0), longest >= 0
}

// add takes a wait in seconds if it is credible, rounded up to a millisecond.
func (w *waits) add(to *[]time.Duration, seconds float64, ok bool) {
	if !ok || math.IsNaN(seconds) || seconds < 0 || seconds > longestWait.Seconds() {
		return
	}
	*to = append(*to, time.Duration(math.Ceil(seconds*1000-1e-6))*time.Millisecond)
}

// headers reads one set of headers, names in small letters.
func (w *waits) headers(h map[string][]string) {
	for name, values := range h {
		for _, v := range values {
			v = strings.TrimSpace(v)
			switch {
			case name == "retry-after-ms" || name == "x-ms-retry-after-ms":
				ms, ok := decimal(v)
				w.add(&w.binding, ms/1000, ok)
			case name == "retry-after":
				s, ok := decimal(v)
				if !ok {
					s, ok = w.date(v)
				}
				w.add(&w.binding, s, ok)
			default:
				if counter, ok := counterOf(name); ok {
					w.reset(v, first(h[counter]))
				}
			}
		}
	}
}

// date reads an HTTP date in one of its three forms; one already past is 0.
func (w *waits) date(v string) (seconds float64, ok bool) {
	t, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	return w.until(t), true
}

// until is the wait up to a moment; one already past is now.
func (w *waits) until(t time.Time) float64 { return max(t.Sub(w.now).Seconds(), 0) }

// counterOf gives the header with the remaining count that belongs to a reset header.
func counterOf(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "x-ratelimit-reset"); ok {
		return "x-ratelimit-remaining" + rest, true
	}
	if rest, ok := strings.CutPrefix(name, "ratelimit-reset"); ok {
		return "ratelimit-remaining" + rest, true
	}
	if strings.HasPrefix(name, "anthropic-ratelimit-") {
		if limit, ok := strings.CutSuffix(name, "-reset"); ok {
			return limit + "-remaining", true
		}
	}
	return "", false
}

// reset takes a reset header: it binds if its counter is at 0, or on a 429 if there is no counter;
// on a 429 with room left it is a last resort; with any other answer it says nothing.
func (w *waits) reset(value, counter string) {
	left, known := decimal(strings.TrimPrefix(strings.TrimSpace(counter), "-"))
	if strings.HasPrefix(strings.TrimSpace(counter), "-") {
		left = 0
	}
	seconds, ok := w.moment(value)
	switch {
	case known && left == 0, !known && w.limited:
		w.add(&w.binding, seconds, ok)
	case w.limited:
		w.add(&w.fallback, seconds, ok)
	}
}

// moment reads the value of a reset header: a bare number (below 10⁹ seconds from now, below 10¹¹
// seconds since 1970, else milliseconds since 1970), a duration, or an RFC 3339 time.
func (w *waits) moment(v string) (seconds float64, ok bool) {
	if n, ok := decimal(v); ok {
		switch {
		case n < 1e9:
			return n, true
		case n < 1e11:
			return w.epoch(n), true
		}
		return w.epoch(n / 1000), true
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(v)); err == nil {
		return w.until(t), true
	}
	seconds, rest, ok := duration(v)
	return seconds, ok && rest == ""
}

// epoch is the wait up to a moment in seconds since 1970; a moment beyond all calendars is not credible.
func (w *waits) epoch(seconds float64) float64 {
	now := float64(w.now.UnixNano()) / 1e9
	return max(math.Round((seconds-now)*1e6)/1e6, 0)
}

// isHeaderHint reports whether a member of a body is a header's name that may state a wait.
func isHeaderHint(name string) bool {
	switch name {
	case "retry-after", "retry-after-ms", "x-ms-retry-after-ms":
		return true
	}
	return strings.HasPrefix(name, "x-ratelimit-") || strings.HasPrefix(name, "ratelimit-") || strings.HasPrefix(name, "anthropic-ratelimit-")
}

// isBodyHint reports whether a member of a body states a wait under a name of its own.
func isBodyHint(name string) bool {
	switch name {
	case "retrydelay", "retry-delay", "estimated-time", "resets-in-seconds", "resets-at", "retry-after-seconds":
		return true
	}
	return false
}

// field reads a value of the body.
func (w *waits) field(f field) {
	switch v := f.value.(type) {
	case float64:
		if f.name == "resets-at" {
			w.add(&w.binding, w.epoch(v), v > 0 && v < 1e11)
			return
		}
		w.add(&w.binding, v, true)
	case string:
		w.fieldText(f.name, strings.TrimSpace(v))
	case map[string]any: // a duration of protobuf written out
		s, ok := v["seconds"].(float64)
		if !ok {
			s, ok = decimal(first(texts(v["seconds"])))
		}
		nanos, _ := v["nanos"].(float64)
		w.add(&w.binding, s+nanos/1e9, ok)
	}
}

func (w *waits) fieldText(name, v string) {
	n, isNumber := decimal(v)
	switch {
	case name == "resets-at" && isNumber:
		w.add(&w.binding, w.epoch(n), n < 1e11)
	case name == "resets-at":
		t, err := time.Parse(time.RFC3339, v)
		w.add(&w.binding, w.until(t), err == nil)
	case isNumber:
		w.add(&w.binding, n, true)
	default:
		seconds, rest, ok := duration(v)
		w.add(&w.binding, seconds, ok && rest == "")
	}
}

// decimal reads digits with at most one point; nothing else is a number here.
func decimal(v string) (float64, bool) {
	digits := strings.Replace(v, ".", "", 1)
	if digits == "" || len(v) > 40 || strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, false
	}
	n, err := strconv.ParseFloat(v, 64)
	return n, err == nil
}

// texts is a JSON value as the header values it stands for.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, texts(e)...)
		}
		return all
	}
	return nil
}
