package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/web/command"
)

// scheduleJSON is something that the clock sends.
type scheduleJSON struct {
	Name     string     `json:"name"`
	Bot      string     `json:"bot"`
	Cron     *string    `json:"cron"`     // null = once
	Timezone string     `json:"timezone"` // IANA name; "UTC+02:00" for the machine's if that has none
	Prompt   string     `json:"prompt"`
	To       string     `json:"to"`     // "slack:NAME/C0123", "web:CHAT"
	Source   string     `json:"source"` // "config" | "bot"
	Next     store.Time `json:"next"`   // null while it is paused, and once it is over
	Last     store.Time `json:"last"`
	LastTurn *string    `json:"last_turn"`
	Paused   bool       `json:"paused"`
	Missed   string     `json:"missed"`
}

func showSchedule(s store.Schedule) scheduleJSON {
	at := time.Now()
	if s.Next != 0 {
		at = s.Next.Go()
	}
	j := scheduleJSON{
		Name: s.Name, Bot: s.Bot, Cron: some(s.Cron), Timezone: zoneName(s.Timezone, time.Local, zoneLink(), at), Prompt: s.Prompt, To: target(s.Surface, s.Channel), Source: s.Source, Next: s.Next,
		Last: s.Last, LastTurn: some(s.LastTurn.String()), Paused: s.Paused, Missed: s.Missed,
	}
	if s.Paused {
		j.Next = 0
	}
	return j
}

// target is a place as the config writes it.
func target(surface, channel string) string {
	platform, name, chat := strings.Cut(surface, "/")
	if !chat {
		return platform + ":" + channel
	}
	return platform + ":" + name + "/" + channel
}

// handleSchedules lists what the clock sends, by name.
func (s *Server) handleSchedules(w http.ResponseWriter, r *http.Request) {
	list, err := s.engine.Schedules()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, http.StatusOK, struct {
		Schedules []scheduleJSON `json:"schedules"`
	}{show(list, showSchedule)})
}

// onSchedule runs one now, pauses it or lets it go on, or deletes what a bot has set for itself.
func (s *Server) onSchedule(ctx context.Context, c command.Command, once *store.Command) (done carried, err error) {
	var t store.Turn
	switch c.Name {
	case command.RunSchedule:
		t, err = s.engine.RunSchedule(ctx, c.Target, once)
	case command.PauseSchedule:
		err = s.engine.PauseSchedule(ctx, c.Target, c.Paused, once)
	default:
		err = s.engine.DeleteSchedule(ctx, c.Target, once)
	}
	if errors.Is(err, store.ErrNotFound) {
		return carried{}, &problem{status: http.StatusNotFound, code: "not_found", message: "there is no schedule of that name"}
	}
	if done, err = result(once, err); err == nil && !done.Duplicate && t.ID != 0 {
		done.Turn, done.Chat = some(t.ID.String()), some(chatOf(t))
	}
	return done, err
}

// memoryJSON is something that a bot remembers; person is null if it is for everybody.
type memoryJSON struct {
	ID           string     `json:"id"`
	Bot          string     `json:"bot"`
	Person       *string    `json:"person"`
	Text         string     `json:"text"`
	At           store.Time `json:"at"`
	Conversation *string    `json:"conversation"` // where it was said: a chat's id
}

func showMemory(m store.Memory) memoryJSON {
	return memoryJSON{ID: m.ID.String(), Bot: m.Bot, Person: some(m.Person), Text: m.Text, At: m.At, Conversation: some(m.Conversation.String())}
}

const memoriesPage = 100

// handleMemory lists what bots remember, the newest first: ?bot=&person=&q=&limit=&before=, where q is
// words that all stand in it.
func (s *Server) handleMemory(w http.ResponseWriter, r *http.Request) {
	before, err := readID(r.FormValue("before"))
	limit := memoriesPage
	if v := r.FormValue("limit"); v != "" && err == nil {
		limit, err = readLimit(v, 1000)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	list, next, err := s.store.Memories(store.MemoryFilter{Bot: r.FormValue("bot"), Person: r.FormValue("person"), Words: r.FormValue("q"), Before: before, Limit: limit})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, http.StatusOK, struct {
		Memories []memoryJSON `json:"memories"`
		Next     *string      `json:"next"`
	}{show(list, showMemory), some(next.String())})
}

// forget deletes something that a bot remembers.
func (s *Server) forget(c command.Command, once *store.Command) (carried, error) {
	id, err := store.ParseID(c.Target)
	if err == nil {
		err = s.store.DeleteMemory(id, once.At, once)
	}
	if errors.Is(err, store.ErrNotFound) {
		return carried{}, &problem{status: http.StatusNotFound, code: "not_found", message: "nothing is remembered under that id"}
	}
	return result(once, err)
}
