package demo

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// fault is one thing the demo does wrong. The zero value is health.
type fault struct {
	kind  string    // "" | "cut" | "idle" | "reset" | a status in digits
	left  int       // so many requests more; < 0 = until healed
	until time.Time // a moment instead of a count
}

// faults is what the demo has been told.
type faults struct {
	fault
	armed map[string]bool // messages that have armed and wait for their answer: sent again, they do not arm again
}

// verdict is what becomes of one request.
type verdict struct {
	say   string // to be said instead of an answer
	text  string // to be answered
	meets fault
}

// judge reads a user's message at one request; place tells a message sent again from a new one of
// the same words, and again a further try by a daemon. What has joined a message since it armed changes nothing.
func (f *faults) judge(text, place string, again bool, now time.Time) verdict {
	command, before, after, ok := findCommand(text)
	switch {
	case !ok:
		return verdict{text: text, meets: f.meet(now)}
	case command == "!heal":
		f.fault = fault{}
		return verdict{say: "Healed: I answer again, and turns that wait for me come through on their own.",
			text: strings.TrimSpace(withoutFault(before) + "\n" + after)}
	}
	wanted, question, ok := parseFault(after, now)
	if !ok {
		return verdict{say: faultUsage}
	}
	if question == "" {
		f.fault = wanted
		return verdict{say: wanted.announce()}
	}
	line, _, _ := strings.Cut(text[len(before):], "\n")
	key := place + "\n" + before + line
	if !f.armed[key] && !again {
		if f.armed == nil || len(f.armed) > 1000 {
			f.armed = map[string]bool{}
		}
		f.armed[key] = true
		f.fault = wanted
	}
	v := verdict{text: question, meets: f.meet(now)}
	if v.meets.kind == "" {
		delete(f.armed, key)
	}
	return v
}

// reply is what is said to a request that is answered.
func (v verdict) reply(now time.Time) reply {
	switch {
	case v.say == "":
		return answer(v.text, now)
	case v.text == "":
		return reply{text: v.say}
	}
	r := answer(v.text, now)
	return reply{text: v.say + "\n\n" + r.text, slow: r.slow}
}

// meet counts a request against the fault and gives what it meets.
func (f *faults) meet(now time.Time) fault {
	over := f.left == 0
	if !f.until.IsZero() {
		over = !now.Before(f.until)
	}
	if over {
		f.fault = fault{}
		return fault{}
	}
	met := f.fault
	if f.left > 0 {
		f.left--
	}
	return met
}

// findCommand looks for !heal and !fail at the start of a line, also behind a speaker's name. !heal
// goes before !fail, so that a message which joined a failing one heals it.
func findCommand(text string) (command, before, after string, ok bool) {
	for _, command := range []string{"!heal", "!fail"} {
		at := 0
		for line := range strings.Lines(text) {
			rest := strings.TrimSpace(line)
			if name, said, ok := strings.Cut(rest, ": "); ok && len(name) <= 40 && !strings.HasPrefix(rest, "!") {
				rest = said
			}
			word, tail, _ := strings.Cut(rest, " ")
			if strings.EqualFold(word, command) {
				return command, text[:at], strings.TrimSpace(tail + "\n" + text[at+len(line):]), true
			}
			at += len(line)
		}
	}
	return "", "", "", false
}

// withoutFault is the question of a message that may begin with !fail.
func withoutFault(text string) string {
	command, before, after, ok := findCommand(text)
	if !ok || command != "!fail" {
		return text
	}
	_, question, _ := parseFault(after, time.Time{})
	return strings.TrimSpace(before + "\n" + question)
}

// parseFault reads what follows !fail: a kind, then a count or a duration, then a question.
func parseFault(s string, now time.Time) (f fault, question string, ok bool) {
	kind, rest := cutWord(s)
	f.kind = strings.ToLower(kind)
	switch status, err := strconv.Atoi(f.kind); {
	case err == nil && status >= 400 && status <= 599:
		f.left = -1
	case f.kind == "cut", f.kind == "idle", f.kind == "reset":
		f.left = 1
	default:
		return fault{}, s, false
	}
	word, tail := cutWord(rest)
	if n, err := strconv.Atoi(word); err == nil && n > 0 && n <= 100_000 {
		f.left, rest = n, tail
	} else if d, err := time.ParseDuration(word); err == nil && d > 0 && d <= 31*24*time.Hour {
		f.until, rest = now.Add(d), tail
	}
	return f, rest, true
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

const faultUsage = "I did not understand that. Say `!fail 503 3`, `!fail 429 45s`, `!fail cut`, `!fail idle` or `!fail reset`, and `!heal` to end it."

// announce is one sentence: what is armed, and what there is to watch.
func (f fault) announce() string {
	var what string
	switch f.kind {
	case "cut":
		what = "break off in the middle of " + f.many("answer")
	case "idle":
		what = "say a few words and then fall silent in " + f.many("answer")
	case "reset":
		what = "have " + f.many("connection") + " reset before a word is said"
	default:
		what = "answer " + f.many("request") + " with " + f.kind
	}
	watch := "send me a message and watch it wait, show why, and be answered all the same"
	switch {
	case !f.until.IsZero() && f.kind == "429":
		watch = "send me a message and watch it wait exactly that long, even if you stop the daemon meanwhile"
	case f.left < 0:
		watch = "send me a message, watch it wait, and say `!heal` in another chat when you have seen enough"
	}
	return "Armed: I will " + what + "; " + watch + "."
}

// many says how often.
func (f fault) many(noun string) string {
	switch {
	case !f.until.IsZero():
		return "every " + noun + " until " + f.until.Format("15:04:05")
	case f.left < 0:
		return "every " + noun + " until you say `!heal`"
	case f.left == 1:
		return "the next " + noun
	}
	return fmt.Sprintf("the next %d %ss", f.left, noun)
}

// refuses reports whether the request gets no answer at all.
func (f fault) refuses() bool { return f.kind != "" && f.kind != "cut" && f.kind != "idle" }

// refuse carries that out: a reset, or the status in the words of the wire.
func (f fault) refuse(w http.ResponseWriter, now time.Time) {
	status, err := strconv.Atoi(f.kind)
	if err != nil {
		reset(w)
		return
	}
	if !f.until.IsZero() {
		seconds := (f.until.Sub(now) + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	kind, text := "invalid_request_error", "The demo was told to refuse this request."
	switch {
	case status == http.StatusUnauthorized:
		kind, text = "authentication_error", "The demo was told not to accept any key."
	case status == http.StatusPaymentRequired:
		kind, text = "insufficient_quota", "The demo was told that its account is empty."
	case status == http.StatusTooManyRequests:
		kind, text = "requests", "Rate limit reached: the demo was told to be busy."
	case status == http.StatusServiceUnavailable:
		kind, text = "server_error", "The demo is overloaded, as it was told to be."
	case status >= 500:
		kind, text = "server_error", "The demo was told to fail."
	}
	writeError(w, status, kind, text)
}

// reset closes the connection without an answer, with a TCP reset where there is TCP.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
