package store

// Post is a message to be made or edited on a surface.
type Post struct {
	ID           ID
	Turn         ID
	Conversation ID
	Part         int    // 0 is the notice that becomes the answer; 1 … its overflow parts
	Kind         string // "notice" | "stale" (asks whether it is still wanted) | "approval" (asks whether tools may be called) | "unknown" (of a call that was cut off) | "answer" | "terminal" | "mention"
	Text         string // Markdown; an answer's text on part 0 of a surface without limits
	State        string // "pending" (to be made or edited) | "posting" (handed over, outcome unknown) | "done" | "failed" | "gone"
	Handle       string // the platform's id, once known
	Until        Time   // notice: the moment its text names, 0 = none
	NextTry      Time
	Tries        int
	Created      Time
	Edited       Time // the last change of Text, 0 = as it was made; no two changes have the same
	Error        string
}

// The text of an answer stands in its turn alone; post p with turn t has it as NULL.
const postColumns = `p.id, p.turn, p.conversation, p.part, p.kind, coalesce(p.text, t.text), p.state, p.handle, p.until, p.next_try, p.tries, p.created, p.edited, p.error`

func (p *Post) scan(r row) error {
	return r.Scan(&p.ID, &p.Turn, &p.Conversation, &p.Part, &p.Kind, &p.Text, &p.State, &p.Handle, &p.Until, &p.NextTry, &p.Tries, &p.Created, &p.Edited, &p.Error)
}

// textOf is a post's text as the table keeps it, next to its turn's.
func (p *Post) textOf(turnText string) any {
	if (p.Kind == "answer" || p.Kind == "terminal") && p.Text == turnText {
		return nil
	}
	return p.Text
}

// waitMS is from a moment to the next try, for ClampWaits.
func (p *Post) waitMS(now Time) int64 { return max(0, int64(p.NextTry-now)) }

