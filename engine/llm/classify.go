package llm

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// Classify is the one place where a failure is read (L2). The questions are asked in a fixed order,
// canceled first and unclassified last; what the body names goes before the bare status, its
// machine words before its text, a specific word before a generic one, and of errors wrapped in
// each other the innermost is read first. A stated wait is found in every class.
func Classify(a Answer) *Failure {
	if a.Now.IsZero() {
		a.Now = time.Now()
	}
	if a.Status == 0 {
		return classifyNetwork(a.Err)
	}
	header := lowerHeader(a.Header)
	r := reading{http: a.Status}
	var f *Failure
	if a.End != "" || a.Stream != nil {
		f = r.stream(a)
	} else {
		f = r.whole(a.Body, header)
	}
	f.Status = a.Status
	f.Stated, f.HasStated = r.wait(header, a.Now)
	f.NoRetry = strings.EqualFold(strings.TrimSpace(first(header["x-should-retry"])), "false")
	f.Transient = transient(f.Class) && !f.NoRetry
	f.Begun = a.Status == 200
	f.RequestID = ""
	if f.Class == TooLarge {
		f.Limit = r.limit()
	}
	f.Loading = f.Class == Overloaded && r.loading()
	f.Text = scrub(oneLine(r.text()))
	return f
}

// reading is what has been found in an answer.
type reading struct {
	http    int       // status of the answer
	layers  []layer   // errors wrapped in each other, the outermost first
	said    []string  // every text that may state a wait
	fields  []field   // values of the body that state a wait
	headers [][]field // headers repeated inside the body, each set with its own counters
}

// layer is one error.
type layer struct {
	names   []string // machine words, folded
	texts   []string // words for people
	status  int      // a numeric code that is an HTTP status, 0 = none
	windows []string // names of limits
	limit   int64    // a limit in tokens given as a number
}

// field is one named value.
type field struct {
	name  string // lower case, with hyphens
	value any    // string, float64, or a list of them
}

// whole classifies an answer in one piece.
func (r *reading) whole(body []byte, header map[string][]string) *Failure {
	isError := r.unwrap(body)
	for _, v := range header["x-amzn-errortype"] {
		r.name(v)
	}
	switch {
	case r.http == 499:
		return &Failure{Class: Canceled}
	case r.http < 300 && !isError && r.badFinish(body):
		return &Failure{Class: finishClass(r.layers[0].names[0])}
	case r.http >= 200 && r.http < 300 && !isError && isCut(body):
		return &Failure{Class: Network}
	case r.http < 200, r.http >= 300 && r.http < 400, r.http < 300 && !isError, r.http >= 600:
		return &Failure{Class: Unclassified}
	}
	return &Failure{Class: r.class()}
}

// name adds a machine word that stands outside the body.
func (r *reading) name(word string) {
	if len(r.layers) == 0 {
		r.layers = append(r.layers, layer{})
	}
	l := &r.layers[len(r.layers)-1]
	l.names = append(l.names, fold(word))
}

// class asks the layers, then the status, then the generic names.
func (r *reading) class() Class {
	for i := len(r.layers) - 1; i >= 0; i-- {
		l := r.layers[i]
		status := l.status
		if status == 0 {
			status = r.statusAt(i)
		}
		if status == 499 {
			return Canceled
		}
		if c := r.named(l, status); c != "" {
			return heavier(c, status)
		}
	}
	status := r.status()
	if c := byStatus(status); c != "" {
		return c
	}
	for i := len(r.layers) - 1; i >= 0; i-- {
		for _, n := range r.layers[i].names {
			if c, w := nameClass(n); w == generic {
				return c
			}
		}
	}
	return Server // an error that has no name, no known words and no status: it failed inside
}

