package web

import (
	"net/http"
	"time"

	"holdfast/store"
)

const (
	chatsPage    = 200
	messagesPage = 100
)

// handleChats lists chats, the latest active first; next is the before of the following page.
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
	chats, err := s.store.Chats(before, chatsPage)
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

// handleMessages pages back through a transcript: oldest first, next is the before of the page
// above.
func (s *Server) handleMessages(w http.ResponseWriter, r *http.Request) {
	before, err := readID(r.FormValue("before"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	key := r.PathValue("id")
	chat, err := s.store.Chat(key)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	messages, err := s.store.Messages(chat.ID, before, messagesPage)
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
		Next     *string       `json:"next"`
	}{s.showMessages(messages, key), some(next.String())})
}

func (s *Server) showMessages(messages []store.Message, chat string) []messageJSON {
	return show(messages, func(m store.Message) messageJSON { return showMessage(m, chat, s.live.md) })
}
