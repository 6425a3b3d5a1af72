package discordtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func (s *Server) place(r *http.Request) (*Channel, *refusal) {
	c := s.channels[r.PathValue("c")]
	switch {
	case c == nil:
		return nil, &refusal{status: 404, code: 10003, message: "Unknown Channel"}
	case c.NoAccess:
		return nil, &refusal{status: 403, code: 50001, message: "Missing Access"}
	}
	return c, nil
}

func (s *Server) nothing(*http.Request, Object) (any, *refusal) { return nil, nil }

func (s *Server) getGateway(*http.Request, Object) (any, *refusal) {
	return Object{"url": "ws://gateway.test/gateway", "session_start_limit": Object{"remaining": 1000 - len(s.sessions), "reset_after": 3600000}}, nil
}

func (s *Server) getApp(*http.Request, Object) (any, *refusal) {
	flags := 0
	if s.Intents&privileged != 0 {
		flags = 1 << 19
	}
	return Object{"id": Bot, "flags": flags}, nil
}

func (s *Server) getGuild(r *http.Request, _ Object) (any, *refusal) {
	if r.PathValue("g") != Guild {
		return nil, &refusal{status: 404, code: 10004, message: "Unknown Guild"}
	}
	return Object{"id": Guild}, nil
}

func (s *Server) getChannel(r *http.Request, _ Object) (any, *refusal) {
	if _, no := s.place(r); no != nil {
		return nil, no
	}
	return s.channelJSON(r.PathValue("c")), nil
}

func (s *Server) openThread(r *http.Request, _ Object) (any, *refusal) {
	c, no := s.place(r)
	if no == nil && c.Locked {
		no = &refusal{status: 403, code: 50013, message: "Missing Permissions"}
	}
	if no != nil {
		return nil, no
	}
	c.Archived = false
	return s.channelJSON(r.PathValue("c")), nil
}

func (s *Server) guildChannels(threads bool) []Object {
	list := []Object{}
	for id, c := range s.channels {
		if isThread := c.Type >= 10; c.Guild != "" && isThread == threads {
			list = append(list, s.channelJSON(id))
		}
	}
	slices.SortFunc(list, func(a, b Object) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	return list
}

func text(body Object) (string, *refusal) {
	t, _ := body["content"].(string)
	t = strings.TrimSpace(t)
	switch {
	case t == "":
		return "", &refusal{status: 400, code: 50006, message: "Cannot send an empty message"}
	case utf8.RuneCountInString(t) > 2000:
		return "", &refusal{status: 400, code: 50035, message: "Invalid Form Body"}
	}
	return t, nil
}

// customIDs are those of a message's buttons.
// buttonsOf are a message's: their custom ids and their labels.
func buttonsOf(body Object) (ids, labels []string) {
	rows, _ := body["components"].([]any)
	for _, row := range rows {
		list, _ := row.(Object)["components"].([]any)
		for _, b := range list {
			ids = append(ids, fmt.Sprint(b.(Object)["custom_id"]))
			labels = append(labels, fmt.Sprint(b.(Object)["label"]))
		}
	}
	return ids, labels
}

func (s *Server) create(r *http.Request, body Object) (any, *refusal) {
	c, no := s.place(r)
	if no == nil && c.NoSend {
		no = &refusal{status: 403, code: 50013, message: "Missing Permissions"}
	}
	if no == nil && c.Archived && c.Locked {
		no = &refusal{status: 400, code: 50083, message: "Thread is archived"}
	}
	if no != nil {
		return nil, no
	}
	content, no := text(body)
	if no != nil {
		return nil, no
	}
	nonce, _ := body["nonce"].(string)
	if len(nonce) > 25 {
		return nil, &refusal{status: 400, code: 50035, message: "Invalid Form Body"}
	}
	for _, m := range s.messages {
		if body["enforce_nonce"] != true || nonce == "" || m.Nonce != nonce || time.Since(m.Made) >= s.NonceFor {
			continue
		}
		if m.Deleted {
			return nil, &refusal{status: 404, code: 10008, message: "Unknown Message"}
		}
		return s.messageJSON(m), nil
	}
	m := &Message{Channel: r.PathValue("c"), Author: Bot, Content: content, Nonce: nonce}
	m.Buttons, m.Labels = buttonsOf(body)
	if ref, ok := body["message_reference"].(Object); ok && s.find(fmt.Sprint(ref["message_id"])) != nil {
		m.ReplyTo = fmt.Sprint(ref["message_id"])
	}
	allowed, _ := body["allowed_mentions"].(Object)
	s.add(m, allowed)
	return s.messageJSON(m), nil
}

func (s *Server) list(r *http.Request, _ Object) (any, *refusal) {
	if _, no := s.place(r); no != nil {
		return nil, no
	}
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64)
	before, _ := strconv.ParseInt(r.FormValue("before"), 10, 64)
	found := []Object{}
	for _, m := range s.messages {
		if id, _ := strconv.ParseInt(m.ID, 10, 64); m.Channel == r.PathValue("c") && !m.Deleted && id > after && (before == 0 || id < before) {
			o := s.messageJSON(m)
			delete(o, "guild_id")
			delete(o, "member")
			delete(o, "nonce")
			found = append(found, o)
		}
	}
	if len(found) > limit && after > 0 {
		found = found[:limit]
	} else if len(found) > limit {
		found = found[len(found)-limit:]
	}
	slices.Reverse(found)
	return found, nil
}

