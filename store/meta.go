package store

import "errors"

// Meta reads a single value that must outlive the process (the paused sets, a config's hash); "" = none.
func (s *Store) Meta(key string) (value string, err error) {
	err = s.read(func(c *conn) error {
		err := c.one(`SELECT value FROM meta WHERE key = ?`, key).Scan(&value)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	})
	return value, wrap("read "+key, err)
}

// SetMeta writes one; "" takes it away. The log of changes says nothing of it.
func (s *Store) SetMeta(key, value string, c *Command) error {
	at := Time(0)
	if c != nil {
		at = c.At
	}
	return wrap("set "+key, s.write(at, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		sql, args := `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, []any{key, value}
		if value == "" {
			sql, args = `DELETE FROM meta WHERE key = ?`, args[:1]
		}
		if _, err := f.exec(sql, args...); err != nil {
			return err
		}
		return f.keep(c, 0, "")
	}))
}
