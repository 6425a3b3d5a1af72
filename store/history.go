package store

import (
	"errors"
	"slices"
)

// Exchange is one settled turn, or the turn under way, as the model's history needs it.
type Exchange struct {
	Turn     ID
	Outcome  Outcome
	Events   []Event // what people said, in order
	Steps    []Step  // the journal: tool calls and results
	Text     string  // the answer; "" unless answered
	Person   string
	Messages int

	Supersedes ID // the turn that this one takes the place of, with all that came after it
}

// shown chooses the turns of a history: settled ones and the one under way, without merged ones. What
// is read with them comes by CROSS JOIN, which keeps SQLite from walking through the other table.
const shown = `WITH h AS (SELECT id FROM turns WHERE conversation = ? AND id <= ? AND outcome <> 'merged'
	AND (state = 'done' OR id = ? OR state = 'parked' AND reason_why = 'approval') ORDER BY id DESC LIMIT ?) `

// History reads the exchanges of a conversation up to and with turn, oldest first, at most limit
// of them; merged turns are left out, since their events stand with the older turn, and so are
// others that are not done, those aside that wait for a person's word. Everything comes from one snapshot.
func (s *Store) History(conversation, turn ID, limit int) (list []Exchange, err error) {
	err = s.view(func(c *conn) error {
		list, err = c.exchanges(conversation, turn, limit)
		if err != nil {
			return err
		}
		at := map[ID]*Exchange{}
		for i := range list {
			at[list[i].Turn] = &list[i]
		}
		return errors.Join(c.historyEvents(at, conversation, turn, limit), c.historySteps(at, conversation, turn, limit))
	})
	return list, wrap("read history", err)
}

func (c *conn) exchanges(conversation, turn ID, limit int) (list []Exchange, err error) {
	err = c.each(func(r row) error {
		var x Exchange
		err := r.Scan(&x.Turn, &x.Outcome, &x.Person, &x.Messages, &x.Supersedes, &x.Text)
		list = append(list, x)
		return err
	}, shown+`SELECT t.id, t.outcome, t.person, t.messages, t.supersedes, iif(t.outcome = 'answered', t.text, '')
		FROM h CROSS JOIN turns t WHERE t.id = h.id ORDER BY t.id DESC`, conversation, turn, turn, limit)
	slices.Reverse(list)
	return list, err
}

func (c *conn) historyEvents(at map[ID]*Exchange, conversation, turn ID, limit int) error {
	return c.each(func(r row) error {
		var e Event
		err := r.Scan(&e.ID, &e.Turn, &e.Key, &e.Kind, &e.Name, &e.At, &e.Text, &e.Behind)
		x := at[e.Turn]
		x.Events = append(x.Events, e)
		return err
	}, shown+`SELECT e.id, e.turn, e.key, e.kind, e.name, e.at, e.text, e.behind FROM h CROSS JOIN events e WHERE e.id = h.id AND e.turn = h.id
		UNION ALL SELECT e.id, e.turn, e.key, e.kind, e.name, e.at, e.text, e.behind FROM h CROSS JOIN events e WHERE e.turn = h.id AND e.turn <> e.id
		ORDER BY 1`, conversation, turn, turn, limit)
}

func (c *conn) historySteps(at map[ID]*Exchange, conversation, turn ID, limit int) error {
	return c.each(func(r row) error {
		var p Step
		err := r.Scan(&p.Turn, &p.N, &p.Kind, &p.At, &p.Body)
		x := at[p.Turn]
		x.Steps = append(x.Steps, p)
		return err
	}, shown+`SELECT p.turn, p.n, p.kind, p.at, p.body FROM h CROSS JOIN steps p WHERE p.turn = h.id ORDER BY p.turn, p.n`, conversation, turn, turn, limit)
}
