package web

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"holdfast/engine"
	"holdfast/store"
)

const (
	chatsShown    = 200
	messagesShown = 100
	turnsShown    = 500
)

// reader reads what pages are shown: whole objects, as they are at the moment of reading.
type reader struct {
	store  *store.Store
	engine house
	live   *Live
}

// upTo reads the changes after one number up to and with another, at most limit.
func (r *reader) upTo(head, after int64, limit int) ([]store.Change, error) {
	changes, err := r.store.Changes(after, limit)
	if err != nil {
		return nil, fmt.Errorf("read changes after %d: %w", after, err)
	}
	for len(changes) > 0 && changes[len(changes)-1].Seq > head {
		changes = changes[:len(changes)-1]
	}
	return changes, nil
}

// event makes the frame that tells of a change. ok is false if the object is gone meanwhile (a later
// change says so), or if it belongs to a chat that follows says nobody looks at.
func (r *reader) event(c store.Change, follows func(chat string) bool) (e event, ok bool, err error) {
	e.seq = c.Seq
	object, err := r.object(c, &e)
	if errors.Is(err, store.ErrNotFound) {
		return e, false, nil
	}
	if err != nil {
		return e, false, fmt.Errorf("read %s %s for open pages: %w", c.Kind, c.ID, err)
	}
	if object == nil || e.chat != "" && !follows(e.chat) {
		return e, false, nil
	}
	shape, err := object()
	if err != nil {
		return e, false, fmt.Errorf("read %s %s for open pages: %w", c.Kind, c.ID, err)
	}
	e.frame, err = encode(struct {
		T   string `json:"t"`
		Seq int64  `json:"seq"`
		K   string `json:"k"`
		D   any    `json:"d"`
	}{"ev", c.Seq, c.Kind, shape})
	return e, err == nil, err
}

// object finds what a change is about and for which chat it is; what costs is left to the function
// that it returns. Kinds that no part makes yet have none.
func (r *reader) object(c store.Change, e *event) (func() (any, error), error) {
	switch c.Kind {
	case "turn":
		t, err := r.turnOf(c.ID)
		if err == nil && t.State != store.Running {
			e.still = t.ID
		}
		return func() (any, error) { return showTurn(t), nil }, err
	case "chat":
		chat, err := r.chatOf(c.ID)
		return func() (any, error) { return showChat(chat), nil }, err
	case "message":
		return r.message(c, e)
	case "attempt":
		return r.attempt(c, e)
	case "gate":
		return func() (any, error) { return r.gate(c.ID), nil }, nil
	case "removed":
		kind, id, _ := strings.Cut(c.ID, "/")
		return func() (any, error) { return map[string]string{"kind": kind, "id": id}, nil }, nil
	}
	return nil, nil
}

func (r *reader) turnOf(text string) (store.Turn, error) {
	id, err := store.ParseID(text)
	if err != nil {
		return store.Turn{}, err
	}
	return r.store.Turn(id)
}

func (r *reader) chatOf(text string) (store.Chat, error) {
	return r.store.Chat(text)
}

func (r *reader) message(c store.Change, e *event) (func() (any, error), error) {
	id, err := store.ParseID(c.ID)
	if err != nil {
		return nil, err
	}
	m, err := r.store.Message(id)
	if err != nil {
		return nil, err
	}
	chat, err := r.store.ChatByID(m.Chat)
	e.chat = chat.Key
	return func() (any, error) { return showMessage(m, chat.Key, r.live.md), nil }, err
}

func (r *reader) attempt(c store.Change, e *event) (func() (any, error), error) {
	text, number, _ := strings.Cut(c.ID, "/")
	t, err := r.turnOf(text)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("%w: request %s", store.ErrNotFound, c.ID)
	}
	e.chat = chatOf(t)
	return func() (any, error) {
		attempts, err := r.store.Attempts(t.ID)
		if err != nil {
			return nil, err
		}
		if n < 1 || n > len(attempts) {
			return nil, fmt.Errorf("%w: request %s", store.ErrNotFound, c.ID)
		}
		j := showAttempt(attempts[n-1])
		j.Turn = text
		return j, nil
	}, nil
}

