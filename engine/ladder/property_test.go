package ladder

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// storm draws failures and settings. What it finds is told by its seed.
type storm struct{ *rand.Rand }

func (s storm) pick(d ...time.Duration) time.Duration { return d[s.IntN(len(d))] }

func (s storm) odds(n int) bool { return s.IntN(n) == 0 }

func (s storm) failure() Failure {
	codes := []int{429, 500, 503, 504, 408}
	f := status(codes[s.IntN(len(codes))])
	switch s.IntN(12) {
	case 0:
		f = network()
	case 1:
		f.Status, f.Begun = 200, true
	case 2:
		f = Failure{Class: "timeout", Transient: true, Silent: true}
	}
	if s.odds(3) {
		f = f.stating(s.pick(0, time.Millisecond, time.Second, 9*time.Second, 45*time.Second, 4*time.Minute, 20*time.Minute, 3*time.Hour))
	}
	return f
}

func (s storm) config() Config {
	c := settings()
	c.Resends, c.Waits, c.MaxParks = s.IntN(4), s.IntN(5), s.IntN(12)
	c.ResendLongest = s.pick(0, time.Second, 2*time.Second)
	c.Park, c.Owed = !s.odds(4), !s.odds(3)
	c.ParkHorizon = s.pick(0, time.Minute, 15*time.Minute)
	c.StatedWaitMode = []string{"hold", "horizon", "end"}[s.IntN(3)]
	c.GateAfter = s.IntN(4)
	c.MaxRequests = s.IntN(60)
	if s.odds(3) {
		c.Rearm = nil
	}
	if s.odds(3) { // settings need not be whole milliseconds, waits must
		odd := 1500 * time.Microsecond
		c.ResendBase, c.WaitBase, c.ParkBase, c.Rearm = odd, odd, odd, []time.Duration{odd}
	}
	return c
}

func (s storm) situation(p *player) {
	p.s.Durable, p.s.FailFast, p.s.CanRearm, p.s.Rearms = !s.odds(5), s.odds(5), !s.odds(5), s.IntN(4)
	p.longest = s.pick(time.Minute, time.Hour)
}

// Whatever happens to one turn: no wait is shorter than what was stated or ends inside a hold, the
// requests of an episode stay below the ceiling, the parks within horizon and number, and it comes
// to an end or is owed.
func TestAnyOutage(t *testing.T) {
	for seed := range uint64(4000) {
		s := storm{rand.New(rand.NewPCG(seed, 7))}
		c := s.config()
		p := play(t, c)
		s.situation(p)
		for n := 0; ; n++ {
			if n > 2000 {
				t.Fatalf("seed %d: no end", seed)
			}
			p.s.FallbackOK = s.odds(8)
			before, gate := p.s.Now, p.gate
			f := s.failure()
			d := p.fail(f)
			if !checked(p, f, d, before, gate) {
				t.Fatalf("seed %d, failure %d: %s after %+v\n%+v\n%+v", seed, n, told(d), f, p.s, c)
			}
			if d.Do == End || d.Do == Owe {
				break
			}
			if d.Do == Fallback {
				p.s.Model, p.gate, p.asked = p.s.Model+"'", Gate{}, false
			}
		}
	}
}

func checked(p *player, f Failure, d Decision, before time.Time, gate Gate) bool {
	c := p.c
	waits := d.Do == Resend || d.Do == Wait || d.Do == Park || d.Do == Rearm
	hold := p.gate.HoldUntil
	switch {
	case d.Wait%time.Millisecond != 0, waits != (d.Wait > 0 && d.Do != Owe), (d.From == "") != (d.Wait == 0):
		return false
	case waits && (d.Wait < f.Stated || before.Add(d.Wait).Before(hold)):
		return false
	case hold.Before(gate.HoldUntil): // shortened
		return false
	case c.MaxRequests > 0 && waits && p.e.Requests >= c.MaxRequests:
		return false
	case d.Do == Park && (p.e.Parks > c.MaxParks || d.From == fromBackoff && p.e.Backoff > c.ParkHorizon):
		return false
	case d.Do == Resend && (d.N > c.Resends || f.Begun || f.Silent || p.s.Asked):
		return false
	case (d.Do == Park || d.Do == Rearm || d.Do == Owe) && (!p.s.Durable || p.s.FailFast):
		return false
	case p.s.FailFast && (d.Do == Wait || d.Do == Resend && p.s.Waited > c.FailFastWait):
		return false
	}
	return true
}

// F12: a thousand turns on a dead model, plain 503s. Requests are counted over 15 minutes; four
// sends may be under way at once, each turn resends and waits by its own decisions.
func TestThousandTurnsF12(t *testing.T) {
	c := Default()
	type sender struct {
		p   *player
		due time.Time
	}
	turns := make([]*sender, 1000)
	for i := range turns {
		turns[i] = &sender{play(t, c), epoch}
		turns[i].p.name = strconv.Itoa(i)
	}
	gate, requests, sending := Gate{}, 0, 0
	for now := epoch; now.Before(epoch.Add(15 * time.Minute)); now = now.Add(100 * time.Millisecond) {
		for _, s := range turns {
			if _, why := gate.Closed(now); why != "" {
				break
			}
			resend := s.p.s.Resends > 0
			if s.due.After(now) || !resend && sending == 4 {
				continue
			}
			if requests++; !resend {
				sending++
			}
			s.p.gate, s.p.s.Now, s.p.asked = gate, now, gate.Asking
			d := s.p.fail(status(503))
			s.due, gate = now.Add(d.Wait), s.p.gate
			if d.Do != Resend {
				sending--
			}
		}
	}
	if requests > 60 {
		t.Fatalf("%d requests in 15 minutes", requests)
	}
}

// Deciding again on the same facts gives the same answer; so Judge may ask twice.
func TestDecideIsPure(t *testing.T) {
	for seed := range uint64(500) {
		s := storm{rand.New(rand.NewPCG(seed, 8))}
		p := play(t, s.config())
		s.situation(p)
		for range 20 {
			f := s.failure()
			p.s.Remaining = p.longest
			first, _ := Judge(p.gate, "turn", f, p.e, p.r, p.s, p.c)
			second, _ := Judge(p.gate, "turn", f, p.e, p.r, p.s, p.c)
			if told(first) != told(second) || !slices.Equal([]int{first.Episode.Parks}, []int{second.Episode.Parks}) {
				t.Fatalf("seed %d: %s, then %s", seed, told(first), told(second))
			}
			p.fail(f)
		}
	}
}