// putPost makes a post, or gives one there is a new text and kind to be delivered anew. Its handle is
// kept unless another is given. A State of "" is "pending".
func (f *fact) putPost(t *Turn, p *Post) error {
	if p.State == "" {
		p.State = "pending"
	}
	if p.ID != 0 {
		return f.editPost(t, p)
	}
	p.ID, p.Turn, p.Conversation, p.Created, p.Edited = f.newID(), t.ID, t.Conversation, f.at, 0
	err := f.must(`INSERT INTO posts (id, turn, conversation, part, kind, state, handle, until, next_try, wait_ms, tries, created, edited, error, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, p.Turn, p.Conversation, p.Part, p.Kind, p.State, p.Handle, p.Until, p.NextTry, p.waitMS(f.at), p.Tries, p.Created, p.Edited, p.Error, p.textOf(t.Text))
	if err != nil {
		return err
	}
	return f.changed(object{kind: kindMessage, id: p.ID})
}

func (f *fact) editPost(t *Turn, p *Post) error {
	var was Post
	err := was.scan(f.one(`SELECT `+postColumns+` FROM posts p JOIN turns t ON t.id = p.turn WHERE p.id = ? AND p.turn = ?`, p.ID, t.ID))
	if err != nil {
		return err
	}
	same := was.Text == p.Text && was.Kind == p.Kind
	if p.Edited = was.Edited; was.Text != p.Text {
		p.Edited = max(f.at, was.Edited+1)
	}
	if p.Handle == "" {
		p.Handle = was.Handle
	}
	if p.Tries = 0; p.Handle == "" && (was.Tries > 0 || was.State == "posting") {
		p.Tries = 1 // the try may have gone through: whoever makes it looks for it first
	}
	err = f.must(`UPDATE posts SET kind = ?, state = ?, handle = ?, until = ?, next_try = ?, wait_ms = ?, tries = ?, edited = ?, error = '', text = ? WHERE id = ?`,
		p.Kind, p.State, p.Handle, p.Until, p.NextTry, p.waitMS(f.at), p.Tries, p.Edited, p.textOf(t.Text), p.ID)
	if err != nil || same {
		return err
	}
	return f.changed(object{kind: kindMessage, id: p.ID})
}

// Posts reads a turn's posts in order of Part.
func (s *Store) Posts(turn ID) (list []Post, err error) {
	err = s.read(func(c *conn) error {
		list, err = c.posts(`SELECT `+postColumns+` FROM posts p JOIN turns t ON t.id = p.turn WHERE p.turn = ? ORDER BY p.part, p.id`, turn)
		return err
	})
	return list, wrap("read posts", err)
}

// Line is a conversation with something to be delivered, and where it stands.
type Line struct {
	Conversation ID
	Bot          string
	Surface      string
	Channel      string
	Thread       string
}

// DueLines reads the conversations whose oldest post that is not out is due, soonest first and those
// due together oldest first, at most limit; those that are busy and those on full surfaces are passed over.
func (s *Store) DueLines(now Time, busy map[ID]bool, full map[string]bool, limit int) (list []Line, err error) {
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			if len(list) >= limit {
				return errEnough
			}
			var l Line
			if err := r.Scan(&l.Conversation, &l.Bot, &l.Surface, &l.Channel, &l.Thread); err != nil {
				return err
			}
			if !busy[l.Conversation] && !full[l.Surface] {
				list = append(list, l)
			}
			return nil
		}, `SELECT p.conversation, c.bot, c.surface, c.channel, c.thread FROM posts p CROSS JOIN conversations c ON c.id = p.conversation
			WHERE p.state IN ('pending', 'posting') AND p.next_try <= ? AND NOT EXISTS (SELECT 1 FROM posts q
				WHERE q.conversation = p.conversation AND q.id < p.id AND q.state IN ('pending', 'posting'))
			ORDER BY p.next_try, p.id`, now)
	})
	return list, wrap("read what is to be delivered", err)
}

// NextPost reads the post of a conversation that must go out now: the oldest that is not out, as it is
// at this moment, if it is due; ErrNotFound else. One in state posting may be it: if nobody is handing
// it over, the process that did has died and it may be out already.
func (s *Store) NextPost(conversation ID, now Time) (p Post, err error) {
	err = s.read(func(c *conn) error {
		return p.scan(c.one(`SELECT `+postColumns+` FROM posts p JOIN turns t ON t.id = p.turn
			WHERE p.conversation = ? AND p.state IN ('pending', 'posting') ORDER BY p.id LIMIT 1`, conversation))
	})
	if err == nil && p.NextTry > now {
		err = ErrNotFound
	}
	return p, wrap("read the next post", err)
}

// NextDelivery is when the next post or alert after now is to be tried; 0 if none waits.
func (s *Store) NextDelivery(now Time) (at Time, err error) {
	err = s.read(func(c *conn) error {
		return c.one(`SELECT coalesce(min(at), 0) FROM (
			SELECT min(next_try) AS at FROM posts WHERE state IN ('pending', 'posting') AND next_try > ?
			UNION ALL SELECT min(next_try) FROM alerts WHERE (told = 0 OR told = 1 AND cleared > 0) AND next_try > ?)`, now, now).Scan(&at)
	})
	return at, wrap("read next delivery", err)
}

func (c *conn) posts(sql string, args ...any) (list []Post, err error) {
	err = c.each(func(r row) error {
		var p Post
		err := p.scan(r)
		list = append(list, p)
		return err
	}, sql, args...)
	return list, err
}

// MarkPost stores how handing it over went: State, Handle, NextTry, Tries, Error and Text as given,
// unless its Text has changed since (Edited differs): then only Handle is stored, and it is due at
// once with the new text. ErrNotFound if there is none of this ID.
func (s *Store) MarkPost(p Post, now Time) error {
	return wrap("mark post", s.write(now, func(f *fact) error {
		var was Post
		var turnText string
		err := f.one(`SELECT p.kind, coalesce(p.text, t.text), p.edited, t.text FROM posts p JOIN turns t ON t.id = p.turn WHERE p.id = ?`, p.ID).
			Scan(&was.Kind, &was.Text, &was.Edited, &turnText)
		switch {
		case err != nil:
			return err
		case was.Edited != p.Edited:
			return f.must(`UPDATE posts SET handle = ? WHERE id = ?`, p.Handle, p.ID)
		}
		p.Kind = was.Kind
		err = f.must(`UPDATE posts SET state = ?, handle = ?, next_try = ?, wait_ms = ?, tries = ?, error = ?, text = ? WHERE id = ?`,
			p.State, p.Handle, p.NextTry, p.waitMS(now), p.Tries, p.Error, p.textOf(turnText), p.ID)
		if err != nil || p.Text == was.Text {
			return err
		}
		return f.changed(object{kind: kindMessage, id: p.ID})
	}))
}
