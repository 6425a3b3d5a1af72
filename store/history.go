package store

import (
	"cmp"
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

// History reads the exchanges of a conversation up to and with turn, oldest first, at most limit
// of them; merged turns are left out, since their events stand with the older turn, and so are
// others that are not done, those aside that wait for a person's word. One query, so all of it is of one moment.
func (s *Store) History(conversation, turn ID, limit int) (list []Exchange, err error) {
	at := map[ID]*Exchange{}
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var h historyRow
			if err := h.scan(r); err != nil {
				return err
			}
			if h.of == ofTurn {
				list = append(list, h.exchange())
				return nil
			}
			if len(at) == 0 { // all turns are there
				for i := range list {
					at[list[i].Turn] = &list[i]
				}
			}
			h.addTo(at[h.turn])
			return nil
		}, historyQuery, conversation, turn, turn, limit)
	})
	slices.Reverse(list)
	for _, x := range list {
		slices.SortFunc(x.Events, func(a, b Event) int { return cmp.Compare(a.ID, b.ID) })
	}
	return list, wrap("read history", err)
}

// historyQuery reads turns, newest first, and then what belongs to them. h are the turns that are shown: settled
// ones and the one under way, without merged ones. What is read with them comes by CROSS JOIN, which keeps SQLite
// from walking through the other table.
const historyQuery = `WITH h AS MATERIALIZED (SELECT id, outcome, person, messages, supersedes, iif(outcome = 'answered', text, '') AS text
	FROM turns WHERE conversation = ? AND id <= ? AND outcome <> 'merged'
		AND (state = 'done' OR id = ? OR state = 'parked' AND reason_why = 'approval') ORDER BY id DESC LIMIT ?)
	SELECT 0, h.id, h.messages, h.supersedes, h.outcome, h.person, '', h.text, NULL, 0 FROM h
	UNION ALL SELECT 1, e.turn, e.id, e.at, e.key, e.kind, e.name, e.text, NULL, e.behind FROM h CROSS JOIN events e WHERE e.id = h.id AND e.turn = h.id
	UNION ALL SELECT 1, e.turn, e.id, e.at, e.key, e.kind, e.name, e.text, NULL, e.behind FROM h CROSS JOIN events e WHERE e.turn = h.id AND e.turn <> e.id
	UNION ALL SELECT 2, p.turn, p.n, p.at, '', p.kind, '', '', p.body, 0 FROM h CROSS JOIN steps p WHERE p.turn = h.id`

// What a row of it is of.
const (
	ofTurn = iota
	ofEvent
	ofStep
)

// historyRow is one row of it: a turn, an event or a step.
type historyRow struct {
	of         int
	turn       ID
	n, at      int64  // of a turn its messages and whom it supersedes, of an event its id, of a step its number
	key        string // of a turn its outcome
	kind       string // of a turn its person
	name, text string
	body       []byte
	behind     int
}

func (h *historyRow) scan(r row) error {
	return r.Scan(&h.of, &h.turn, &h.n, &h.at, &h.key, &h.kind, &h.name, &h.text, &h.body, &h.behind)
}

func (h *historyRow) exchange() Exchange {
	return Exchange{Turn: h.turn, Outcome: Outcome(h.key), Text: h.text, Person: h.kind, Messages: int(h.n), Supersedes: ID(h.at)}
}

func (h *historyRow) addTo(x *Exchange) {
	if h.of == ofEvent {
		x.Events = append(x.Events, Event{ID: ID(h.n), Turn: h.turn, Key: h.key, Kind: h.kind, Name: h.name, Text: h.text, At: Time(h.at), Behind: h.behind})
		return
	}
	x.Steps = append(x.Steps, Step{Turn: h.turn, N: int(h.n), Kind: h.kind, At: Time(h.at), Body: h.body})
}
