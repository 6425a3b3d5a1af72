package store

import (
	"errors"
	"math"
)

// Wake makes a waiting turn queued: by timer, gate, message, operator, schedule or start. The wait
// is cleared, its reason stays; with NewEpisode the episode and the turn's re-arm are cleared as well,
// with ClearRearms the conversation's count of them too.
type Wake struct {
	Turn       ID
	At         Time
	NewEpisode bool
	Episode    []byte // what stays of the episode, with NewEpisode
	Spoken     Time   // somebody has said then that it is still wanted; 0 = nobody
	Command    *Command

	ClearRearms bool
}

// WakeTurn stores it. ErrSettled, with the turn as it is, if the turn is done; a turn that is queued
// or running is left as it is (the command is kept all the same).
func (s *Store) WakeTurn(w Wake) (Turn, error) {
	var t Turn
	err := s.write(w.At, func(f *fact) (err error) {
		if err := f.known(w.Command); err != nil {
			return f.withTurn(&t, w.Turn, err)
		}
		if t, err = f.open(w.Turn); err != nil {
			return err
		}
		if t.State.waits() {
			if err := f.wake(&t, w); err != nil {
				return err
			}
			if w.ClearRearms {
				if err := f.countRearms(&t, 0); err != nil {
					return err
				}
			}
		}
		return f.keep(w.Command, t.ID, chatKey(t.Surface, t.Channel, t.Conversation))
	})
	return outcome("wake turn", t, err)
}

func (f *fact) wake(t *Turn, w Wake) error {
	t.State, t.Wait, t.Spoken = Queued, Wait{}, max(t.Spoken, w.Spoken)
	t.Version++
	if w.NewEpisode {
		t.FirstFailed, t.Episode, t.RearmN, t.RearmOf = 0, w.Episode, 0, 0
	}
	err := f.must(`UPDATE turns SET state = 'queued', retry_at = 0, gate = '', wait_from = '', wait_ms = 0,
		first_failed = ?, episode = ?, rearm_n = ?, rearm_of = ?, spoken = ?, version = ? WHERE id = ? AND state IN ('retrying', 'parked', 'rearming', 'owed')`,
		t.FirstFailed, t.Episode, t.RearmN, t.RearmOf, t.Spoken, t.Version, t.ID)
	if err != nil {
		return err
	}
	return f.changed(object{kind: kindTurn, id: t.ID})
}

// Interrupt tells, at a start, of turns that the last process left running or retrying: their open
// requests end as "interrupted", they are queued again with Resumed "restart", and Deaths counts up
// for those that were running. It returns how many there were. A retrying turn whose wait is not over goes
// on waiting, as a parked one, if keep says so (nil: none does); kept is how many do. One transaction.
func (s *Store) Interrupt(now Time, keep func(from string, episode []byte) bool) (queued, kept int, err error) {
	var turns []Ready
	err = s.write(now, func(f *fact) (err error) {
		if keep != nil {
			if kept, err = f.keepWaiting(now, keep); err != nil {
				return err
			}
		}
		turns, err = f.ready(nil, math.MaxInt32, nil, `SELECT id, conversation, retry_at, wait_ms, state FROM turns WHERE state IN ('running', 'retrying') ORDER BY id`)
		for _, t := range turns {
			err = errors.Join(err, f.interrupt(t))
		}
		return err
	})
	if err != nil {
		return 0, 0, wrap("interrupt turns", err)
	}
	return len(turns), kept, nil
}

// keepWaiting parks the retrying turns whose wait outlives the process that made it.
func (f *fact) keepWaiting(now Time, keep func(from string, episode []byte) bool) (int, error) {
	var kept []ID
	err := f.each(func(r row) error {
		var id ID
		var from string
		var episode []byte
		err := r.Scan(&id, &from, &episode)
		if err == nil && keep(from, episode) {
			kept = append(kept, id)
		}
		return err
	}, `SELECT id, wait_from, episode FROM turns WHERE state = 'retrying' AND retry_at > ? ORDER BY id`, now)
	for _, id := range kept {
		if err == nil {
			err = f.must(`UPDATE turns SET state = 'parked', resumed = 'restart', version = version + 1 WHERE id = ? AND state = 'retrying'`, id)
		}
		if err == nil {
			err = f.changed(object{kind: kindTurn, id: id})
		}
	}
	return len(kept), err
}

func (f *fact) interrupt(t Ready) error {
	died := 0
	if t.State == Running {
		died = 1
	}
	err := f.must(`UPDATE turns SET state = 'queued', retry_at = 0, gate = '', wait_from = '', wait_ms = 0, resumed = 'restart',
		deaths = deaths + ?, version = version + 1 WHERE id = ? AND state = ?`, died, t.Turn, t.State)
	if err != nil {
		return err
	}
	if err := f.changed(object{kind: kindTurn, id: t.Turn}); err != nil {
		return err
	}
	var open []int
	err = f.each(func(r row) error {
		open = append(open, 0)
		return r.Scan(&open[len(open)-1])
	}, `SELECT n FROM attempts WHERE turn = ? AND outcome = ''`, t.Turn)
	for _, n := range open {
		if err == nil {
			err = f.must(`UPDATE attempts SET outcome = 'interrupted' WHERE turn = ? AND n = ? AND outcome = ''`, t.Turn, n)
		}
		if err == nil {
			err = f.changed(object{kind: kindAttempt, id: t.Turn, n: n})
		}
	}
	return err
}