// one is a single message.
func (s *Server) one(r *http.Request, _ Object) (any, *refusal) {
	m := s.find(r.PathValue("m"))
	if m == nil || m.Channel != r.PathValue("c") {
		return nil, &refusal{status: 404, code: 10008, message: "Unknown Message"}
	}
	return s.messageJSON(m), nil
}

func (s *Server) edit(r *http.Request, body Object) (any, *refusal) {
	c, no := s.place(r)
	if no != nil {
		return nil, no
	}
	m := s.find(r.PathValue("m"))
	content, no := text(body)
	switch {
	case m == nil:
		return nil, &refusal{status: 404, code: 10008, message: "Unknown Message"}
	case m.Author != Bot:
		return nil, &refusal{status: 403, code: 50005, message: "Cannot edit a message authored by another user"}
	case c.OldEdits && time.Since(m.Made) > time.Hour:
		return nil, &refusal{status: 429, code: 30046, retryAfter: 20}
	case c.Archived:
		return nil, &refusal{status: 400, code: 50083, message: "Thread is archived"}
	case no != nil:
		return nil, no
	}
	m.Content, m.Edits = content, append(m.Edits, content)
	m.Buttons, m.Labels = buttonsOf(body)
	if body["allowed_mentions"] == nil {
		m.Pings = append(m.Pings, "an edit without allowed_mentions")
	}
	s.dispatch("MESSAGE_UPDATE", m.Channel, s.messageJSON(m))
	return s.messageJSON(m), nil
}

func (s *Server) remove(r *http.Request, _ Object) (any, *refusal) {
	m := s.find(r.PathValue("m"))
	if m == nil {
		return nil, &refusal{status: 404, code: 10008, message: "Unknown Message"}
	}
	m.Deleted = true
	return nil, nil
}

func (s *Server) dm(_ *http.Request, body Object) (any, *refusal) {
	for id, c := range s.channels {
		if c.Type == 1 && c.with == body["recipient_id"] {
			return s.channelJSON(id), nil
		}
	}
	return nil, &refusal{status: 400, code: 50033, message: "Invalid Recipient(s)"}
}

func (s *Server) answer(_ *http.Request, body Object) (any, *refusal) {
	data, _ := body["data"].(Object)
	if data["flags"] != float64(64) || body["type"] != float64(4) {
		return nil, &refusal{status: 400, message: "the tests want an answer that one person sees"}
	}
	s.answers = append(s.answers, fmt.Sprint(data["content"]))
	return nil, nil
}
