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

// thing is what a change tells of.
type thing struct {
	chat  string                        // only for pages that look at this chat; "" = for all
	owner string                        // the visitor in whose chat it is; "" = none
	begun string                        // a chat that there now is
	gone  string                        // a chat that there is no more
	still store.ID                      // a turn that does not run any more
	shape func(who caller) (any, error) // nil = nothing to tell; what costs is left to it
}

// event makes the frames that tell of a change. ok is false if the object is gone meanwhile (a later
// change says so), or if it belongs to a chat that follows says nobody looks at. guests says that a
// visitor's page is open.
func (r *reader) event(c store.Change, follows func(chat string) bool, guests bool) (e event, ok bool, err error) {
	it, err := r.thing(c, guests)
	e = event{seq: c.Seq, chat: it.chat, owner: it.owner, begun: it.begun, gone: it.gone, still: it.still}
	if errors.Is(err, store.ErrNotFound) {
		return e, false, nil
	}
	if err != nil {
		return e, false, fmt.Errorf("read %s %s for open pages: %w", c.Kind, c.ID, err)
	}
	if it.shape == nil || e.chat != "" && !follows(e.chat) {
		return e, false, nil
	}
	if e.frame, err = evFrame(c, it, caller{}); err == nil && e.owner != "" {
		e.guest, err = evFrame(c, it, caller{person: e.owner})
	}
	return e, err == nil, err
}

func evFrame(c store.Change, it thing, who caller) ([]byte, error) {
	shape, err := it.shape(who)
	if err != nil {
		return nil, fmt.Errorf("read %s %s for open pages: %w", c.Kind, c.ID, err)
	}
	return encode(struct {
		T   string `json:"t"`
		Seq int64  `json:"seq"`
		K   string `json:"k"`
		D   any    `json:"d"`
	}{"ev", c.Seq, c.Kind, shape})
}

// as is a shape that is the same for everybody.
func as[T any](v T) func(caller) (any, error) { return func(caller) (any, error) { return v, nil } }

// thing finds what a change is about. Kinds that no part makes yet have nothing to tell.
func (r *reader) thing(c store.Change, guests bool) (it thing, err error) {
	switch c.Kind {
	case "turn":
		return r.turnThing(c.ID, guests)
	case "chat":
		chat, err := r.store.Chat(c.ID)
		return thing{owner: visitorOf(chat), begun: chat.Key, shape: as(showChat(chat))}, err
	case "message":
		return r.message(c.ID)
	case "attempt":
		return r.attempt(c.ID)
	case "gate":
		return thing{shape: func(caller) (any, error) { return r.gate(c.ID), nil }}, nil
	case "alert":
		a, err := r.alertOf(c.ID)
		return thing{shape: as(showAlert(a))}, err
	case "provider":
		return thing{shape: r.provider(c.ID)}, nil
	case "schedule":
		s, err := r.store.Schedule(c.ID)
		return thing{shape: as(showSchedule(s))}, err
	case "removed":
		kind, id, _ := strings.Cut(c.ID, "/")
		if kind == "chat" {
			it.gone = id
		}
		it.shape = as(map[string]string{"kind": kind, "id": id})
	}
	return it, nil
}

// visitorOf is the visitor who has begun a chat; "" if it was somebody else.
func visitorOf(chat store.Chat) string {
	if chat.Surface == surface && isVisitor(chat.Person) {
		return chat.Person
	}
	return ""
}

func (r *reader) turnOf(text string) (store.Turn, error) {
	id, err := store.ParseID(text)
	if err != nil {
		return store.Turn{}, err
	}
	return r.store.Turn(id)
}

func (r *reader) turnThing(id string, guests bool) (it thing, err error) {
	t, err := r.turnOf(id)
	if err != nil {
		return it, err
	}
	it.shape = func(who caller) (any, error) { return r.showTurn(who, t) }
	if t.State != store.Running {
		it.still = t.ID
	}
	if guests && t.Surface == surface {
		chat, err := r.store.ChatByID(t.Conversation)
		if err != nil {
			return it, err
		}
		it.owner = visitorOf(chat)
	}
	return it, nil
}

func (r *reader) message(text string) (it thing, err error) {
	id, err := store.ParseID(text)
	if err != nil {
		return it, err
	}
	m, err := r.store.Message(id)
	if err != nil {
		return it, err
	}
	chat, err := r.store.ChatByID(m.Chat)
	it.chat, it.owner = chat.Key, visitorOf(chat)
	it.shape = func(caller) (any, error) { return showMessage(m, chat.Key, r.live.md), nil }
	return it, err
}

func (r *reader) attempt(id string) (it thing, err error) {
	text, number, _ := strings.Cut(id, "/")
	t, err := r.turnOf(text)
	if err != nil {
		return it, err
	}
	none := fmt.Errorf("%w: request %s", store.ErrNotFound, id)
	n, err := strconv.Atoi(number)
	if err != nil {
		return it, none
	}
	it.chat = chatOf(t)
	it.shape = func(caller) (any, error) {
		attempts, err := r.store.Attempts(t.ID)
		if err != nil {
			return nil, err
		}
		if n < 1 || n > len(attempts) {
			return nil, none
		}
		j := showAttempt(attempts[n-1])
		j.Turn = text
		return j, nil
	}
	return it, nil
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
	People   int        `json:"people"` // whose turns wait
}

func showGate(g engine.GateShape) gateJSON {
	return gateJSON{
		ID: g.Provider + "/" + g.Model, Provider: g.Provider, Model: g.Model, Why: g.Why, Until: g.Until, Since: g.Since,
		Class: some(g.Class), Error: some(g.Error), Waiting: g.Held, People: g.People,
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
