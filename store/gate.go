package store

// Gate is what stands before a (provider, key, model), as far as it must outlive the process.
type Gate struct {
	Key      string // names it: provider, a hash of its key, model
	Provider string
	Model    string
	Why      string // "hold" | "down" | "" (open)
	Until    Time
	WaitMS   int64  // length of the current closing, for ClampWaits
	Version  int64  // counts the moves of it; a row gives way to a higher version only, so that of two facts written side by side the later move stands
	Since    Time   // when it was first closed or counted a failure, without a success since
	Class    string // of the last failure
	Error    string // last failure in words
	Record   []byte // the ladder's own record of it, opaque here
}

// Gates reads all gates that were ever closed.
func (s *Store) Gates() (list []Gate, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var g Gate
			err := r.Scan(&g.Key, &g.Provider, &g.Model, &g.Why, &g.Until, &g.WaitMS, &g.Version, &g.Since, &g.Class, &g.Error, &g.Record)
			list = append(list, g)
			return err
		}, `SELECT key, provider, model, why, until, wait_ms, version, since, class, error, record FROM gates ORDER BY key`)
	})
	return list, wrap("read gates", err)
}

// PutGate stores one outside a turn's fact: an operator's release, a changed key.
func (s *Store) PutGate(g Gate, now Time, c *Command) error {
	return wrap("put gate", s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		if err := f.putGate(&g); err != nil {
			return err
		}
		return f.keep(c, 0, "")
	}))
}

func (f *fact) putGate(g *Gate) error {
	n, err := f.exec(`INSERT INTO gates (key, provider, model, why, until, wait_ms, version, since, class, error, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET provider = excluded.provider, model = excluded.model, why = excluded.why, until = excluded.until,
			wait_ms = excluded.wait_ms, version = excluded.version, since = excluded.since, class = excluded.class, error = excluded.error, record = excluded.record
		WHERE excluded.version > version`,
		g.Key, g.Provider, g.Model, g.Why, g.Until, g.WaitMS, g.Version, g.Since, g.Class, g.Error, g.Record)
	if err != nil || n == 0 {
		return err
	}
	if err := f.changed(object{kind: kindGate, name: g.Key}); err != nil {
		return err
	}
	return f.changed(object{kind: kindProvider, name: g.Provider + "/" + g.Model})
}
