package api

// sentKept is how many messages are remembered.
const sentKept = 2000

// Sent remembers which message a client's own id belongs to: a client may send one twice, as two
// messages, the second within seconds. It is for one goroutine at a time.
type Sent struct {
	ts  map[string]string // by client_msg_id
	ids []string          // the oldest first
}

// Again tells whether another message of the same id has been added.
func (s *Sent) Again(e Event) bool {
	ts := s.ts[e.Sent]
	return ts != "" && ts != e.TS
}

// Add notes a message.
func (s *Sent) Add(e Event) {
	if e.Sent == "" || s.ts[e.Sent] != "" {
		return
	}
	if s.ts == nil {
		s.ts = map[string]string{}
	}
	if len(s.ids) >= sentKept {
		delete(s.ts, s.ids[0])
		s.ids = s.ids[1:]
	}
	s.ids, s.ts[e.Sent] = append(s.ids, e.Sent), e.TS
}
