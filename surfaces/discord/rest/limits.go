package rest

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	perSecond   = 45   // calls of one bot in a second; Discord allows 50
	bucketsKept = 2000 // more are looked through for stale ones
)

// limits counts calls as Discord does. A route's bucket has a name that is known after its first
// answer; several routes may share one. With it goes the channel: each has a count of its own.
type limits struct {
	mu      sync.Mutex
	names   map[string]string // by method and route
	buckets map[string]*bucket
	closed  time.Time // the global limit's end
	second  time.Time // the second being counted …
	spent   int       // … and its calls
}

// bucket is one count.
type bucket struct {
	limit, left int
	flying      int       // sent, not answered
	reset       time.Time // when left becomes limit again; zero = nothing is known yet
}

// landed counts one as answered; it may have left under the bucket's earlier name.
func (b *bucket) landed() { b.flying = max(0, b.flying-1) }

func newLimits() limits {
	return limits{names: map[string]string{}, buckets: map[string]*bucket{}}
}

// of finds the bucket of a call. limits.mu is held.
func (l *limits) of(k call) *bucket {
	name := k.method + k.route
	if known := l.names[name]; known != "" {
		name = known
	}
	name += " " + k.major
	b := l.buckets[name]
	if b == nil {
		b = &bucket{}
		l.buckets[name] = b
	}
	return b
}

// take counts a call that is about to be sent; if it must not be, it says for how long and why.
func (l *limits) take(k call, now time.Time) (wait time.Duration, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune(now)
	b := l.of(k)
	if b.left <= 0 && now.Before(b.reset) {
		return b.reset.Sub(now), "bucket"
	}
	if !k.free {
		if now.Before(l.closed) {
			return l.closed.Sub(now), "global"
		}
		if now.Sub(l.second) >= time.Second {
			l.second, l.spent = now, 0
		}
		if l.spent >= perSecond {
			return l.second.Add(time.Second).Sub(now), "second"
		}
		l.spent++
	}
	if !b.reset.IsZero() && !now.Before(b.reset) {
		b.left, b.reset = b.limit-b.flying, time.Time{}
	}
	b.left--
	b.flying++
	return 0, ""
}

// lost is told that a call had no answer.
func (l *limits) lost(k call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(k).landed()
}

// learn reads the headers of an answer; limited is what a 429 said. A limit with a code of its own
// (too many edits of old messages, slow mode) is not the bucket's.
func (l *limits) learn(k call, h http.Header, limited *Limited, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of(k)
	b.landed()
	switch {
	case limited != nil && limited.Scope == "global":
		l.closed = now.Add(limited.After)
	case limited != nil && limited.Code == 0:
		b.left, b.reset = 0, now.Add(limited.After)
	case limited == nil && h.Get("X-RateLimit-Bucket") != "":
		l.names[k.method+k.route] = h.Get("X-RateLimit-Bucket")
		named := l.of(k)
		if named != b {
			named.flying += b.flying
		}
		named.limit, _ = strconv.Atoi(h.Get("X-RateLimit-Limit"))
		left, _ := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
		named.left, named.reset = left-named.flying, now.Add(seconds(h.Get("X-RateLimit-Reset-After")))
	}
}

// prune forgets buckets that have filled up again. limits.mu is held.
func (l *limits) prune(now time.Time) {
	if len(l.buckets) < bucketsKept {
		return
	}
	for name, b := range l.buckets {
		if b.flying == 0 && now.After(b.reset) {
			delete(l.buckets, name)
		}
	}
}
