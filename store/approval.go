package store

import "errors"

// Approval is a question to a person about calls of tools. A turn has at most one of a kind that is open.
type Approval struct {
	ID      ID
	Turn    ID
	Kind    string // "approval": the turn waits for it | "unknown": a call was cut off, and may have happened
	Asked   Time
	Decided Time // 0 = open
	Allowed bool
	Person  string // who decided; "" = an operator at the page, or nobody: the turn ended first
	Calls   []byte // JSON, the engine's: which calls
}

const approvalColumns = `a.id, a.turn, a.kind, a.asked, a.decided, a.allowed, a.person, a.calls`

func (a *Approval) scan(r row) error {
	return r.Scan(&a.ID, &a.Turn, &a.Kind, &a.Asked, &a.Decided, &a.Allowed, &a.Person, &a.Calls)
}

// putApproval asks; an open question of the turn stays as it is, but for more calls that were cut off.
func (f *fact) putApproval(turn ID, a *Approval) error {
	err := f.one(`SELECT a.id FROM approvals a WHERE a.turn = ? AND a.kind = ? AND a.decided = 0`, turn, a.Kind).Scan(&a.ID)
	if err == nil && a.Kind == "unknown" {
		return f.must(`UPDATE approvals SET calls = ? WHERE id = ?`, a.Calls, a.ID)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	a.ID, a.Turn, a.Asked = f.newID(), turn, f.at
	return f.must(`INSERT INTO approvals (id, turn, kind, asked, calls) VALUES (?, ?, ?, ?, ?)`, a.ID, a.Turn, a.Kind, a.Asked, a.Calls)
}

// dropApproval closes the question that a turn waited for which ends.
func (f *fact) dropApproval(turn ID) error {
	_, err := f.exec(`UPDATE approvals SET decided = ? WHERE turn = ? AND kind = 'approval' AND decided = 0`, max(f.at, 1), turn)
	return err
}

// Decision is a person's word on an open approval.
type Decision struct {
	Approval ID
	At       Time
	Allow    bool
	Person   string // "" = an operator at the page or the command line
	Step     *Step  // the line of the journal that tells of it
	Posts    []Post
	Command  *Command
}

// Decide stores it and queues the turn if it waits for it, which it returns. ErrSettled, with the turn
// as it is, if it was decided or the turn that waits for it has ended; ErrNotFound; ErrDuplicate and
// ErrCommandReused: see Command.
func (s *Store) Decide(d Decision) (t Turn, err error) {
	err = s.write(d.At, func(f *fact) error {
		if err := f.known(d.Command); err != nil {
			return f.withTurn(&t, d.Command.Turn, err)
		}
		var a Approval
		err := a.scan(f.one(`SELECT `+approvalColumns+` FROM approvals a WHERE a.id = ?`, d.Approval))
		if err == nil {
			t, err = f.turn(a.Turn)
			t.Was = t.State
		}
		if err == nil && (a.Decided != 0 || a.Kind == "approval" && t.State == Done) {
			err = ErrSettled
		}
		if err != nil {
			return err
		}
		if err := f.must(`UPDATE approvals SET decided = ?, allowed = ?, person = ? WHERE id = ? AND decided = 0`, max(d.At, 1), d.Allow, d.Person, a.ID); err != nil {
			return err
		}
		if a.Kind == "approval" && t.State.waits() {
			if err := f.wake(&t, Wake{At: d.At}); err != nil {
				return err
			}
		}
		if err := f.tell(&t, Told{Step: d.Step, Posts: d.Posts}); err != nil {
			return err
		}
		return f.keep(d.Command, t.ID, chatKey(t.Surface, t.Channel, t.Conversation))
	})
	return outcome("decide on an approval", t, err)
}

// Approval reads one; ErrNotFound.
func (s *Store) Approval(id ID) (a Approval, err error) {
	err = s.read(func(c *conn) error {
		return a.scan(c.one(`SELECT `+approvalColumns+` FROM approvals a WHERE a.id = ?`, id))
	})
	return a, wrap("read approval", err)
}

// OpenApproval reads the open one of a turn and kind; ErrNotFound if there is none.
func (s *Store) OpenApproval(turn ID, kind string) (a Approval, err error) {
	err = s.read(func(c *conn) error {
		return a.scan(c.one(`SELECT `+approvalColumns+` FROM approvals a WHERE a.turn = ? AND a.kind = ? AND a.decided = 0`, turn, kind))
	})
	return a, wrap("read approval", err)
}

// OpenApprovals reads those that wait for a person, the oldest first, at most limit.
func (s *Store) OpenApprovals(limit int) (list []Approval, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var a Approval
			err := a.scan(r)
			list = append(list, a)
			return err
		}, `SELECT `+approvalColumns+` FROM approvals a WHERE a.decided = 0 ORDER BY a.asked LIMIT ?`, limit)
	})
	return list, wrap("read approvals", err)
}
