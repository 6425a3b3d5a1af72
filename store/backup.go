package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Restored is the Meta key that Backup sets in the copy (to "1"): a store that has it was made from a
// backup and what it knows may be old. It goes when an operator lets the store send again.
const Restored = "restored"

// Paused is the Meta key of what sends nothing: a JSON list of targets, of which "" is everything.
const Paused = "paused"

// Backup writes a consistent copy to path, which must not exist, while the store is in use. The copy
// has an epoch of its own, is paused as a whole and has Meta Restored set, since its turns may have
// been answered meanwhile. Nobody is logged in to it, and of posts that were not out yet it says that
// they may be. Part of a copy that failed is removed.
func (s *Store) Backup(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return wrap("back up", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("back up: %s is there already: %w", path, fs.ErrExist)
	}
	return wrap("back up", s.read(func(c *conn) error {
		return copyTo(c, path, func(made *conn) error {
			return made.script(`PRAGMA secure_delete = 1;
				DELETE FROM links;
				DELETE FROM sessions;
				UPDATE posts SET tries = max(tries, 1) WHERE state IN ('pending', 'posting');
				INSERT OR REPLACE INTO meta (key, value) VALUES ('epoch', lower(hex(randomblob(16)))), ('` + Restored + `', '1');
				INSERT INTO meta (key, value) VALUES ('` + Paused + `', '[""]') ON CONFLICT (key) DO UPDATE SET value = json_insert(value, '$[#]', '')`)
		})
	}))
}

// keepCopy keeps the file as it is at path, in place of an older copy.
func keepCopy(c *conn, path string) error {
	return wrap("keep a copy", copyTo(c, path, nil))
}

// copyTo writes the whole file to path: made beside it, finished by edit, flushed and renamed, so
// that path is never half a copy.
func copyTo(c *conn, path string, edit func(*conn) error) (err error) {
	part := path + ".part"
	_ = os.Remove(part) // of a copy that was cut off
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if _, err := c.exec("PRAGMA query_only = 0"); err != nil { // it forbids this too
		return err
	}
	_, err = c.exec("VACUUM INTO ?", part)
	if _, back := c.exec("PRAGMA query_only = 1"); back != nil {
		err = errors.Join(err, back)
	}
	if err != nil {
		return err
	}
	if edit != nil {
		if err := editCopy(part, edit); err != nil {
			return err
		}
	}
	if err := flush(part); err != nil {
		return err
	}
	return os.Rename(part, path)
}

func editCopy(path string, edit func(*conn) error) error {
	c, err := open(path, "rw", nil)
	if err != nil {
		return err
	}
	return errors.Join(edit(c), c.close())
}

// flush makes sure of a file that SQLite has written without syncing.
func flush(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Check runs the full PRAGMA integrity_check; nil if the file is sound.
func (s *Store) Check() error {
	return wrap("check store", s.sound(context.Background(), "PRAGMA integrity_check"))
}

// Verify looks through the file with PRAGMA quick_check, table by table, if the last process did not
// close it, and returns at once if it did. A large file takes seconds: it is for the background, some
// time after the start.
func (s *Store) Verify(ctx context.Context) error {
	if !s.unclean {
		return nil
	}
	tables, err := s.tables()
	for _, table := range tables {
		if err == nil {
			err = s.sound(ctx, "PRAGMA quick_check(\""+table+"\")")
		}
	}
	return wrap("verify store", err)
}

// tables are the names of those that the file holds: SQLite's own, and those behind an index of words.
func (s *Store) tables() (names []string, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var name string
			err := r.Scan(&name)
			names = append(names, name)
			return err
		}, `SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0`)
	})
	return append(names, "sqlite_schema"), err
}

// sound runs a check and makes an error of what it finds.
func (s *Store) sound(ctx context.Context, check string) error {
	var found []string
	err := s.pool.with(func(c *conn) (bool, error) {
		err := c.eachContext(ctx, func(r row) error {
			var line string
			err := r.Scan(&line)
			found = append(found, line)
			return err
		}, check)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0] == "ok" {
		return nil
	}
	return fmt.Errorf("%w: stop, keep a copy of it, and go back to a backup: %s", ErrDamaged, strings.Join(found, "; "))
}
