package store

import "slices"

// Message is one line of a transcript: what somebody said, or what the bot posted.
type Message struct {
	ID     ID // the event's, or the post's
	Chat   ID
	Turn   ID     // the turn that answers it, or that posted it
	Role   string // "user" | "bot"
	Kind   string // "message" | "notice" | "answer" | "terminal" | "mention"
	Name   string // who, as people read it; the bot's
	Text   string
	At     Time
	Edited Time // 0 = as it was made
}

// What people said are events of kind message or command, found by the turns they made; what the bot posted are
// the posts that still stand.
const (
	said = `SELECT e.id, o.conversation, e.turn, 'user', 'message', e.name, e.text, e.at, 0
		FROM turns o JOIN events e ON e.id = o.id WHERE e.kind IN ('message', 'command')`
	posted = `SELECT p.id, p.conversation, p.turn, 'bot', p.kind, c.bot, coalesce(p.text, t.text), p.created, p.edited
		FROM posts p JOIN turns t ON t.id = p.turn JOIN conversations c ON c.id = p.conversation WHERE p.state <> 'gone'`
)

func (m *Message) scan(r row) error {
	return r.Scan(&m.ID, &m.Chat, &m.Turn, &m.Role, &m.Kind, &m.Name, &m.Text, &m.At, &m.Edited)
}

// Messages reads the newest limit messages older than before (0 = the newest), oldest first.
func (s *Store) Messages(chat, before ID, limit int) (list []Message, err error) {
	if before == 0 {
		before = 1<<63 - 1
	}
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var m Message
			err := m.scan(r)
			list = append(list, m)
			return err
		}, `SELECT * FROM (`+said+` AND o.conversation = ? AND o.id < ? ORDER BY o.id DESC LIMIT ?)
			UNION ALL SELECT * FROM (`+posted+` AND p.conversation = ? AND p.id < ? ORDER BY p.id DESC LIMIT ?)
			ORDER BY 1 DESC LIMIT ?`, chat, before, limit, chat, before, limit, limit)
	})
	slices.Reverse(list)
	return list, wrap("read messages", err)
}

// Message reads one; ErrNotFound.
func (s *Store) Message(id ID) (m Message, err error) {
	err = s.read(func(c *conn) error {
		return m.scan(c.one(said+` AND o.id = ? UNION ALL `+posted+` AND p.id = ?`, id, id))
	})
	return m, wrap("read message", err)
}