// gateJSON is what stands before a model; why is "" once it is open again.
type gateJSON struct {
	ID       string     `json:"id"` // PROVIDER/MODEL
	Provider string     `json:"provider"`
	Model    string     `json:"model"`
	Why      string     `json:"why"`
	Until    store.Time `json:"until"`
	Since    store.Time `json:"since"`
	Class    *string    `json:"class"`
	Error    *string    `json:"error"`
	Waiting  int        `json:"waiting"`
}

func showGate(g engine.GateShape) gateJSON {
	return gateJSON{
		ID: g.Provider + "/" + g.Model, Provider: g.Provider, Model: g.Model, Why: g.Why, Until: g.Until, Since: g.Since,
		Class: some(g.Class), Error: some(g.Error), Waiting: g.Held,
	}
}

// gate shows a gate by its key, which the engine makes as provider|hash of the key|model.
func (r *reader) gate(key string) gateJSON {
	provider, rest, _ := strings.Cut(key, "|")
	_, model, _ := strings.Cut(rest, "|")
	for _, g := range r.engine.Shape().Gates {
		if g.Provider == provider && g.Model == model {
			return showGate(g)
		}
	}
	return gateJSON{ID: provider + "/" + model, Provider: provider, Model: model}
}

// snapshotFrame is all that a page shows, as of a change or later.
type snapshotFrame struct {
	T         string        `json:"t"`
	Seq       int64         `json:"seq"`
	Chats     []chatJSON    `json:"chats"`
	Chat      string        `json:"chat"`
	Messages  []messageJSON `json:"messages"`
	Turns     []turnJSON    `json:"turns"`
	Gates     []gateJSON    `json:"gates"`
	Alerts    []struct{}    `json:"alerts"`
	Providers []struct{}    `json:"providers"`
}

// snapshot reads one for a page that looks at a chat, which need not exist yet.
func (r *reader) snapshot(seq int64, chat string) (f snapshotFrame, err error) {
	f = snapshotFrame{T: "snapshot", Seq: seq, Chat: chat, Messages: []messageJSON{}, Alerts: []struct{}{}, Providers: []struct{}{}}
	chats, err := r.store.Chats(0, chatsShown)
	if err != nil {
		return f, fmt.Errorf("read chats: %w", err)
	}
	f.Chats = show(chats, showChat)
	open := []store.State{store.Queued, store.Running, store.Retrying, store.Parked, store.Rearming, store.Owed}
	turns, _, err := r.store.Turns(store.Filter{States: open, Limit: turnsShown})
	if err != nil {
		return f, fmt.Errorf("read open turns: %w", err)
	}
	if chat != "" {
		if turns, err = r.transcript(&f, turns); err != nil {
			return f, fmt.Errorf("read chat %s: %w", chat, err)
		}
	}
	f.Turns = show(turns, showTurn)
	f.Gates = show(r.engine.Shape().Gates, showGate)
	return f, nil
}

// transcript adds the newest messages of the snapshot's chat, and their turns to those given.
func (r *reader) transcript(f *snapshotFrame, turns []store.Turn) ([]store.Turn, error) {
	c, err := r.store.Chat(f.Chat)
	if errors.Is(err, store.ErrNotFound) {
		return turns, nil
	}
	if err != nil {
		return nil, err
	}
	messages, err := r.store.Messages(c.ID, 0, messagesShown)
	if err != nil {
		return nil, err
	}
	have := make(map[store.ID]bool, len(turns))
	for _, t := range turns {
		have[t.ID] = true
	}
	for _, m := range messages {
		f.Messages = append(f.Messages, showMessage(m, f.Chat, r.live.md))
		if m.Turn == 0 || have[m.Turn] {
			continue
		}
		have[m.Turn] = true
		t, err := r.store.Turn(m.Turn)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}
