package web

import (
	"fmt"
	"sync"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// limits count what visitors say: each in the hour or day that lies behind, by person and by address,
// and all together. They are counted in memory, and after a start from the store (addresses are not
// kept, so those begin anew).
type limits struct {
	each, all Rate

	mu     sync.Mutex
	loaded bool
	said   map[string][]time.Time // who → when, oldest first
	swept  time.Time
}

// everybody is where in said all visitors together stand.
const everybody = "*"

func newLimits(each, all Rate) *limits {
	return &limits{each: each, all: all, said: map[string][]time.Time{}}
}

// load counts what was said before the start.
func (l *limits) load(st *store.Store, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loaded {
		return nil
	}
	spoke, err := st.SpokenOnWeb(store.At(now.Add(-max(l.each.Per, l.all.Per))))
	if err != nil {
		return err
	}
	for _, p := range spoke {
		if isVisitor(p.Person) {
			for _, who := range []string{p.Person, everybody} {
				l.said[who] = append(l.said[who], p.At.Go())
			}
		}
	}
	l.loaded = true
	return nil
}

// take counts one message of a person from an address, or says when the next may come.
func (l *limits) take(person, address string, now time.Time) (until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	counted := []string{person, "@" + address, everybody}
	for _, who := range counted {
		rate := l.rate(who)
		l.forget(who, now)
		if said := l.said[who]; rate.N > 0 && len(said) >= rate.N {
			if next := said[len(said)-rate.N].Add(rate.Per); next.After(until) {
				until = next
			}
		}
	}
	if until.IsZero() {
		for _, who := range counted {
			l.said[who] = append(l.said[who], now)
		}
	}
	return until
}

// giveBack uncounts a message that was not taken after all.
func (l *limits) giveBack(person, address string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, who := range []string{person, "@" + address, everybody} {
		for i, t := range l.said[who] {
			if t.Equal(at) {
				l.said[who] = append(l.said[who][:i:i], l.said[who][i+1:]...)
				break
			}
		}
	}
}

func (l *limits) rate(who string) Rate {
	if who == everybody {
		return l.all
	}
	return l.each
}

// forget drops what lies behind the window of one.
func (l *limits) forget(who string, now time.Time) {
	said := l.said[who]
	for len(said) > 0 && now.Sub(said[0]) >= l.rate(who).Per {
		said = said[1:]
	}
	if l.said[who] = said; len(said) == 0 {
		delete(l.said, who)
	}
}

// sweep forgets those who have not come back, now and then.
func (l *limits) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for who := range l.said {
		l.forget(who, now)
	}
}

// overLimit is what a visitor is told: as in a turn that finds everything busy.
func (s *Server) overLimit(until, now time.Time) *problem {
	p := &problem{status: 429, code: "limit", message: engine.Busy, until: store.At(until)}
	if until.Sub(now) > time.Minute {
		at := until.Add(time.Minute - 1).Truncate(time.Minute).In(s.location)
		layout := "15:04"
		if at.YearDay() != now.In(s.location).YearDay() {
			layout = "2006-01-02 15:04"
		}
		p.message = fmt.Sprintf("Out of capacity until %s; the question stays in the box.", at.Format(layout))
	}
	return p
}
