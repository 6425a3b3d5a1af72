//go:build !race

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// turnsPlayed is how many turns the test of what a turn leaves behind plays; HOLDFAST_TURNS says another
// number.
func turnsPlayed(t *testing.T) int { return numberFrom(t, "HOLDFAST_TURNS", 2000) }

// numberFrom reads a number from the environment, where nothing stands for the usual one.
func numberFrom(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// converse plays turns, five in each chat, until all are answered; few wait for the model at any time.
func (p *process) converse(m *scripted, name string, turns int) {
	p.t.Helper()
	done, asked := p.counts()["done"], m.requests()
	var next atomic.Int64
	var people sync.WaitGroup
	for range 8 {
		people.Go(func() {
			for i := int(next.Add(1)); i <= turns; i = int(next.Add(1)) {
				p.until("answering", time.Minute, func() bool { return i-(m.requests()-asked) < 40 })
				p.mustSend(fmt.Sprint(name, i), fmt.Sprint(name, "-", i/5), "a question of some words")
			}
		})
	}
	people.Wait()
	p.until("all answered", time.Minute, func() bool { return p.counts()["done"] >= done+turns })
}

// live is what the daemon's heap held when it was last looked through, in MB.
func (p *process) live() float64 { return p.metrics()["go_memstats_next_gc_bytes"] / 2 / 1e6 }

// A turn that is over leaves a row behind and nothing in memory, be it in an old chat or a new one: after
// thousands of turns the daemon holds what it held after the first thousand. On the disk a turn of one
// question and one answer takes at most 3 KiB, with all that pages follow.
func TestFiguresOfTurns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	m := newScripted(t, func(int, string) string { return "ok" })
	p := newProcess(t, m.config("[log]\nlevel = \"warn\"\n"))
	p.up()
	p.converse(m, "first", 1000)
	n := turnsPlayed(t)
	live, resident, cpu, began := p.live(), p.resident(), p.cpu(), time.Now()
	p.converse(m, "then", n)
	used, took := p.cpu()-cpu, time.Since(began)
	grown, more := p.live()-live, p.resident()-resident
	p.converse(m, "last", 100) // some look through the heap again
	grown = min(grown, p.live()-live)
	t.Logf("%d turns: the heap holds %.2f MB more than %.2f, the process %.1f more than %.1f; %v of processor time each, %.0f a second",
		n, grown, live, more, resident, used/time.Duration(n), float64(n)/took.Seconds())
	if grown > 1 {
		t.Errorf("the heap has grown by %.2f MB over %d turns", grown, n)
	}
	if more > 10 {
		t.Errorf("the process has grown by %.1f MB over %d turns", more, n)
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	info, err := os.Stat(filepath.Join(p.dir, "data", "holdfast.db"))
	if err != nil {
		t.Fatal(err)
	}
	each := info.Size() / int64(n+1100)
	t.Logf("%d bytes on the disk for each", each)
	if each > 3<<10 {
		t.Errorf("a turn takes %d bytes on the disk, want at most 3 KiB", each)
	}
}
