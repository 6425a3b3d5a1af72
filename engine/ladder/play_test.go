package ladder

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const model = "p/m"

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// kinds of failures
func status(code int) Failure {
	f := Failure{Class: "server", Status: code, Transient: true}
	switch code {
	case 429:
		f.Class = "rate_limit"
	case 503:
		f.Class = "overloaded"
	case 408, 504:
		f.Class = "timeout"
	}
	return f
}

func (f Failure) stating(d time.Duration) Failure {
	f.Stated, f.HasStated = d, true
	return f
}

func network() Failure { return Failure{Class: "network", Transient: true} }

func fatal(class string, code int) Failure { return Failure{Class: class, Status: code} }

// settings is Default with changes.
func settings(change ...func(*Config)) Config {
	c := Default()
	for _, f := range change {
		f(&c)
	}
	return c
}

func plain(c *Config)     { c.Resends = 0 } // one request per send
func noPark(c *Config)    { c.Park = false }
func noRearm(c *Config)   { c.Rearm = nil }
func notOwed(c *Config)   { c.Owed = false }
func early(c *Config)     { c.StatedWaitEarly = true }
func neverDown(c *Config) { c.GateAfter = 0 }

// player carries the decisions for one turn out as an engine would, on a clock that jumps to the
// end of each wait.
type player struct {
	t       *testing.T
	c       Config
	s       Situation
	gate    Gate
	e       Episode
	r       Run
	name    string
	asked   bool // the request on its way asks at the gate
	begin   time.Time
	longest time.Duration // a turn's remaining time
}

func play(t *testing.T, c Config) *player {
	return &player{t: t, c: c, name: "turn", begin: epoch, longest: time.Hour,
		s: Situation{Now: epoch, Model: model, Durable: true, CanRearm: true}}
}

// fail lets the request fail, carries the decision out, and tells it in one line.
func (p *player) fail(f Failure) Decision {
	p.t.Helper()
	p.e.Requests++
	p.s.Remaining = p.longest
	p.s.LastRequest = p.e.Last(p.c)
	p.s.Asked = p.asked
	d, gate := Judge(p.gate, p.name, f, p.e, p.r, p.s, p.c)
	p.gate, p.e, p.r = gate, d.Episode, d.Run
	p.s.Now = p.s.Now.Add(d.Wait)
	p.s.Resends = 0
	switch d.Do {
	case Resend:
		p.s.Resends = d.N
		p.s.Waited += d.Wait
	case Rearm:
		p.r, p.s.OneShot, p.s.Rearms = Run{}, true, d.N
	case Owe:
		p.r, p.s.OneShot, p.s.Owed = Run{}, true, true
		p.s.Now = p.s.Now.Add(p.c.GateCap)
	case Park:
		p.r = Run{}
	}
	p.asked = gate.Asking && d.Do != Resend
	return d
}

// told is a decision in one line.
func told(d Decision) string {
	out := []string{string(d.Do)}
	if d.Rung != "" {
		out = append([]string{d.Rung}, out...)
	}
	if d.From != "" || d.Wait > 0 {
		out = append(out, d.Wait.String(), d.From)
	}
	if d.N > 0 {
		out = append(out, fmt.Sprintf("%d/%d", d.N, d.Max))
	}
	if d.Cooldown > 0 {
		out = append(out, "cooldown", d.Cooldown.String())
	}
	if d.Why != "" {
		out = append(out, d.Why)
	}
	return strings.Join(out, " ")
}

// expect lets the same failure happen again and again.
func (p *player) expect(f Failure, want ...string) *player {
	p.t.Helper()
	for i, w := range want {
		if got := told(p.fail(f)); got != w {
			p.t.Fatalf("failure %d (%s %d) at %v: %q, want %q", i+1, f.Class, f.Status, p.s.Now.Sub(p.begin), got, w)
		}
	}
	return p
}

// waits lets the same failure happen n times and gives the waits of one action.
func (p *player) waits(f Failure, n int, of Action) (out []time.Duration) {
	for range n {
		if d := p.fail(f); d.Do == of {
			out = append(out, d.Wait)
		}
	}
	return out
}

func seconds(n ...int) (out []time.Duration) {
	for _, s := range n {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

func same(t *testing.T, what string, got, want []time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}
