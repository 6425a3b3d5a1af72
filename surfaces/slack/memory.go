package slack

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"holdfast/store"
)

const (
	rememberEvery = 30 * time.Second
	channelsKept  = 500
	talksKept     = 5000 // conversations that are read at a start
	sentKept      = 2000
)

// memory is what the next process must know. It is written now and then: what is older than the
// truth is made up for by reading a little more, whose events are known by their keys.
type memory struct {
	Seen     string   `json:"seen"`     // the newest message that was taken in or passed over; "" = the first start
	Channels []string `json:"channels"` // where messages came from, the latest last
	changed  bool
}

// saw notes a message that has been dealt with.
func (m *memory) saw(channel, ts string) {
	if ts > m.Seen {
		m.Seen, m.changed = ts, true
	}
	if channel != "" && !slices.Contains(m.Channels, channel) {
		m.Channels, m.changed = append(m.Channels, channel), true
		m.Channels = m.Channels[max(0, len(m.Channels)-channelsKept):]
	}
}

func (s *Surface) memoryKey() string { return "surface:" + s.Name() }

// recall reads what the last process knew, and where the bot has been spoken to.
func (s *Surface) recall(st *store.Store) {
	s.taking.Lock()
	defer s.taking.Unlock()
	text, err := st.Meta(s.memoryKey())
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &s.memory)
	}
	if err != nil {
		s.Log.Error("what was known of Slack cannot be read", "surface", s.Name(), "err", err)
	}
	chats, err := st.Chats(0, talksKept)
	if err != nil {
		s.Log.Error("conversations cannot be read", "surface", s.Name(), "err", err)
	}
	for _, c := range chats {
		if c.Surface == s.Name() && c.Bot == s.cfg.Bot {
			s.talks[c.Channel+"/"+c.Thread] = true
			s.memory.saw(c.Channel, "")
		}
	}
}

// keepMemory writes it down while it changes, and at the end.
func (s *Surface) keepMemory(ctx context.Context) {
	tick := time.NewTicker(rememberEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.remember()
			return
		case <-tick.C:
			s.remember()
		}
	}
}

func (s *Surface) remember() {
	s.taking.Lock()
	defer s.taking.Unlock()
	if !s.memory.changed {
		return
	}
	text, err := json.Marshal(s.memory)
	if err == nil {
		err = s.engine.Load().Store.SetMeta(s.memoryKey(), string(text), nil)
	}
	if err != nil {
		s.Log.Error("what is known of Slack cannot be stored", "surface", s.Name(), "err", err)
		return
	}
	s.memory.changed = false
}

// recent remembers which message a client's own id belongs to.
type recent struct {
	ts  map[string]string
	ids []string
}

func (r *recent) of(id string) string { return r.ts[id] }

func (r *recent) add(id, ts string) {
	if id == "" || r.ts[id] != "" {
		return
	}
	if r.ts == nil {
		r.ts = map[string]string{}
	}
	if len(r.ids) >= sentKept {
		delete(r.ts, r.ids[0])
		r.ids = r.ids[1:]
	}
	r.ids, r.ts[id] = append(r.ids, id), ts
}
