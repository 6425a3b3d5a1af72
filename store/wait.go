package store

import "errors"

// Waiting sends a turn to wait: in process, parked, re-arming or owed, or only for its provider.
type Waiting struct {
	Turn        ID
	At          Time
	State       State // Retrying, Parked, Rearming or Owed; Queued: it goes on as soon as it can
	Wait        Wait
	Reason      Reason
	Resumed     string
	FirstFailed Time
	Park        bool // counts a park
	RearmN      int
	RearmOf     int
	Episode     []byte
	Told
}

// WaitTurn stores it, if the turn is queued, running or waiting; ErrSettled, with the turn as it
// is, if it is done (P10), which writes nothing.
func (s *Store) WaitTurn(w Waiting) (Turn, error) {
	var t Turn
	err := s.write(w.At, func(f *fact) error { return f.wait(&t, w) })
	return outcome("let turn wait", t, err)
}

func (f *fact) wait(t *Turn, w Waiting) (err error) {
	if *t, err = f.openCore(w.Turn); err != nil {
		return err
	}
	t.State, t.Wait, t.Reason, t.Resumed, t.FirstFailed = w.State, w.Wait, w.Reason, w.Resumed, w.FirstFailed
	t.RearmN, t.RearmOf, t.Episode = w.RearmN, w.RearmOf, w.Episode
	t.Version++
	if w.Park {
		t.Parks++
	}
	err = f.must(`UPDATE turns SET state = ?, retry_at = ?, gate = ?, wait_from = ?, wait_ms = ?,
		reason_why = ?, reason_class = ?, reason_status = ?, reason_provider = ?, reason_model = ?, reason_text = ?,
		resumed = ?, first_failed = ?, parks = ?, rearm_n = ?, rearm_of = ?, episode = ?, version = ?, room = NULL WHERE id = ? AND state <> 'done'`,
		t.State, t.RetryAt, t.Gate, t.From, t.MS,
		t.Reason.Why, t.Reason.Class, t.Reason.Status, t.Reason.Provider, t.Reason.Model, t.Reason.Text,
		t.Resumed, t.FirstFailed, t.Parks, t.RearmN, t.RearmOf, t.Episode, t.Version, t.ID)
	if err == nil && w.State == Rearming {
		err = f.countRearms(t, w.RearmN)
	}
	if err == nil {
		err = f.tell(t, w.Told)
	}
	if err == nil {
		err = f.atGate(t)
	}
	return err
}

// countRearms stores how many re-arms a turn's conversation has had in a row (R5).
func (f *fact) countRearms(t *Turn, n int) error {
	if t.Rearms == n {
		return nil
	}
	t.Rearms = n
	return f.must(`UPDATE conversations SET rearms = ? WHERE id = ?`, n, t.Conversation)
}

// atGate puts the moment into a turn that reading it gives: a gate's end, if it waits at one.
func (f *fact) atGate(t *Turn) error {
	if t.Gate == "" {
		return nil
	}
	var until Time
	err := f.one(`SELECT until FROM gates WHERE key = ?`, t.Gate).Scan(&until)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	t.RetryAt = max(t.RetryAt, until)
	return err
}

// Stepped is a completed step that does not end the turn: the episode is over.
type Stepped struct {
	Turn ID
	At   Time
	Told
}

// StepTurn journals it; the turn stays running. ErrSettled, with the turn as it is, if it is done.
func (s *Store) StepTurn(p Stepped) (Turn, error) {
	var t Turn
	err := s.write(p.At, func(f *fact) (err error) {
		if t, err = f.open(p.Turn); err != nil {
			return err
		}
		t.State, t.Wait, t.Resumed, t.FirstFailed, t.RearmN, t.RearmOf, t.Deaths, t.Episode = Running, Wait{}, "", 0, 0, 0, 0, nil
		t.Version++
		err = f.must(`UPDATE turns SET state = 'running', retry_at = 0, gate = '', wait_from = '', wait_ms = 0, resumed = '', first_failed = 0,
			rearm_n = 0, rearm_of = 0, deaths = 0, episode = NULL, version = ? WHERE id = ? AND state <> 'done'`, t.Version, t.ID)
		if err != nil {
			return err
		}
		return f.tell(&t, p.Told)
	})
	return outcome("journal step", t, err)
}
