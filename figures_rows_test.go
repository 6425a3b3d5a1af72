//go:build !race

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// rowsParked is how many turns wait in the store of these tests; HOLDFAST_ROWS says another number.
func rowsParked(t *testing.T) int {
	text := os.Getenv("HOLDFAST_ROWS")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("HOLDFAST_ROWS: %v", err)
	}
	return n
}

// withRows is a daemon, not running, on a store in which one turn is overdue and n more wait for days.
func withRows(t *testing.T, n int) (p *process, asked chan time.Time) {
	asked = make(chan time.Time, 10)
	m := newScripted(t, func(n int, _ string) string {
		asked <- time.Now()
		if n == 1 {
			return "503"
		}
		return "ok"
	})
	p = newProcess(t, m.config("[retry]\nresends = 0\npark_from = \"0s\"\n"))
	p.up()
	turn := p.mustSend("m1", "c1", "Hello")
	p.until("parked", 10*time.Second, func() bool { return p.turn(turn).State == "parked" })
	p.kill()
	<-asked
	db, err := sql.Open("sqlite", filepath.Join(p.dir, "data", "holdfast.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := time.Now().UnixMilli()
	for _, step := range []string{
		fmt.Sprintf(`UPDATE turns SET retry_at = %d WHERE state = 'parked'`, now),
		fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
			INSERT INTO conversations (id, bot, surface, channel, thread, title, created, active)
			SELECT (n.i << 22) + 9, bot, surface, channel || n.i, thread, title, created, active FROM n, (SELECT * FROM conversations LIMIT 1) WHERE %[1]d > 0`, n),
		fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
			INSERT INTO turns (id, conversation, person, lane, state, created, spoken, retry_at, wait_from, wait_ms, reason_why, reason_class, reason_text, first_failed, parks, episode)
			SELECT (n.i << 22) + 5, (n.i << 22) + 9, 'person' || n.i, 'durable', 'parked', %[2]d, %[2]d, %[2]d + 172800000 + n.i, 'backoff', 345600000, 'failure', 'overloaded', 'it is overloaded', %[2]d, 1, t.episode
			FROM n, turns t WHERE %[1]d > 0 AND t.state = 'parked'`, n, now),
	} {
		if _, err := db.Exec(step); err != nil {
			t.Fatal(err)
		}
	}
	return p, asked
}

// A start does not depend on how much waits: what is overdue runs hardly later than in an empty house,
// with at most 15 MB more. The bar is 60 ms on a quiet machine; on one that does other things the best of
// three is held to what only a start that reads all rows would need.
func TestFiguresOfStartWithRows(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	first := func(n int) (best time.Duration, resident float64) {
		p, asked := withRows(t, n)
		copied := filepath.Join(t.TempDir(), "copy.db")
		original := filepath.Join(p.dir, "data", "holdfast.db")
		copyFile(t, original, copied)
		for range 3 {
			copyFile(t, copied, original)
			_ = os.Remove(original + "-wal")
			_ = os.Remove(original + "-shm")
			began := time.Now()
			p.start("")
			took := (<-asked).Sub(began)
			if best == 0 || took < best {
				best = took
			}
			p.until("ready", 20*time.Second, p.ready)
			resident = p.resident()
			p.kill()
		}
		return best, resident
	}
	n := rowsParked(t)
	none, noneHolds := first(0)
	many, manyHolds := first(n)
	t.Logf("the overdue turn asks %v after the start with none, %v with %d parked; %.1f and %.1f MB resident", none.Round(time.Millisecond/10), many.Round(time.Millisecond/10), n, noneHolds, manyHolds)
	if many > none+400*time.Millisecond {
		t.Errorf("with %d parked turns the overdue one asks %v later", n, many-none)
	}
	if manyHolds > noneHolds+15 {
		t.Errorf("with %d parked turns the daemon holds %.1f MB more", n, manyHolds-noneHolds)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err = f.Write(b); err == nil {
		err = f.Sync() // else the daemon's first sync has to wait for all of it
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An idle daemon sleeps, whatever waits in its store: at most 400 wake-ups and 0.03 seconds of
// processor time a minute.
func TestFiguresOfIdleWithRows(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	p, asked := withRows(t, rowsParked(t))
	p.up()
	<-asked
	const window = 12 * time.Second
	var wakes []float64
	time.Sleep(3 * time.Second) // until the start has been digested; the daemon runs by the real clock
	cpu := p.cpu()
	for range 2 {
		before := p.switches()
		time.Sleep(window / 2)
		wakes = append(wakes, (p.switches()-before)*float64(time.Minute)/float64(window/2))
	}
	used := p.cpu() - cpu
	t.Logf("%.0f wake-ups a minute, %v of processor time in %v", slices.Min(wakes), used, window)
	if slices.Min(wakes) > 400 {
		t.Errorf("%.0f wake-ups a minute, want at most 400", slices.Min(wakes))
	}
	if used > 20*time.Millisecond { // the kernel counts in steps of 10 ms
		t.Errorf("%v of processor time in %v, want at most 30 ms a minute", used, window)
	}
}

// switches are how often the daemon's threads have gone to sleep.
func (p *process) switches() (n float64) {
	p.t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		p.t.Fatal("no threads", err)
	}
	for _, task := range tasks {
		n += status(p.t, task, "voluntary_ctxt_switches")
	}
	return n
}
