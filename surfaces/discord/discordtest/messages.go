package discordtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// newID grows with time. Server.mu is held, as in all that follows.
func (s *Server) newID() string {
	s.lastID = max((time.Now().UnixMilli()-1420070400000)<<22, s.lastID+1)
	return strconv.FormatInt(s.lastID, 10)
}

func (s *Server) find(id string) *Message {
	for _, m := range s.messages {
		if m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

func (s *Server) user(id string) Object {
	names := map[string]string{Bot: "holdfast", Alice: "alice", Bob: "bob", Robot: "robot"}
	name := cmp.Or(names[id], "user"+id) // anybody else is a person too
	return Object{"id": id, "username": name, "global_name": strings.ToUpper(name[:1]) + name[1:], "bot": id == Bot || id == Robot}
}

// add stores a message and tells of it; allowed is what it may notify, nil = everybody it names.
func (s *Server) add(m *Message, allowed Object) {
	m.ID, m.Made = s.newID(), time.Now()
	s.mention(m, allowed)
	if c := s.channels[m.Channel]; c.Archived && !c.Locked {
		c.Archived = false
	}
	s.messages = append(s.messages, m)
	s.dispatch("MESSAGE_CREATE", m.Channel, s.messageJSON(m))
}

// mention works out whom a message mentions, and whom it notifies.
func (s *Server) mention(m *Message, allowed Object) {
	m.mentions, m.Pings = nil, nil
	for _, id := range []string{Bot, Alice, Bob, Robot} {
		if strings.Contains(m.Content, "<@"+id+">") {
			m.mentions = append(m.mentions, id)
		}
	}
	if old := s.find(m.ReplyTo); old != nil && m.Author != Bot && !slices.Contains(m.mentions, old.Author) {
		m.mentions = append(m.mentions, old.Author)
	}
	parse, _ := allowed["parse"].([]any)
	users, _ := allowed["users"].([]any)
	for _, id := range m.mentions {
		if allowed == nil || slices.Contains(parse, any("users")) || slices.Contains(users, any(id)) {
			m.Pings = append(m.Pings, id)
		}
	}
	if strings.Contains(m.Content, "@everyone") && (allowed == nil || slices.Contains(parse, any("everyone"))) {
		m.Pings = append(m.Pings, "everyone")
	}
}

func (s *Server) messageJSON(m *Message) Object {
	mentions, files := []Object{}, []Object{}
	for _, id := range m.mentions {
		mentions = append(mentions, s.user(id))
	}
	for _, f := range m.Files {
		files = append(files, Object{"filename": f})
	}
	o := Object{"id": m.ID, "channel_id": m.Channel, "type": 0, "author": s.user(m.Author), "content": m.Content, "mentions": mentions,
		"attachments": files, "edited_timestamp": nil, "nonce": m.Nonce}
	if g := s.channels[m.Channel].Guild; g != "" {
		o["guild_id"], o["member"] = g, Object{"nick": nil}
	}
	if m.ReplyTo != "" {
		o["type"], o["message_reference"] = 19, Object{"message_id": m.ReplyTo}
	}
	if len(m.Edits) > 0 {
		o["edited_timestamp"] = "2026-01-01T00:00:00Z"
	}
	return o
}

func (s *Server) channelJSON(id string) Object {
	c := s.channels[id]
	o := Object{"id": id, "type": c.Type, "guild_id": c.Guild, "parent_id": c.Parent, "name": c.Name, "last_message_id": nil}
	for _, m := range s.messages {
		if m.Channel == id {
			o["last_message_id"] = m.ID
		}
	}
	return o
}

// asJSON copies a value through its JSON form.
func asJSON(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
