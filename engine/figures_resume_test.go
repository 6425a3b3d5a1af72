//go:build unix && !race

package engine

import (
	"testing"
	"time"
)

// How late turns begin whose time has come, against bare timers for the same moments: 99 of 100 within
// 1.5 times what these need, the latest within 3 times, none early (an early one fails the test at once).
// The timers run beside the turns, since what else this machine does at that moment comes late to both;
// the first of five rounds that holds the bars ends it.
func TestFiguresOfResumeLag(t *testing.T) {
	for round := range 5 {
		r, ok := resumeAll(t, 2000, 2*time.Second, 3*time.Second)
		if !ok {
			continue
		}
		t.Logf("begun: %.2f ms at the median, %.2f for 99 of 100, %.2f at most; rows there: %.2f, %.2f, %.2f; timers beside: %.2f, %.2f, %.2f; alone: %.2f, %.2f, %.2f",
			at(r.begun, 50), at(r.begun, 99), at(r.begun, 100), at(r.read, 50), at(r.read, 99), at(r.read, 100),
			at(r.beside, 50), at(r.beside, 99), at(r.beside, 100), at(r.alone, 50), at(r.alone, 99), at(r.alone, 100))
		p99, most := at(r.begun, 99)/at(r.beside, 99), at(r.begun, 100)/at(r.beside, 100)
		if p99 <= 1.5 && most <= 3 {
			return
		}
		t.Logf("round %d: %.2f and %.2f times what bare timers need", round+1, p99, most)
	}
	t.Error("in none of five rounds were 99 of 100 turns within 1.5 times, and all within 3 times, what bare timers need")
}

// Of thousands of turns that are due at one instant all have begun within four times what bare timers
// alone need.
func TestFiguresOfResumeBurst(t *testing.T) {
	for round := range 5 {
		r, ok := resumeAll(t, 4000, 0, 3*time.Second)
		if !ok {
			continue
		}
		t.Logf("all begun after %.1f ms, all rows there after %.1f; bare timers: %.1f; %.0f whole turns a second", at(r.begun, 100), at(r.read, 100), at(r.alone, 100), r.perSecond)
		most := at(r.begun, 100) / at(r.alone, 100)
		if most <= 4 {
			return
		}
		t.Logf("round %d: %.2f times what bare timers need", round+1, most)
	}
	t.Error("in none of five rounds had all turns begun within four times what bare timers need")
}
