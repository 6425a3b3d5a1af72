package store

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The schema as a row of steps; user_version counts those a file has taken. A step that has been
// released is never changed: what is wrong with it is put right by a further one.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks the file as Holdfast's in its header: "HOLD".
const applicationID = 0x484f4c44

// migration is one step, to the version of its place in the row.
type migration struct{ name, sql string }

// schema reads the embedded steps in order.
func schema() ([]migration, error) { return steps(migrations) }

func steps(dir fs.FS) (list []migration, err error) {
	names, err := fs.Glob(dir, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for i, name := range names { // Glob sorts
		if want := fmt.Sprintf("migrations/%04d.sql", i+1); name != want {
			return nil, fmt.Errorf("migration %s stands where %s belongs", name, want)
		}
		sql, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		list = append(list, migration{name, string(sql)})
	}
	return list, nil
}

// prepareFile makes the file if there is none, refuses one that is not ours to open, and keeps a
// copy of one that is about to be migrated. It is done before the writer's connection exists, since
// that one turns on the write-ahead log.
func (s *Store) prepareFile(made []migration) error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make %s: %w", s.path, err)
	}
	c, err := s.dial("ro", readerPragmas())
	if err != nil {
		return err
	}
	version, err := versionOf(c, s.path, made)
	if err == nil && version > 0 && version < len(made) {
		kept := fmt.Sprintf("%s.%d", s.path, version)
		if err = keepCopy(c, kept); err == nil {
			s.log.Info("store migrates", "from", version, "to", len(made), "kept", kept)
		}
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	s.snapshot = c
	return nil
}

// versionOf reads how many steps a file has taken; 0 is a new one.
func versionOf(c *conn, path string, made []migration) (version int, err error) {
	var app, tables int
	err = c.one(`PRAGMA user_version`).Scan(&version)
	if err == nil {
		err = c.one(`PRAGMA application_id`).Scan(&app)
	}
	if err == nil {
		err = c.one(`SELECT count(*) FROM sqlite_schema`).Scan(&tables)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("read %s: %w", path, err)
	case app != applicationID && (version != 0 || tables != 0):
		return 0, fmt.Errorf("%s is not a file of holdfast; move it away or choose another [store] dir", path)
	case version > len(made):
		return 0, fmt.Errorf("%w: %s has schema %d, this one knows %d; %s", ErrNewer, path, version, len(made), wayBack(path, len(made)))
	}
	return version, nil
}

// wayBack says what an operator with a file from a newer holdfast can do.
func wayBack(path string, known int) string {
	best := 0
	names, _ := filepath.Glob(path + ".*")
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, path+".")); err == nil && n <= known {
			best = max(best, n)
		}
	}
	if best == 0 {
		return "run the newer holdfast again; no copy from before the update is there"
	}
	return fmt.Sprintf("run the newer holdfast again, or go back to the copy from before the update, without what came after it: "+
		"move %[1]s, %[1]s-wal and %[1]s-shm away and rename %[1]s.%[2]d to %[1]s", path, best)
}

// tryToWrite changes nothing.
func tryToWrite(c *conn) error {
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	_, err := c.exec("UPDATE meta SET value = value WHERE key = ''")
	_, back := c.exec("ROLLBACK")
	return errors.Join(err, back)
}

// migrate takes the steps a file has not taken yet, each in a transaction.
func migrate(c *conn, made []migration) error {
	var version int
	if err := c.one(`PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if version == len(made) { // nothing to write, but is it possible?
		return wrap("try to write", tryToWrite(c))
	}
	for i := version; i < len(made); i++ {
		sql := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", made[i].sql, applicationID, i+1)
		if err := c.script(sql); err != nil {
			_ = c.script("ROLLBACK")
			return fmt.Errorf("migrate by %s: %w", made[i].name, err)
		}
	}
	return nil
}
