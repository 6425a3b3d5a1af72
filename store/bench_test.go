//go:build unix

package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"
)

// cost is what something took of the clock and of the processors.
type cost struct{ took, cpu time.Duration }

func costOf(do func()) cost {
	cpu, began := processorTime(), time.Now()
	do()
	return cost{time.Since(began), processorTime() - cpu}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// parkable brings turns, numbered from one to before another, to where their first request is under way.
func parkable(b testing.TB, s *Store, from, to int) (turns []ID) {
	b.Helper()
	err := s.write(t0, func(f *fact) error {
		turns = nil
		for i := from; i < to; i++ {
			out, err := f.admit(hello(t0, fmt.Sprintf("chat%d", i/4), fmt.Sprintf("ada%d", i), fmt.Sprintf("key%d", i)))
			if err == nil {
				err = f.must(`UPDATE turns SET state = 'running', requests = 1, attempts = 1, model = 'openai/gpt-5-mini' WHERE id = ?`, out.Turn)
			}
			if err == nil {
				err = f.must(`INSERT INTO attempts (turn, n, send, at, model, room) VALUES (?, 1, 1, ?, 'openai/gpt-5-mini', zeroblob(?))`, out.Turn, t0, roomOfAttempt)
			}
			if err != nil {
				return err
			}
			turns = append(turns, out.Turn)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return turns
}

func parking(turn ID, at Time) Waiting {
	return Waiting{
		Turn: turn, At: at, State: Parked, Resumed: "failure", FirstFailed: at, Park: true,
		Wait:    Wait{RetryAt: at + 8000, From: "backoff", MS: 8000},
		Reason:  Reason{Why: "failure", Class: "overloaded", Status: 503, Provider: "openai", Model: "gpt-5-mini", Text: "OpenAI is overloaded"},
		Episode: []byte(`{"parks":1,"backoff":8000000000,"requests":1,"resumed":true}`),
		Told: Told{Attempt: &AttemptEnd{N: 1, Status: 503, Class: "overloaded", StatedMS: -1, WaitMS: 8000, WaitFrom: "backoff", Rung: "L5",
			Outcome: "park", RequestID: "req_0123456789", MS: 700, Error: "503 Service Unavailable: overloaded"}},
	}
}

// callers makes n calls of do, numbered from 0, from so many goroutines at once.
func callers(tb testing.TB, n, calls int, do func(i int) error) {
	tb.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < calls; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// parks lets n callers park calls turns, whose requests have just failed, and returns what it took. As many
// run at once as workers do by default, or as keep the callers busy for a while.
func parks(tb testing.TB, n, calls int) cost {
	tb.Helper()
	s, err := Open(Config{Dir: tb.TempDir()}, quiet())
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	if _, err := s.WaitTurn(parking(parkable(tb, s, calls, calls+1)[0], t0)); err != nil { // prepares the statements
		tb.Fatal(err)
	}
	var all cost
	for i := 0; i < calls; {
		turns := parkable(tb, s, i, min(calls, i+max(32, 4*n)))
		c := costOf(func() {
			callers(tb, n, len(turns), func(j int) error {
				_, err := s.WaitTurn(parking(turns[j], t0+Time(i+j)))
				return err
			})
		})
		all.took, all.cpu = all.took+c.took, all.cpu+c.cpu
		i += len(turns)
	}
	return all
}

// bareInserts is what SQLite makes of the least there can be: one prepared INSERT in a transaction of
// its own, in a file with the same settings.
func bareInserts(tb testing.TB, calls int) cost {
	tb.Helper()
	_, _ = sqlite.Fdatasync(true) // as Open does
	c, err := open(filepath.Join(tb.TempDir(), "bare.db"), "rwc", writerPragmas("full"))
	if err != nil {
		tb.Fatal(err)
	}
	defer c.close()
	if err := c.script(`CREATE TABLE bare (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) STRICT`); err != nil {
		tb.Fatal(err)
	}
	return costOf(func() {
		for i := range calls {
			if _, err := c.exec(`INSERT INTO bare (id, at, text) VALUES (?, ?, ?)`, i+1, t0+Time(i), "a text of the length of a short message"); err != nil {
				tb.Fatal(err)
			}
		}
	})
}

// parkers are by how many callers parks are measured.
var parkers = [...]int{1, 16, 64}

// parkFigures are what parks cost, by how many callers, and bare INSERTs before each and after: what else the machine
// does comes to both.
type parkFigures struct {
	bare  [len(parkers) + 1]cost
	parks [len(parkers)]cost
}

func measureParks(tb testing.TB, calls int) (f parkFigures) {
	f.bare[0] = bareInserts(tb, calls)
	for i, n := range parkers {
		f.parks[i] = parks(tb, n, calls)
		f.bare[i+1] = bareInserts(tb, calls)
	}
	return f
}

// beside is what as many bare INSERTs cost around the parks by parkers[i] callers.
func (f *parkFigures) beside(i int) cost {
	return cost{(f.bare[i].took + f.bare[i+1].took) / 2, (f.bare[i].cpu + f.bare[i+1].cpu) / 2}
}

// speed is how many parks there are in the time of one bare INSERT.
func (f *parkFigures) speed(i int) float64 {
	return f.beside(i).took.Seconds() / f.parks[i].took.Seconds()
}

// processor is how much of a bare INSERT's processor time a park needs.
func (f *parkFigures) processor(i int) float64 {
	return f.parks[i].cpu.Seconds() / f.beside(i).cpu.Seconds()
}

// medianOf is the median of a figure over rounds.
func medianOf(rounds []parkFigures, of func(*parkFigures) float64) float64 {
	var all []float64
	for _, f := range rounds {
		all = append(all, of(&f))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkPark is a turn's park with the end of its request, as the engine writes it, synced, against a
// bare INSERT: as ratios, the median of five rounds of 512 each.
func BenchmarkPark(b *testing.B) {
	for b.Loop() {
		var rounds []parkFigures
		for range 5 {
			rounds = append(rounds, measureParks(b, 512))
		}
		for i, n := range parkers {
			b.ReportMetric(medianOf(rounds, func(f *parkFigures) float64 { return f.speed(i) }), fmt.Sprintf("x-with-%d", n))
		}
		b.ReportMetric(medianOf(rounds, func(f *parkFigures) float64 { return f.processor(1) }), "x-cpu-with-16")
		b.ReportMetric(medianOf(rounds, func(f *parkFigures) float64 { return float64(f.parks[2].cpu.Microseconds()) / 512 }), "cpu-µs/park-with-64")
		b.ReportMetric(medianOf(rounds, func(f *parkFigures) float64 { return float64(f.bare[0].took.Microseconds()) / 512 }), "µs/INSERT")
	}
}

// BenchmarkOpen is a start on a file with a million parked turns.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := openIn(b, dir)
	err := s.writer.conn.script(fmt.Sprintf(`
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
		INSERT INTO turns (id, conversation, person, lane, state, created, spoken, retry_at, wait_from, wait_ms, reason_why, reason_class, reason_text, first_failed, parks, episode)
		SELECT (i << 22) + 5, i / 10, 'ada', 'durable', 'parked', %[1]d, %[1]d, %[1]d + i, 'backoff', 60000, 'failure', 'overloaded', 'OpenAI is overloaded', %[1]d, 1, x'7b7d' FROM n`, t0))
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(Config{Dir: dir}, quiet())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
