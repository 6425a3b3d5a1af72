package ladder

import "time"

// longest bounds every wait, so that no sum overflows; a credible stated wait has at most 31 days.
const longest = 366 * 24 * time.Hour

// plan is a wait and what decided its length.
type plan struct {
	wait  time.Duration
	from  string
	half  bool // half of a stated wait (stated_wait_early)
	early bool // it ends inside the hold on purpose
}

// plan is a wait of at least own, at least the stated wait, and to the end of a closing of the
// gate at the earliest. A closing that this turn's own failed asking has made is our own back-off;
// any other was stated to or met by another.
func (t *trouble) plan(own, gate time.Duration) plan {
	p := plan{wait: ceil(own), from: fromBackoff}
	if t.stated > p.wait {
		p = plan{wait: t.stated, from: fromStated}
	}
	switch {
	case gate <= p.wait:
	case p.from == fromStated && gate <= p.wait+time.Millisecond:
		p.wait = gate // this very statement, stored in whole milliseconds
	case t.s.AskedDown && !t.s.GateHold:
		p.wait = gate
	default:
		p = plan{wait: gate, from: fromGate}
	}
	return p
}

// eager is plan under stated_wait_early (F4): a stated wait of the first tier is asked once at its
// half; with clip, which is for waits in process, a longer one below stated_wait_end is cut to
// stated_wait_fallback.
func (t *trouble) eager(own time.Duration, clip bool) plan {
	p := t.plan(own, t.gate)
	if !t.c.StatedWaitEarly || t.stated == 0 && !t.s.GateHold {
		return p
	}
	stated, cut := p.wait, p.wait
	if p.from == fromStated {
		stated = t.stated
	}
	switch first := stated <= t.c.StatedWaitFallback; {
	case first && p.from == fromStated && !t.e.Halved[t.s.Model]:
		p.half = true
		cut = ceil(stated / 2)
	case !first && clip && stated < t.c.StatedWaitEnd:
		cut = t.c.StatedWaitFallback
	}
	if floor := ceil(own); cut < floor {
		cut = floor // F5
		p.from = fromBackoff
	}
	p.early = cut < p.wait
	p.wait = cut
	return p
}

// counted is what a wait adds to the sum that the horizon bounds.
func (t *trouble) counted(p plan) time.Duration {
	if p.from == fromBackoff || p.from == fromStated && t.c.StatedWaitMode == "horizon" {
		return p.wait
	}
	return 0
}

// hold is how long the gate holds by a provider's word, as far as the gate tells.
func (t *trouble) hold() time.Duration {
	if t.s.GateHold {
		return t.gate
	}
	return 0
}

// doubled is base doubled n times, at most limit.
func doubled(base time.Duration, n int, limit time.Duration) time.Duration {
	for ; n > 0 && base < limit; n-- {
		base *= 2
	}
	return min(base, limit)
}

// ceil rounds up to whole milliseconds; what is negative is 0.
func ceil(d time.Duration) time.Duration {
	d = min(max(d, 0), longest)
	return (d + time.Millisecond - 1) / time.Millisecond * time.Millisecond
}
