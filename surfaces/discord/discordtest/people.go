package discordtest

import "slices"

// Say is a user's message; it returns its id. With replyTo it answers another message, which mentions its author.
func (s *Server) Say(channel, user, text, replyTo string, files ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{Channel: channel, Author: user, Content: text, ReplyTo: replyTo, Files: files}
	s.add(m, nil)
	return m.ID
}

// Change edits a user's message, Remove deletes any.
func (s *Server) Change(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(id)
	m.Content, m.Edits = text, append(m.Edits, text)
	s.mention(m, nil)
	s.dispatch("MESSAGE_UPDATE", m.Channel, s.messageJSON(m))
}

// Remove deletes a message.
func (s *Server) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(id)
	m.Deleted = true
	s.dispatch("MESSAGE_DELETE", m.Channel, Object{"id": id, "channel_id": m.Channel, "guild_id": s.channels[m.Channel].Guild})
}

// Again delivers a message once more.
func (s *Server) Again(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(id)
	s.dispatch("MESSAGE_CREATE", m.Channel, s.messageJSON(m))
}

// Press presses a button, Slash runs a command, as a user.
func (s *Server) Press(channel, user, customID string) {
	s.interact(3, channel, user, Object{"custom_id": customID})
}

// Slash runs a slash command.
func (s *Server) Slash(channel, user, name string) {
	s.interact(2, channel, user, Object{"name": name})
}

func (s *Server) interact(kind int, channel, user string, data Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.newID()
	o := Object{"id": id, "application_id": Bot, "type": kind, "token": "secret" + id, "channel_id": channel, "data": data}
	if g := s.channels[channel].Guild; g != "" {
		o["guild_id"], o["member"] = g, Object{"user": s.user(user), "nick": nil}
	} else {
		o["user"] = s.user(user)
	}
	s.dispatch("INTERACTION_CREATE", "", o)
}

// Answers are those to interactions, oldest first.
func (s *Server) Answers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers)
}

// Put makes or changes a channel.
func (s *Server) Put(id string, change func(*Channel)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[id] == nil {
		s.channels[id] = &Channel{Guild: Guild, Name: "c" + id}
	}
	change(s.channels[id])
}

// Fault is planned for the next calls of its Op.
func (s *Server) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// Bots are the bot's messages in a channel that are not deleted, oldest first.
func (s *Server) Bots(channel string) (list []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Author == Bot && m.Channel == channel && !m.Deleted {
			list = append(list, *m)
		}
	}
	return list
}

// Calls are those of an op, oldest first; "" = all.
func (s *Server) Calls(op string) (list []Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if op == "" || c.Op == op {
			list = append(list, c)
		}
	}
	return list
}
