package store

import "fmt"

// pragma is a setting of a connection: how it is written, and how SQLite reads it back.
type pragma struct {
	name, set, want string
}

// pragmas of the writer. Sorting and savepoints stay in memory, so that a full disk can only show
// where a fact is written. The write-ahead log is cut back after it has grown in a long read.
func writerPragmas(synchronous string) []pragma {
	level := map[string]string{"full": "2", "normal": "1"}[synchronous]
	return []pragma{
		{"busy_timeout", "5000", "5000"},
		{"cache_size", "-4096", "-4096"}, // KiB
		{"journal_mode", "wal", "wal"},
		{"journal_size_limit", "33554432", "33554432"},
		{"synchronous", synchronous, level},
		{"temp_store", "memory", "2"},
		{"wal_autocheckpoint", "4000", "4000"}, // pages: the hot ones go back into the file once instead of four times
	}
}

// readerPragmas keep a reader small and harmless.
func readerPragmas() []pragma {
	return []pragma{
		{"busy_timeout", "5000", "5000"},
		{"cache_size", "-1024", "-1024"},
		{"query_only", "1", "1"},
		{"temp_store", "memory", "2"},
	}
}

// open dials a file and sets it up; mode: see connect.
func open(path, mode string, pragmas []pragma) (*conn, error) {
	return openThrough("", path, mode, pragmas)
}

// openThrough is open by one of SQLite's ways to files (sqlite.org/vfs.html); "" is the usual one.
func openThrough(vfs, path, mode string, pragmas []pragma) (*conn, error) {
	c, err := dial(path, mode, vfs)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	for _, p := range pragmas {
		if err := c.set(p); err != nil {
			_ = c.close()
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
	}
	return c, nil
}

// set makes a setting and reads it back, since SQLite says nothing of one that it does not know.
func (c *conn) set(p pragma) error {
	if err := c.script("PRAGMA " + p.name + " = " + p.set); err != nil {
		return fmt.Errorf("set %s: %w", p.name, err)
	}
	var got any
	if err := c.one("PRAGMA " + p.name).Scan(&got); err != nil || fmt.Sprint(got) != p.want {
		return fmt.Errorf("%s is %v where %s was asked (%v); the file must lie on a local disk", p.name, got, p.want, err)
	}
	return nil
}
