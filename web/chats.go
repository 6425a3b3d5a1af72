package web

import (
	"errors"
	"net/http"
	"time"

	"holdfast/store"
)

const (
	chatsPage    = 200
	messagesPage = 100
)

// handleChats lists chats, the latest active first; next is the before of the following page. A
// visitor has those that he has begun.
func (s *Server) handleChats(w http.ResponseWriter, r *http.Request) {
	var before store.Time
	if v := r.FormValue("before"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			refuse(w, badRequest("before must be what \"next\" said"))
			return
		}
		before = store.At(t)
	}
	chats, err := s.hub.chats(callerOf(r), before, chatsPage)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var next store.Time
	if len(chats) >= chatsPage {
		next = chats[len(chats)-1].Active
	}
	reply(w, http.StatusOK, struct {
		Chats []chatJSON `json:"chats"`
		Next  store.Time `json:"next"`
	}{show(chats, showChat), next})
}

// handleMessages pages back through a transcript: oldest first, with the turns that the messages
// belong to; next is the before of the page above.
func (s *Server) handleMessages(w http.ResponseWriter, r *http.Request) {
	before, err := readID(r.FormValue("before"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	who, key := callerOf(r), r.PathValue("id")
	chat, err := s.store.Chat(key)
	if errors.Is(err, store.ErrNotFound) || err == nil && !who.owns(chat) {
		err = noChat()
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	messages, err := s.store.Messages(chat.ID, before, messagesPage)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	turns, err := s.hub.turnsOf(messages, nil)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	shown, err := s.hub.showTurns(who, turns)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var next store.ID
	if len(messages) == messagesPage {
		next = messages[0].ID
	}
	reply(w, http.StatusOK, struct {
		Messages []messageJSON `json:"messages"`
		Turns    []turnJSON    `json:"turns"`
		Next     *string       `json:"next"`
	}{s.showMessages(messages, key), shown, some(next.String())})
}

func (s *Server) showMessages(messages []store.Message, chat string) []messageJSON {
	return show(messages, func(m store.Message) messageJSON { return showMessage(m, chat, s.live.md) })
}

// chats reads those that a caller may see.
func (r *reader) chats(who caller, before store.Time, limit int) ([]store.Chat, error) {
	if who.visits() {
		return r.store.ChatsOf(who.person, before, limit)
	}
	return r.store.Chats(before, limit)
}

// turnsOf reads the turns that messages belong to and that are not among those had.
func (r *reader) turnsOf(messages []store.Message, had []store.Turn) (turns []store.Turn, err error) {
	have := make(map[store.ID]bool, len(had))
	for _, t := range had {
		have[t.ID] = true
	}
	for _, m := range messages {
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
