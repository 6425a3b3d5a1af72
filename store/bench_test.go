package store

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// parkable fills a store with n turns whose first request is under way.
func parkable(b *testing.B, s *Store, n int) []ID {
	b.Helper()
	turns := make([]ID, n)
	const batch = 500
	for i := 0; i < n; i += batch {
		err := s.write(t0, func(f *fact) error {
			for j := i; j < min(n, i+batch); j++ {
				out, err := f.admit(hello(t0, fmt.Sprintf("chat%d", j/4), fmt.Sprintf("ada%d", j), fmt.Sprintf("key%d", j)))
				if err != nil {
					return err
				}
				turns[j] = out.Turn
				f.must(`UPDATE turns SET state = 'running', requests = 1, attempts = 1, model = 'openai/gpt-5-mini' WHERE id = ?`, out.Turn)
				f.must(`INSERT INTO attempts (turn, n, send, at, model) VALUES (?, 1, 1, ?, 'openai/gpt-5-mini')`, out.Turn, t0)
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
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

// callers runs b.N calls of do, numbered from 0, from n goroutines at once.
func callers(b *testing.B, n int, do func(i int) error) {
	b.Helper()
	var next atomic.Int64
	b.SetParallelism((n + 1) / 2) // of two processors
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := do(int(next.Add(1)) - 1); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
}

// BenchmarkPark is a turn's park with the end of its request, as the engine writes it.
func BenchmarkPark(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", n), func(b *testing.B) {
			s := opened(b)
			turns := parkable(b, s, b.N)
			if n == 1 {
				b.ResetTimer()
				for i := range b.N {
					if _, err := s.WaitTurn(parking(turns[i], t0+Time(i))); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			callers(b, n, func(i int) error {
				_, err := s.WaitTurn(parking(turns[i], t0+Time(i)))
				return err
			})
		})
	}
}

// BenchmarkBareInsert is what SQLite makes of the least there can be: one prepared INSERT in a
// transaction of its own, in a file with the same settings.
func BenchmarkBareInsert(b *testing.B) {
	c, err := open(filepath.Join(b.TempDir(), "bare.db"), "rwc", writerPragmas("full"))
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	if err := c.script(`CREATE TABLE bare (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) STRICT`); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := range b.N {
		if _, err := c.exec(`INSERT INTO bare (id, at, text) VALUES (?, ?, ?)`, i+1, t0+Time(i), "a text of the length of a short message"); err != nil {
			b.Fatal(err)
		}
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
