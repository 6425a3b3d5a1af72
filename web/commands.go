package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/web/command"
)

// owner is the one person that everybody with the token or a login is.
const owner = "owner"

// carried is the answer to a command that was carried out: now, or before.
type carried struct {
	ID        string   `json:"id"`
	OK        bool     `json:"ok"`
	Turn      *string  `json:"turn"`
	Chat      *string  `json:"chat"`
	Seq       int64    `json:"seq"`
	Duplicate bool     `json:"duplicate"`
	Count     *int     `json:"count,omitempty"` // with a filter: turns it was carried out on
	Turns     []string `json:"turns,omitzero"`  // … and which
}

// handleCommand carries out one command and answers after its commit.
func (s *Server) handleCommand(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, command.MaxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			refuse(w, &problem{status: http.StatusRequestEntityTooLarge, code: "too_large", message: "a command may have 1.5 MB at most"})
			return
		}
		refuse(w, badRequest("the command did not arrive whole"))
		return
	}
	c, err := command.Parse(raw)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	// What has been decided is carried through even if the client goes away meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
	defer cancel()
	who, once := callerOf(r), &store.Command{ID: c.ID, Hash: c.Hash, At: store.At(time.Now())}
	var done carried
	if who.visits() {
		once.ID = who.person + "/" + c.ID // what others have sent under the same id is not his
		done, err = s.visitorsCommand(ctx, c, once, who, s.address(r))
	} else {
		done, err = s.carryOut(ctx, c, once)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	done.ID = c.ID
	reply(w, http.StatusOK, done)
}

// carryOut hands a command to whoever can do it. Each takes the store's Command along into its own
// transaction.
func (s *Server) carryOut(ctx context.Context, c command.Command, once *store.Command) (carried, error) {
	if c.IfVersion > 0 && (!strings.HasPrefix(c.Name, "turn.") && c.Name != command.Edit || c.Filter != nil) {
		return carried{}, badRequest(`"if_version" belongs to commands on one turn; %s has none`, c.Name)
	}
	if err := s.store.Known(once); err != nil && c.Filter == nil { // before a version or a gate that it has changed itself is looked at
		return result(once, err)
	}
	switch c.Name {
	case command.Send:
		return s.say(ctx, c, once)
	case command.Edit:
		return s.act(ctx, c, once, func(ctx context.Context, o engine.Order) (store.Turn, error) {
			return s.engine.EditMessage(ctx, o, c.Text)
		})
	case command.Again:
		return s.act(ctx, c, once, s.engine.Regenerate)
	case command.Decide:
		return s.decide(ctx, c, once)
	case command.Ack:
		return s.ack(ctx, c, once)
	case command.RunSchedule, command.PauseSchedule, command.DeleteSchedule:
		return s.onSchedule(ctx, c, once)
	case command.Forget:
		return s.forget(c, once)
	case command.Stop:
		return s.act(ctx, c, once, s.engine.Stop)
	case command.Resume:
		return s.one(ctx, c, once, s.engine.Resume)
	case command.Cancel:
		return s.one(ctx, c, once, s.engine.Cancel)
	case command.Release:
		return plain(once, "", s.engine.Release(ctx, c.Target, once))
	case command.Pause:
		return plain(once, "", s.engine.Pause(ctx, c.Target, once))
	case command.Unpause:
		return plain(once, "", s.engine.Unpause(ctx, c.Target, once))
	case command.Rename:
		return plain(once, c.Target, s.store.RenameChat(c.Target, c.Title, once.At, once))
	case command.Delete:
		return plain(once, c.Target, s.store.DeleteChat(c.Target, once.At, once))
	}
	return carried{}, fmt.Errorf("carry out %s: nobody does it", c.Name) // Parse lets none through
}

// result is what the store keeps of a command. A command that was carried out before is no error to
// whoever sent it.
func result(once *store.Command, err error) (carried, error) {
	if err != nil && !errors.Is(err, store.ErrDuplicate) {
		return carried{}, err
	}
	return carried{
		ID: once.ID, OK: true, Turn: some(once.Turn.String()), Chat: some(once.Chat), Seq: once.Seq,
		Duplicate: once.Duplicate || err != nil,
	}, nil
}

