package store

// Sessions and login links are kept as hashes only.

// PutLink stores a one-time login link; older links go.
func (s *Store) PutLink(hash []byte, expires Time) error {
	return wrap("put login link", s.write(0, func(f *fact) error {
		if _, err := f.exec(`DELETE FROM links`); err != nil {
			return err
		}
		return f.must(`INSERT INTO links (hash, expires) VALUES (?, ?)`, hash, expires)
	}))
}

// UseLink takes a link that has not expired away and makes a session, in one transaction; ErrNotFound if there is none.
func (s *Store) UseLink(hash, session []byte, now, sessionExpires Time) error {
	return wrap("use login link", s.write(now, func(f *fact) error {
		n, err := f.exec(`DELETE FROM links WHERE hash = ? AND expires > ?`, hash, now)
		switch {
		case err != nil:
			return err
		case n == 0:
			return ErrNotFound
		}
		if _, err := f.exec(`DELETE FROM sessions WHERE expires <= ?`, now); err != nil {
			return err
		}
		return f.putSession(session, sessionExpires)
	}))
}

// PutSession stores a session made by other means.
func (s *Store) PutSession(hash []byte, expires Time) error {
	return wrap("put session", s.write(0, func(f *fact) error { return f.putSession(hash, expires) }))
}

func (f *fact) putSession(hash []byte, expires Time) error {
	return f.must(`INSERT INTO sessions (hash, expires) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET expires = excluded.expires`, hash, expires)
}

// Session tells whether a session is good.
func (s *Store) Session(hash []byte, now Time) (good bool, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT EXISTS (SELECT 1 FROM sessions WHERE hash = ? AND expires > ?)`, hash, now).Scan(&good)
	})
	return good, wrap("read session", err)
}

// EndSession revokes one; it is no error if there is none.
func (s *Store) EndSession(hash []byte) error {
	return wrap("end session", s.write(0, func(f *fact) error {
		_, err := f.exec(`DELETE FROM sessions WHERE hash = ?`, hash)
		return err
	}))
}
