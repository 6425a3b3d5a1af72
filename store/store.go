// Package store is what Holdfast remembers: one SQLite file and the only SQL of the house. One
// method is one transaction is one fact.
//
// What a method has returned without an error survives kill -9 and, with synchronous = full, the
// loss of power. What it has returned with one has changed nothing.
//
//	facts ──▶ writer: one connection, group commit ──▶ holdfast.db ◀── pool: a few that only read ◀── reads
//
// Every fact writes, in its own transaction, what has changed into the table changes; pages follow
// that log by its numbers. Files are named by noun, and SQL stands in the method that uses it.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// fileName is the file in Config.Dir.
const fileName = "holdfast.db"

// Store is an open file. All methods may be called from any goroutine.
type Store struct {
	log    *slog.Logger
	path   string
	epoch  string
	news   *news
	pool   *pool
	writer *writer  // nil: a reader
	kept   *Kept    // nil: connections are closed with the store
	lock   *os.File // nil: a reader

	unclean bool // the last process did not close it

	mu       sync.Mutex
	snapshot *conn // as it was when it was opened, for Counts; nil once read
	closed   bool
}

// SQLiteVersion is the version of the SQLite that is built in.
func SQLiteVersion() string { return sqlite3.SQLITE_VERSION }

// Work is what a store has done since it was opened.
type Work struct {
	Read    int64 // statements on the connections that only read
	Written int64 // statements on the writer's
	Commits int64 // the writer's, each of one fact or of several
}

// Work reads it.
func (s *Store) Work() (w Work) {
	if s.pool != nil {
		w.Read = s.pool.ran.Load()
	}
	if s.writer != nil {
		w.Written, w.Commits = s.writer.ran.Load(), s.writer.commits.Load()
	}
	return w
}

// Open opens or makes the file in c.Dir, migrates it, and takes the lock. It reads only what tells
// that the file is whole at first sight (header, schema, the index of due turns), so that it takes
// milliseconds whatever the file holds; see Verify.
func Open(c Config, log *slog.Logger) (*Store, error) { return openKept(c, log, nil) }

func openKept(c Config, log *slog.Logger, kept *Kept) (*Store, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, wrap("open store", err)
	}
	if c.Synchronous == "" {
		c.Synchronous = Default().Synchronous
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, wrap("open store", err)
	}
	_, _ = sqlite.Fdatasync(true) // as SQLite is built elsewhere, where the system has it: a commit needs data and size, no time stamps
	held, err := lock(dir)
	if err != nil {
		return nil, wrap("open store", err)
	}
	s := &Store{log: log, path: filepath.Join(dir, fileName), lock: held, kept: kept}
	if err := s.openWriter(c.Synchronous); err != nil {
		return nil, wrap("open store", errors.Join(err, s.Close()))
	}
	return s, nil
}

// openWriter opens what has been locked.
func (s *Store) openWriter(synchronous string) error {
	made, err := schema()
	if err != nil {
		return err
	}
	if err := s.prepareFile(made); err != nil {
		return err
	}
	wal, err := os.Stat(s.path + "-wal")
	s.unclean = err == nil && wal.Size() > 0 && s.kept == nil // SQLite deletes it when the last connection closes
	c, err := s.dial("rw", writerPragmas(synchronous))
	if err != nil {
		return err
	}
	if err := s.begin(c, made); err != nil {
		return errors.Join(err, c.close())
	}
	return nil
}

// begin migrates over the connection and makes it the writer's.
func (s *Store) begin(c *conn, made []migration) error {
	if err := migrate(c, made); err != nil {
		return err
	}
	if err := s.look(c); err != nil {
		return err
	}
	ids := new(ids)
	err := c.one(`SELECT max(coalesce((SELECT max(id) FROM turns), 0), coalesce((SELECT max(id) FROM posts), 0),
		coalesce((SELECT max(id) FROM schedules), 0), coalesce((SELECT max(id) FROM memories), 0), coalesce((SELECT max(id) FROM approvals), 0),
		coalesce((SELECT max(id) FROM alerts), 0), coalesce((SELECT max(n) FROM commands), 0))`).Scan(&ids.last)
	if err != nil {
		return err
	}
	if err := s.takeSnapshot(); err != nil {
		return err
	}
	s.writer = newWriter(c, ids, s.news)
	return nil
}

// takeSnapshot lets a connection see the file as it is now, for Counts.
func (s *Store) takeSnapshot() error {
	if s.snapshot == nil { // prepareFile had nothing to read
		c, err := s.dial("ro", readerPragmas())
		if err != nil {
			return err
		}
		s.snapshot = c
	}
	if _, err := s.snapshot.exec("BEGIN"); err != nil {
		return err
	}
	var one int
	err := s.snapshot.one("SELECT 1 FROM turns LIMIT 1").Scan(&one)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return err
}

// dial opens a connection to the file, or takes one that was kept.
func (s *Store) dial(mode string, pragmas []pragma) (*conn, error) {
	if c := s.kept.take(mode); c != nil {
		return c, nil
	}
	if s.kept != nil {
		return s.kept.open(mode, pragmas)
	}
	return open(s.path, mode, pragmas)
}

// look reads what is kept in memory, and the first due turn, as a first sign that the file is whole.
func (s *Store) look(c *conn) error {
	var head int64
	var due ID
	err := c.one(`SELECT coalesce(max(seq), 0) FROM changes`).Scan(&head)
	if err == nil {
		err = c.one(`SELECT value FROM meta WHERE key = 'epoch'`).Scan(&s.epoch)
	}
	if err == nil {
		err = c.one(`SELECT id FROM turns WHERE retry_at <> 0 ORDER BY retry_at LIMIT 1`).Scan(&due)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	s.news = newNews(head)
	s.pool = newPool(func() (*conn, error) { return s.dial("ro", readerPragmas()) })
	return nil
}

// OpenReader opens the file without the lock's exclusive right, for reads while no daemon runs or
// beside one. Every write returns ErrReadOnly. fs.ErrNotExist if there is none yet.
func OpenReader(c Config) (*Store, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, wrap("open store", err)
	}
	s := &Store{log: slog.New(slog.DiscardHandler), path: filepath.Join(dir, fileName)}
	if _, err := os.Stat(s.path); err != nil {
		return nil, fmt.Errorf("open store: there is none in %s yet: %w", dir, fs.ErrNotExist)
	}
	made, err := schema()
	if err != nil {
		return nil, wrap("open store", err)
	}
	r, err := open(s.path, "ro", readerPragmas())
	if err != nil {
		return nil, wrap("open store", err)
	}
	version, err := versionOf(r, s.path, made)
	if err == nil && version < len(made) {
		err = fmt.Errorf("%s was written by an older holdfast (schema %d, this one reads %d); run the daemon once, it brings it up to date", s.path, version, len(made))
	}
	if err == nil {
		err = s.look(r)
	}
	if err := errors.Join(err, r.close()); err != nil {
		return nil, wrap("open store", err)
	}
	return s, nil
}

// Close waits for what is under way, flushes and closes the file. A second call does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.pool != nil {
		errs = append(errs, s.pool.close())
	}
	if s.snapshot != nil {
		errs = append(errs, s.endSnapshot())
		s.snapshot = nil
	}
	if s.writer != nil { // last: the last connection empties the write-ahead log into the file
		errs = append(errs, s.writer.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return wrap("close store", errors.Join(errs...))
}

// endSnapshot ends one that was not counted.
func (s *Store) endSnapshot() error {
	if _, err := s.snapshot.exec("ROLLBACK"); err != nil { // Open has failed before it began
		return s.snapshot.close()
	}
	return s.snapshot.leave()
}