// plain is the answer to a command that is not about a turn.
func plain(once *store.Command, chat string, err error) (carried, error) {
	done, err := result(once, err)
	if err == nil && done.Chat == nil {
		done.Chat = some(chat)
	}
	return done, err
}

// say makes a turn of a message; the first one makes the chat.
func (s *Server) say(ctx context.Context, c command.Command, once *store.Command) (carried, error) {
	m := c.Message
	bot, err := s.bot(m.Bot)
	if err != nil {
		return carried{}, err
	}
	if m.Chat == "" {
		m.Chat = rand.Text()
	}
	got, err := s.engine.Receive(ctx, engine.Incoming{
		Bot: bot, Surface: surface, Channel: m.Chat, Title: title(m.Text), Key: "web:" + c.ID, Person: owner, Text: m.Text, Trusted: true, Command: once,
	})
	done, err := result(once, err)
	if err != nil || done.Duplicate {
		return done, err
	}
	done.Turn, done.Chat, done.Seq, done.Duplicate = some(got.Turn.String()), &m.Chat, got.Seq, got.Duplicate
	return done, nil
}

// ack notes that an operator has seen an alert.
func (s *Server) ack(ctx context.Context, c command.Command, once *store.Command) (carried, error) {
	id, err := store.ParseID(c.Target)
	if err == nil {
		err = s.engine.Ack(ctx, id, once)
	}
	if errors.Is(err, store.ErrNotFound) {
		return carried{}, &problem{status: 404, code: "not_found", message: "there is no alert of that id"}
	}
	return plain(once, "", err)
}

// bot is the named one, or the only one there is.
func (s *Server) bot(name string) (string, error) {
	if name != "" || len(s.bots) == 0 {
		return name, nil
	}
	if len(s.bots) > 1 {
		names := make([]string, len(s.bots))
		for i, b := range s.bots {
			names[i] = b.Name
		}
		return "", badRequest(`there are several bots; say in "args" for which one this is: "bot" is one of %s`, strings.Join(names, ", "))
	}
	return s.bots[0].Name, nil
}

// title is the first line of a chat's first message, at most 60 characters.
func title(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) <= 60 {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:59])) + "…"
}

// deed is something the engine does to one turn.
type deed func(context.Context, engine.Order) (store.Turn, error)

// one acts on the turn that is named, or on those that a filter chooses.
func (s *Server) one(ctx context.Context, c command.Command, once *store.Command, do deed) (carried, error) {
	if c.Filter != nil {
		return s.many(ctx, c, once, do)
	}
	return s.act(ctx, c, once, do)
}

// act does something to the turn that is named.
func (s *Server) act(ctx context.Context, c command.Command, once *store.Command, do deed) (carried, error) {
	id, err := store.ParseID(c.Target)
	if err != nil {
		return carried{}, noTurn(err)
	}
	t, err := do(ctx, engine.Order{Turn: id, IfVersion: c.IfVersion, Say: c.Say, Command: once})
	done, err := result(once, err)
	if err != nil {
		return carried{}, s.withTurn(err, id, t)
	}
	if !done.Duplicate && t.ID != 0 {
		done.Turn, done.Chat = some(t.ID.String()), some(chatOf(t))
	}
	return done, nil
}

// withTurn adds the turn as it is now to a refusal that rests on its state.
func (s *Server) withTurn(err error, id store.ID, t store.Turn) error {
	p, known := explain(err)
	if !known {
		return err
	}
	if p.status != http.StatusConflict {
		return noTurn(err)
	}
	if t.ID == 0 {
		if now, err := s.store.Turn(id); err == nil {
			t = now
		}
	}
	if t.ID != 0 {
		p.turn = &t
	}
	if p.code == "held" && t.RetryAt != 0 {
		p.message = "held until " + t.RetryAt.Go().Format("2006-01-02 15:04:05 UTC") + ": the provider has asked to wait until then"
	}
	return p
}

// noTurn words a missing turn.
func noTurn(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &problem{status: 404, code: "not_found", message: "there is no turn of that id"}
	}
	return err
}
