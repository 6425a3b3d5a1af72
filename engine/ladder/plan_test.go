package ladder

import (
	"math"
	"testing"
	"time"
)

func TestDoubled(t *testing.T) {
	for n, want := range []time.Duration{2, 4, 8, 16, 20, 20} {
		if got := doubled(2, n, 20); got != want {
			t.Errorf("%d times: %d, want %d", n, got, want)
		}
	}
	if got := doubled(2*time.Second, 1000, longest); got != longest {
		t.Errorf("a thousand times: %v", got)
	}
	if got := doubled(2, 0, 1); got != 1 {
		t.Errorf("a limit below the base: %d", got)
	}
}

func TestCeil(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		-1: 0, 0: 0, 1: time.Millisecond, time.Millisecond: time.Millisecond, time.Millisecond + 1: 2 * time.Millisecond,
		math.MaxInt64: longest, math.MinInt64: 0,
	} {
		if got := ceil(d); got != want {
			t.Errorf("%d: %v, want %v", d, got, want)
		}
	}
}