// named is the class that a layer names: words without doubt, then the text of the classes that no
// waiting heals, then the other words, then the rest of the text.
func (r *reading) named(l layer, status int) Class {
	var plainly Class
	for _, n := range l.names {
		c, w := nameClass(n)
		if w == certain && (plainly == "" || before(c, plainly)) {
			plainly = c
		}
	}
	if plainly != "" {
		return plainly
	}
	for _, n := range l.names {
		if c, w := nameClass(n); w == plain && (plainly == "" || before(c, plainly)) {
			plainly = c
		}
	}
	t := words(l.texts)
	switch {
	case r.quotaText(t, l, plainly):
		return Quota
	case tooLargeText(t, status):
		return TooLarge
	case placeText(t):
		return Refused
	case authText(t, status):
		return Auth
	case refusedText(t, status):
		return Refused
	case plainly == "" && overLong(t, status):
		return TooLarge
	case plainly == Quota:
		return RateLimit // a quota over a window, or quotaText had said so
	case plainly != "":
		return plainly
	}
	return transientText(t, status)
}

// heavier keeps the statuses that no waiting heals from being read as a passing trouble.
func heavier(c Class, status int) Class {
	switch {
	case status == 402 && (transient(c) || c == TooLarge || c == Refused):
		return Quota
	case status == 413 && transient(c):
		return TooLarge
	}
	return c
}

// status is the status that counts.
func (r *reading) status() int { return r.statusAt(len(r.layers) - 1) }

// statusAt is the status that counts for a layer: the nearest code around it that says more than
// that something is wrong; the answer's own is the outermost.
func (r *reading) statusAt(i int) int {
	nearest := 0
	for ; i >= 0; i-- {
		switch s := r.layers[i].status; {
		case s == 400 || s == 500:
			nearest = cmp.Or(nearest, s)
		case s != 0 && (s != 502 || nearest == 0):
			return s
		}
	}
	if nearest != 0 && (byStatus(r.http) == "" || r.http == 400 || r.http == 500 || r.http == 502) {
		return nearest
	}
	return r.http
}

// byStatus is the class of a bare status; "" = a success says nothing.
func byStatus(status int) Class {
	switch status {
	case 402:
		return Quota
	case 413:
		return TooLarge
	case 401, 403, 407:
		return Auth
	case 429:
		return RateLimit
	case 503, 529, 498:
		return Overloaded
	case 408, 504, 522, 524:
		return Timeout
	case 409:
		return Server
	case 499:
		return Canceled
	}
	switch {
	case status >= 400 && status < 500:
		return Refused
	case status >= 500 && status < 600:
		return Server
	}
	return ""
}

// transient reports whether a class passes by itself.
func transient(c Class) bool {
	switch c {
	case RateLimit, Overloaded, Timeout, Server, Network:
		return true
	}
	return false
}

// before reports whether a is asked before b.
func before(a, b Class) bool { return rank(a) < rank(b) }

func rank(c Class) int {
	for i, known := range []Class{Canceled, Quota, TooLarge, Auth, Refused, RateLimit, Overloaded, Timeout, Server, Network} {
		if c == known {
			return i
		}
	}
	return 100
}

// text is what the innermost error that says something says.
func (r *reading) text() string {
	for i := len(r.layers) - 1; i >= 0; i-- {
		for _, t := range r.layers[i].texts {
			if strings.TrimSpace(t) != "" {
				return t
			}
		}
	}
	for i := len(r.layers) - 1; i >= 0; i-- {
		if n := r.layers[i].names; len(n) > 0 {
			return n[0]
		}
	}
	return ""
}

// classifyNetwork reads the error of a client that got no usable answer.
func classifyNetwork(err error) *Failure {
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	f := &Failure{Class: Network, Text: scrub(oneLine(withoutAddress(err.Error())))}
	text := lowerASCII(err.Error())
	switch {
	case certificate(err, text):
		f.Certificate = true
		return f
	case has(text, "proxy authentication required"):
		f.Class = Auth
	case has(text, "client.timeout", "deadline exceeded", "i/o timeout", "timed out", "handshake timeout", "timeout awaiting",
		"did not properly respond after a period of time") ||
		errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		f.Class = Timeout
	case errors.Is(err, context.Canceled), has(text, "context canceled", "request canceled", "operation was canceled"):
		f.Class = Canceled
	}
	f.Transient = transient(f.Class)
	return f
}
