package store

import "errors"

// Alert is something an operator must know: raised once, cleared once. Its two messages, the
// raising and the clearing, are delivered durably to whoever is configured.
type Alert struct {
	ID      ID
	Kind    string // "outage" | "hard_down" | "provider_wait" | "account" | "delivery_stuck" | "surface_down" | "store" | "poisoned"
	Subject string // what it is about: PROVIDER/MODEL, a bot, a surface, a turn
	Since   Time   // when the trouble began
	Raised  Time
	Cleared Time // 0 while it is open
	Acked   Time // an operator has seen it
	Text    string
	Told    int  // messages delivered: 1 = the raising, 2 = the clearing too
	NextTry Time // of the next delivery
	Tries   int
}

const alertColumns = `id, kind, subject, since, raised, cleared, acked, text, told, next_try, tries`

func (a *Alert) scan(r row) error {
	return r.Scan(&a.ID, &a.Kind, &a.Subject, &a.Since, &a.Raised, &a.Cleared, &a.Acked, &a.Text, &a.Told, &a.NextTry, &a.Tries)
}

// RaiseAlert opens an alert, whose ID it sets, unless one of its kind and subject is open; opened
// says which. Told is 2 where nobody is to be told.
func (s *Store) RaiseAlert(a *Alert) (opened bool, err error) {
	err = s.write(a.Raised, func(f *fact) error {
		opened = false
		var id ID
		err := f.one(`SELECT id FROM alerts WHERE kind = ? AND subject = ? AND cleared = 0`, a.Kind, a.Subject).Scan(&id)
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		opened, a.ID = true, f.newID()
		err = f.must(`INSERT INTO alerts (id, kind, subject, since, raised, text, told, next_try) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			a.ID, a.Kind, a.Subject, a.Since, a.Raised, a.Text, a.Told, a.Raised)
		if err != nil {
			return err
		}
		return f.changed(object{kind: kindAlert, id: a.ID})
	})
	return opened && err == nil, wrap("raise alert", err)
}

// ClearAlert closes the open alert of a kind and subject; cleared says that there was one.
func (s *Store) ClearAlert(kind, subject string, now Time) (cleared bool, err error) {
	err = s.write(now, func(f *fact) error {
		cleared = false
		var id ID
		err := f.one(`SELECT id FROM alerts WHERE kind = ? AND subject = ? AND cleared = 0`, kind, subject).Scan(&id)
		if errors.Is(err, ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		cleared = true
		if err := f.must(`UPDATE alerts SET cleared = ?, next_try = ?, tries = 0 WHERE id = ?`, now, now, id); err != nil {
			return err
		}
		return f.changed(object{kind: kindAlert, id: id})
	})
	return cleared && err == nil, wrap("clear alert", err)
}

// AckAlert notes that an operator has seen it; ErrNotFound.
func (s *Store) AckAlert(id ID, now Time, c *Command) error {
	return wrap("ack alert", s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		n, err := f.exec(`UPDATE alerts SET acked = ? WHERE id = ? AND acked = 0`, now, id)
		if err != nil {
			return err
		}
		if n == 0 {
			var one int
			if err := f.one(`SELECT 1 FROM alerts WHERE id = ?`, id).Scan(&one); err != nil {
				return err
			}
		} else if err := f.changed(object{kind: kindAlert, id: id}); err != nil {
			return err
		}
		return f.keep(c, 0, "")
	}))
}

// MarkAlert stores how a delivery went: Told, NextTry and Tries as given.
func (s *Store) MarkAlert(a Alert, now Time) error {
	return wrap("mark alert", s.write(now, func(f *fact) error {
		return f.must(`UPDATE alerts SET told = ?, next_try = ?, tries = ? WHERE id = ?`, a.Told, a.NextTry, a.Tries, a.ID)
	}))
}

// OpenAlerts reads those not cleared, oldest first.
func (s *Store) OpenAlerts() ([]Alert, error) {
	return s.alerts(`SELECT ` + alertColumns + ` FROM alerts WHERE cleared = 0 ORDER BY id`)
}

// UntoldAlerts reads those with a message to be delivered by now, oldest first.
func (s *Store) UntoldAlerts(now Time) ([]Alert, error) {
	return s.alerts(`SELECT `+alertColumns+` FROM alerts WHERE (told = 0 OR told = 1 AND cleared > 0) AND next_try <= ? ORDER BY id`, now)
}

// Alert reads one; ErrNotFound.
func (s *Store) Alert(id ID) (a Alert, err error) {
	err = s.read(func(c *conn) error { return a.scan(c.one(`SELECT `+alertColumns+` FROM alerts WHERE id = ?`, id)) })
	return a, wrap("read alert", err)
}

func (s *Store) alerts(sql string, args ...any) (list []Alert, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var a Alert
			err := a.scan(r)
			list = append(list, a)
			return err
		}, sql, args...)
	})
	return list, wrap("read alerts", err)
}

// Suffering is who waits on a model.
type Suffering struct {
	Turns  int
	People int
	Oldest Time // when the oldest of their last messages came
	Next   Time // the next try that is known; 0 = none
}

// SufferingOn counts the waiting turns whose last failure, or whose gate, is a model's.
func (s *Store) SufferingOn(provider, model string) (n Suffering, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT count(*), count(DISTINCT person), coalesce(min(spoken), 0), coalesce(min(nullif(retry_at, 0)), 0) FROM turns
			WHERE state IN ('retrying', 'parked', 'rearming', 'owed') AND reason_provider = ? AND reason_model = ?`, provider, model).
			Scan(&n.Turns, &n.People, &n.Oldest, &n.Next)
	})
	return n, wrap("count who waits on a model", err)
}
