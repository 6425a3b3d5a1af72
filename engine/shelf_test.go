package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"holdfast/store"
)

// kept is where tests leave their stores to the next ones.
var kept shelf

func TestMain(m *testing.M) {
	code := m.Run()
	if err := kept.clear(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// shelf keeps files with the connections to them, and all that these have prepared: to make a new file and
// the statements for it would be a third of what most tests do. They lie in memory where the system has a
// place for that, since a disk would take longer than all the rest.
type shelf struct {
	mu   sync.Mutex
	dir  string
	made int
	free []*shelved
}

// shelved is a place for one store after the other.
type shelved struct {
	*store.Kept
	dir string
}

// take is a place that nobody else has; what was in it is gone. It is to be given back if its last store was
// closed, and else left: clear takes it away.
func (s *shelf) take() (*shelved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		k := s.free[n-1]
		s.free = s.free[:n-1]
		return k, k.Empty()
	}
	if s.dir == "" {
		dir, err := os.MkdirTemp("/dev/shm", "holdfast")
		if err != nil {
			dir, err = os.MkdirTemp("", "holdfast")
		}
		if err != nil {
			return nil, err
		}
		s.dir = dir
	}
	s.made++
	dir := filepath.Join(s.dir, fmt.Sprint(s.made))
	return &shelved{store.Keep(dir), dir}, nil
}

func (s *shelf) give(k *shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, k)
}

// clear takes all away.
func (s *shelf) clear() error {
	for _, k := range s.free {
		if err := k.Close(); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.dir)
}

// keptStore is a place for a test's stores, one after the other.
func keptStore(t *testing.T) *shelved {
	t.Helper()
	k, err := kept.take()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			kept.give(k)
		}
	})
	return k
}
