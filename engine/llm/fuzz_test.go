package llm

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// checkSane is what holds for every reading of every answer.
func checkSane(t *testing.T, f *Failure) {
	t.Helper()
	if f.Stated < 0 || f.Stated > longestWait || !f.HasStated && f.Stated != 0 {
		t.Errorf("states %v, %v", f.Stated, f.HasStated)
	}
	if rank(f.Class) == 100 && f.Class != Unclassified {
		t.Errorf("class %q", f.Class)
	}
	if f.Transient && (!transient(f.Class) || f.NoRetry || f.Certificate) {
		t.Errorf("transient: %+v", f)
	}
	if !utf8.ValidString(f.Text) || utf8.RuneCountInString(f.Text) > 300 || strings.ContainsAny(f.Text, "\n\r") {
		t.Errorf("text %q", f.Text)
	}
	if f.Limit < 0 || f.Error() == "" || f.Plain() == "" {
		t.Errorf("%+v", f)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"0", "-1", "1.5", "1e9", "Sun, 29 Nov 2026 12:00:45 GMT", "6m0s", "1795953660000", "2026-11-29T12:00:45Z", "NaN", "99999999999999999999"} {
		f.Add(s, "0")
	}
	f.Fuzz(func(t *testing.T, value, counter string) {
		for _, name := range []string{"Retry-After", "retry-after-ms", "X-RateLimit-Reset-Tokens", "anthropic-ratelimit-tokens-reset"} {
			a := Answer{Status: 429, Now: noon, Header: map[string][]string{name: {value}, "x-ratelimit-remaining-tokens": {counter}}}
			got := Classify(a)
			checkSane(t, got)
			if got.Class != RateLimit {
				t.Errorf("class %s", got.Class)
			}
		}
	})
}

func FuzzHintText(f *testing.F) {
	for _, s := range []string{"Please try again in 1h2m3.5s.", "retry after 7 seconds", "regain access on 2026-12-01 at 00:00 UTC", "resets at December 1, 2026 3:04 PM", "try again in a few minutes", "retry in 1,258 s and 5 ms"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w := &waits{now: noon, limited: true}
		w.text(s)
		for _, d := range w.binding {
			if d < 0 || d > longestWait {
				t.Errorf("%q states %v", s, d)
			}
		}
		if len(w.binding) > 0 && !strings.ContainsAny(s, "0123456789") {
			t.Errorf("%q states %v without a number", s, w.binding)
		}
	})
}

func FuzzClassify(f *testing.F) {
	for _, c := range readCorpus(f) {
		f.Add(c.Status, c.Body, strings.Join(c.Stream, "\n"), c.End, c.Headers["retry-after"])
	}
	for _, v := range variations() {
		f.Add(v.status, v.body, "", "", "")
	}
	f.Fuzz(func(t *testing.T, status int, body, stream, end, after string) {
		a := Answer{Status: status, Body: []byte(body), End: end, Now: noon, Header: map[string][]string{"Retry-After": {after}}}
		if end != "" {
			a.Stream = strings.Split(stream, "\n")
		}
		if status == 0 {
			a.Err = errors.New(body)
		}
		begin := time.Now()
		got := Classify(a)
		checkSane(t, got)
		if again := Classify(a); *again != *got {
			t.Errorf("read twice: %+v, %+v", got, again)
		}
		if took := time.Since(begin); took > 2*time.Second && len(body)+len(stream) < 1<<16 {
			t.Errorf("took %v", took)
		}
	})
}

// FuzzDump: a dump that is read never lies outside its text, and JSON is read as encoding/json does.
func FuzzDump(f *testing.F) {
	f.Add(`Error: {'error': {'code': 429, 'x': None, "y": [1, 2, True]}}`)
	f.Add(`b'{\n "a": "b"}'`)
	f.Add(`{{{[[[("`)
	f.Fuzz(func(t *testing.T, s string) {
		_, before, ok := findDump(s)
		if ok && !strings.HasPrefix(s, before) {
			t.Errorf("%q before %q", before, s)
		}
	})
}
