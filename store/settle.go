package store

import "errors"

// Settled ends a turn.
type Settled struct {
	Turn     ID
	At       Time
	Outcome  Outcome
	Text     string
	Error    string
	Reason   Reason // replaces the stored one if Why is set
	Messages int    // when > 0: only if the turn still has that many messages, else ErrMoved
	Command  *Command

	ClearRearms bool // the conversation's re-arms are counted anew; an answer that a model has given does so by itself
	Told
}

// SettleTurn stores it. What was merged into the turn ends with it (P19): those turns are done since
// they were admitted, and it is this one's end that answers or cancels them. ErrSettled if it is
// done already, ErrMoved, see Messages: both write nothing and return the turn as it is.
func (s *Store) SettleTurn(t Settled) (Turn, error) {
	var done Turn
	err := s.write(t.At, func(f *fact) (err error) {
		if err := f.known(t.Command); err != nil {
			return f.withTurn(&done, t.Turn, err)
		}
		if done, err = f.open(t.Turn); err != nil {
			return err
		}
		if t.Messages > 0 && t.Messages != done.Messages {
			return ErrMoved
		}
		if err := f.settle(&done, t); err != nil {
			return err
		}
		return f.keep(t.Command, done.ID, chatKey(done.Surface, done.Channel, done.Conversation))
	})
	return outcome("settle turn", done, err)
}

func (f *fact) settle(done *Turn, t Settled) error {
	asked := done.Reason.Why == "approval"
	done.State, done.Outcome, done.Ended, done.Text, done.Error = Done, t.Outcome, max(t.At, 1), t.Text, t.Error
	done.Wait, done.Resumed, done.RearmN, done.RearmOf, done.Episode = Wait{}, "", 0, 0, nil
	done.Version++
	if t.Reason.Why != "" {
		done.Reason = t.Reason
	}
	err := f.must(`UPDATE turns SET state = 'done', outcome = ?, ended = ?, text = ?, error = ?,
		retry_at = 0, gate = '', wait_from = '', wait_ms = 0, resumed = '', rearm_n = 0, rearm_of = 0, episode = NULL,
		reason_why = ?, reason_class = ?, reason_status = ?, reason_provider = ?, reason_model = ?, reason_text = ?,
		version = ?, room = NULL WHERE id = ? AND messages = ? AND state <> 'done'`,
		done.Outcome, done.Ended, done.Text, done.Error,
		done.Reason.Why, done.Reason.Class, done.Reason.Status, done.Reason.Provider, done.Reason.Model, done.Reason.Text,
		done.Version, done.ID, done.Messages)
	if err == nil && len(t.Posts) > 0 {
		err = f.must(`UPDATE conversations SET active = max(active, ?) WHERE id = ?`, t.At, done.Conversation)
	}
	if err == nil && asked {
		err = f.dropApproval(done.ID)
	}
	if err == nil && (t.ClearRearms || t.Outcome == Answered && done.Requests > 0) {
		err = f.countRearms(done, 0)
	}
	if err != nil {
		return err
	}
	return f.tell(done, t.Told)
}

// withTurn adds the turn as it is to a command that was carried out before.
func (f *fact) withTurn(t *Turn, id ID, cause error) (err error) {
	if *t, err = f.turn(id); errors.Is(err, ErrNotFound) {
		err = nil
	}
	return errors.Join(cause, err)
}
