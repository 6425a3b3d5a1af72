package store

import (
	"errors"
	"slices"
)

// web is the surface whose chats are called by their channel.
const web = "web"

// Chat is a conversation as the list of chats shows it.
type Chat struct {
	ID      ID
	Key     string // its id outside: the channel on the web, else ID's text
	Bot     string
	Surface string
	Channel string
	Thread  string
	Title   string
	Person  string // who began it, as the surface names people
	Created Time
	Active  Time  // last message or answer
	State   State // of its newest turn that is not done; done if all are
}

func chatKey(surface, channel string, id ID) string {
	if surface == web {
		return channel
	}
	return id.String()
}

// chatColumns are what scan reads, of conversations c.
const chatColumns = `c.id, c.bot, c.surface, c.channel, c.thread, c.title, c.person, c.created, c.active,
	coalesce((SELECT state FROM turns WHERE conversation = c.id AND ended = 0 ORDER BY id DESC LIMIT 1), 'done')`

func (x *Chat) scan(r row) error {
	err := r.Scan(&x.ID, &x.Bot, &x.Surface, &x.Channel, &x.Thread, &x.Title, &x.Person, &x.Created, &x.Active, &x.State)
	x.Key = chatKey(x.Surface, x.Channel, x.ID)
	return err
}

// Chats reads the chats, the latest active first; before pages on by Active (0 = from the start).
// Chats that share the last one's moment all come with it, also beyond limit, so that none falls
// between two pages.
func (s *Store) Chats(before Time, limit int) ([]Chat, error) {
	return s.chats(before, limit, "1 = 1")
}

// ChatsOf reads those on the web that a person has begun, likewise.
func (s *Store) ChatsOf(person string, before Time, limit int) ([]Chat, error) {
	return s.chats(before, limit, "c.surface = '"+web+"' AND c.person = ?", person)
}

func (s *Store) chats(before Time, limit int, where string, args ...any) (list []Chat, err error) {
	if before == 0 {
		before = 1<<63 - 1
	}
	add := func(r row) error {
		var x Chat
		err := x.scan(r)
		list = append(list, x)
		return err
	}
	err = s.view(func(c *conn) error {
		err := c.each(add, `SELECT `+chatColumns+` FROM conversations c WHERE `+where+` AND c.active < ? ORDER BY c.active DESC, c.id DESC LIMIT ?`, append(slices.Clone(args), before, limit)...)
		if err != nil || len(list) < limit || limit <= 0 {
			return err
		}
		last := list[len(list)-1]
		return c.each(add, `SELECT `+chatColumns+` FROM conversations c WHERE `+where+` AND c.active = ? AND c.id < ? ORDER BY c.id DESC`, append(slices.Clone(args), last.Active, last.ID)...)
	})
	return list, wrap("read chats", err)
}

// Chat reads one by its outside id, or by its row's as text; ErrNotFound.
func (s *Store) Chat(key string) (x Chat, err error) {
	err = s.read(func(c *conn) error {
		x, err = c.chat(key)
		return err
	})
	return x, wrap("read chat", err)
}

func (c *conn) chat(key string) (x Chat, err error) {
	err = x.scan(c.one(`SELECT `+chatColumns+` FROM conversations c WHERE c.channel = ? AND c.surface = '`+web+`'`, key))
	if !errors.Is(err, ErrNotFound) {
		return x, err
	}
	id, err := ParseID(key)
	if err != nil {
		return x, err
	}
	return c.chatByID(id)
}

func (c *conn) chatByID(id ID) (x Chat, err error) {
	err = x.scan(c.one(`SELECT `+chatColumns+` FROM conversations c WHERE c.id = ?`, id))
	return x, err
}

// ChatByID reads one by its row; ErrNotFound.
func (s *Store) ChatByID(id ID) (x Chat, err error) {
	err = s.read(func(c *conn) error {
		x, err = c.chatByID(id)
		return err
	})
	return x, wrap("read chat", err)
}

// RenameChat carries out the command; ErrNotFound.
func (s *Store) RenameChat(key, title string, now Time, c *Command) error {
	return wrap("rename chat", s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		x, err := f.chat(key)
		if err != nil {
			return err
		}
		if err := f.must(`UPDATE conversations SET title = ? WHERE id = ?`, title, x.ID); err != nil {
			return err
		}
		if err := f.changed(object{kind: kindChat, id: x.ID}); err != nil {
			return err
		}
		return f.keep(c, 0, x.Key)
	}))
}

// DeleteChat carries out the command: the chat goes with all its turns. ErrNotFound; ErrBusy while
// a turn is not done.
func (s *Store) DeleteChat(key string, now Time, c *Command) error {
	return wrap("delete chat", s.write(now, func(f *fact) error {
		if err := f.known(c); err != nil {
			return err
		}
		x, err := f.chat(key)
		switch {
		case err != nil:
			return err
		case x.State != Done:
			return ErrBusy
		}
		var turns []ID
		err = f.each(func(r row) error {
			turns = append(turns, 0)
			return r.Scan(&turns[len(turns)-1])
		}, `SELECT id FROM turns WHERE conversation = ?`, x.ID)
		if err != nil {
			return err
		}
		for id := range slices.Values(turns) {
			if err := f.deleteTurn(id); err != nil {
				return err
			}
		}
		if err := f.must(`DELETE FROM conversations WHERE id = ?`, x.ID); err != nil {
			return err
		}
		if err := f.changed(object{kind: kindRemoved, name: "chat/" + x.Key}); err != nil {
			return err
		}
		return f.keep(c, 0, x.Key)
	}))
}
