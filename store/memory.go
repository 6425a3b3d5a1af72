package store

import (
	"errors"
	"strings"
	"unicode"
)

// Memory is something that a bot has been asked to remember.
type Memory struct {
	ID           ID
	Bot          string
	Person       string // whom it is about and who alone is reminded of it; "" = everybody
	Text         string
	At           Time
	Conversation ID // where it was said
}

const memoryColumns = `m.id, m.bot, m.person, m.text, m.at, m.conversation`

func (m *Memory) scan(r row) error {
	return r.Scan(&m.ID, &m.Bot, &m.Person, &m.Text, &m.At, &m.Conversation)
}

// Remember keeps it and sets its ID. The same text of the same bot and person is kept once; it is
// then what m becomes. ErrTooMany if there are limit of that bot and person.
func (s *Store) Remember(m *Memory, limit int) error {
	return wrap("remember", s.write(m.At, func(f *fact) error {
		var was Memory
		err := was.scan(f.one(`SELECT `+memoryColumns+` FROM memories m WHERE m.bot = ? AND m.person = ? AND m.text = ?`, m.Bot, m.Person, m.Text))
		if err == nil {
			*m = was
			return nil
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		var n int
		err = f.one(`SELECT count(*) FROM memories WHERE bot = ? AND person = ?`, m.Bot, m.Person).Scan(&n)
		if err == nil && n >= limit {
			err = ErrTooMany
		}
		if err != nil {
			return err
		}
		m.ID = f.newID()
		err = f.must(`INSERT INTO memories (id, bot, person, text, at, conversation) VALUES (?, ?, ?, ?, ?, ?)`, m.ID, m.Bot, m.Person, m.Text, m.At, m.Conversation)
		if err == nil {
			_, err = f.exec(`INSERT INTO memories_words (rowid, text) VALUES (?, ?)`, m.ID, m.Text)
		}
		return err
	}))
}

// Recall searches a bot's memories of a person and of everybody for words, the best first, at most
// limit; parts of words at their beginning count too. Without a word in words it reads the newest.
func (s *Store) Recall(bot, person, words string, limit int) (list []Memory, err error) {
	add := func(r row) error {
		var m Memory
		err := m.scan(r)
		list = append(list, m)
		return err
	}
	err = s.read(func(c *conn) error {
		if match := matching(words, " OR "); match != "" {
			return c.each(add, `SELECT `+memoryColumns+` FROM memories_words w CROSS JOIN memories m
				WHERE w.memories_words MATCH ? AND m.id = w.rowid AND m.bot = ? AND (m.person = ? OR m.person = '') ORDER BY w.rank LIMIT ?`, match, bot, person, limit)
		}
		return c.each(add, `SELECT * FROM (SELECT `+memoryColumns+` FROM memories m WHERE m.bot = ? AND m.person = ? ORDER BY m.id DESC LIMIT ?)
			UNION SELECT * FROM (SELECT `+memoryColumns+` FROM memories m WHERE m.bot = ? AND m.person = '' ORDER BY m.id DESC LIMIT ?)
			ORDER BY 1 DESC LIMIT ?`, bot, person, limit, bot, limit, limit)
	})
	return list, wrap("recall", err)
}

// recallWords is how many words of a question are searched for.
const recallWords = 32

// matching is a full-text query for any (OR) or all (AND) of the words of a text, "" if it has none. It
// is of nothing but quoted words: what people write never is an operator of it.
func matching(text, operator string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	for i, w := range words {
		words[i] = `"` + w + `"*`
	}
	return strings.Join(words[:min(len(words), recallWords)], operator)
}

// Forget deletes one that a bot has of a person, or with shared also of everybody; found says whether
// there was one.
func (s *Store) Forget(bot, person string, id ID, shared bool, now Time) (found bool, err error) {
	err = s.write(now, func(f *fact) error {
		found = false
		var m Memory
		err := m.scan(f.one(`SELECT `+memoryColumns+` FROM memories m WHERE m.id = ? AND m.bot = ? AND (m.person = ? OR ? AND m.person = '')`, id, bot, person, shared))
		if errors.Is(err, ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		found = true
		return f.forget(m)
	})
	return found && err == nil, wrap("forget", err)
}

// DeleteMemory carries out the command; ErrNotFound.
func (s *Store) DeleteMemory(id ID, now Time, c *Command) error {
	return wrap("delete memory", s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		var m Memory
		if err := m.scan(f.one(`SELECT `+memoryColumns+` FROM memories m WHERE m.id = ?`, id)); err != nil {
			return err
		}
		if err := f.forget(m); err != nil {
			return err
		}
		return f.keep(c, 0, "")
	}))
}

// forget deletes it and its words, which the index has to be given again to find them.
func (f *fact) forget(m Memory) error {
	_, err := f.exec(`INSERT INTO memories_words (memories_words, rowid, text) VALUES ('delete', ?, ?)`, m.ID, m.Text)
	if err == nil {
		err = f.must(`DELETE FROM memories WHERE id = ?`, m.ID)
	}
	if err == nil {
		err = f.changed(object{kind: kindRemoved, name: "memory/" + m.ID.String()})
	}
	return err
}

// MemoryFilter chooses memories; zero fields choose all.
type MemoryFilter struct {
	Bot    string
	Person string
	Words  string // all of them, or words that begin so
	Before ID     // page on: ids below it
	Limit  int
}

// Memories reads the newest first. next is the Before of the following page, 0 at the end.
func (s *Store) Memories(q MemoryFilter) (list []Memory, next ID, err error) {
	if q.Before == 0 {
		q.Before = 1<<63 - 1
	}
	from, id, match := "memories m WHERE ? = ''", "m.id", matching(q.Words, " AND ")
	if match != "" {
		from, id = "memories_words w CROSS JOIN memories m WHERE w.memories_words MATCH ? AND m.id = w.rowid", "w.rowid"
	}
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var m Memory
			err := m.scan(r)
			list = append(list, m)
			return err
		}, `SELECT `+memoryColumns+` FROM `+from+` AND `+id+` < ? AND (? = '' OR m.bot = ?) AND (? = '' OR m.person = ?) ORDER BY `+id+` DESC LIMIT ?`,
			match, q.Before, q.Bot, q.Bot, q.Person, q.Person, q.Limit+1)
	})
	if err != nil {
		return nil, 0, wrap("read memories", err)
	}
	if len(list) > q.Limit {
		list = list[:q.Limit]
		next = list[q.Limit-1].ID
	}
	return list, next, nil
}
