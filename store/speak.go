package store

import "errors"

// Speech is what a bot says in a conversation without being asked there.
type Speech struct {
	Key     string // of the call that says it: the same one speaks once
	Bot     string
	Surface string
	Channel string
	Title   string // of the conversation, if it is new
	Person  string // who asked for it
	Note    string // how it came to that, for whoever reads the history
	Text    string
	Posts   []Post
}

// Speak writes it in one transaction: an event of kind sent, and its turn, which is done and answered
// with Text and has Posts to be delivered. What Key has said before is not said again; known says so.
// ErrOtherBot: see Admit.
func (s *Store) Speak(p Speech, now Time) (t Turn, known bool, err error) {
	err = s.write(now, func(f *fact) error {
		known = false
		var was ID
		err := f.one(`SELECT id FROM events WHERE key = ? AND bot = ?`, p.Key, p.Bot).Scan(&was)
		if err == nil {
			known = true
			t, err = f.turn(was)
			return err
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		a := Admission{At: now, Bot: p.Bot, Key: p.Key, Kind: "sent", Surface: p.Surface, Channel: p.Channel, Title: p.Title, Person: p.Person, Text: p.Note, Lane: "durable"}
		out := Admitted{Turn: f.newID()}
		if out.Conversation, err = f.converse(a); err != nil {
			return err
		}
		if err := f.admitTurn(a, out); err != nil {
			return err
		}
		if t, err = f.turn(out.Turn); err != nil {
			return err
		}
		return f.settle(&t, Settled{Turn: t.ID, At: now, Outcome: Answered, Text: p.Text, Told: Told{Posts: p.Posts}})
	})
	if err != nil {
		return Turn{}, false, wrap("speak", err)
	}
	return t, known, nil
}
