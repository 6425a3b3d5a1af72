package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Kept is a directory whose stores, one at a time, leave their connections to the next one, with all
// that these have prepared, and the write-ahead log as it is. It is for tests that open and close some thousand
// stores in one process: connecting and preparing would be a third of what they do. All else is as with Open and Close.
type Kept struct {
	dir string

	mu   sync.Mutex
	idle []*conn
}

// Keep begins with none, in a directory that may be new.
func Keep(dir string) *Kept { return &Kept{dir: dir} }

// Open is Open in the directory, on the connections that an earlier store has left.
func (k *Kept) Open(synchronous string, log *slog.Logger) (*Store, error) {
	return openKept(Config{Dir: k.dir, Synchronous: synchronous}, log, k)
}

// open makes a connection. One process alone ever has the file, so there is nobody to lock out by the
// system: that would be two calls of it for every read.
func (k *Kept) open(mode string, pragmas []pragma) (*conn, error) {
	vfs := "unix-excl"
	if runtime.GOOS == "windows" {
		vfs = ""
	}
	c, err := openThrough(vfs, filepath.Join(k.dir, fileName), mode, pragmas)
	if err == nil {
		c.kept = k
	}
	return c, err
}

// take is an idle connection of that mode, nil if there is none.
func (k *Kept) take(mode string) *conn {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.idle, func(c *conn) bool { return c.mode == mode })
	if i < 0 {
		return nil
	}
	c := k.idle[i]
	k.idle = slices.Delete(k.idle, i, i+1)
	return c
}

// put takes a connection that is in no transaction.
func (k *Kept) put(c *conn) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle = append(k.idle, c)
	return nil
}

// Empty takes all that earlier stores have kept out of the file: the next is a new one, but for its
// epoch. None may be open.
func (k *Kept) Empty() error {
	c := k.take("rw")
	if c == nil { // the last store could not leave it, or there was none yet
		path := filepath.Join(k.dir, fileName)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		var err error
		if c, err = k.open("rw", writerPragmas("normal")); err != nil {
			return wrap("empty the store", err)
		}
	}
	if err := c.empty(); err != nil {
		return errors.Join(wrap("empty the store", err), c.close())
	}
	return k.put(c)
}

func (c *conn) empty() error {
	var tables []string
	err := c.each(func(r row) error {
		var name string
		err := r.Scan(&name)
		tables = append(tables, name)
		return err
	}, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'meta' AND name NOT LIKE 'memories_words%'`)
	if err != nil {
		return err
	}
	statements := []string{"BEGIN IMMEDIATE", "DELETE FROM meta WHERE key <> 'epoch'"}
	var remembers bool
	if err := c.one("SELECT EXISTS (SELECT 1 FROM memories)").Scan(&remembers); err != nil {
		return err
	} else if remembers {
		statements = append(statements, "INSERT INTO memories_words (memories_words) VALUES ('delete-all')")
	}
	for _, name := range tables {
		statements = append(statements, "DELETE FROM "+name)
	}
	for _, sql := range append(statements, "COMMIT") {
		if _, err := c.exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// Close closes what the last store has left.
func (k *Kept) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, c := range k.idle {
		errs = append(errs, c.close())
	}
	k.idle = nil
	return errors.Join(errs...)
}
