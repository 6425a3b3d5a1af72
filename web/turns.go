package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/web/command"
)

// handleTurns lists turns, the newest first.
func (s *Server) handleTurns(w http.ResponseWriter, r *http.Request) {
	f, err := readFilter(r.URL.Query())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	turns, next, err := s.store.Turns(f)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	shown, err := s.hub.showTurns(callerOf(r), turns)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, http.StatusOK, struct {
		Turns []turnJSON `json:"turns"`
		Next  *string    `json:"next"`
	}{shown, some(next.String())})
}

// readFilter reads the query of a list of turns; a parameter that is not known is refused.
func readFilter(q url.Values) (f store.Filter, err error) {
	waiting := false
	for key, values := range q {
		v := values[len(values)-1]
		switch key {
		case "state":
			f.States, err = readStates(v)
		case "waiting":
			waiting, err = readBool(key, v)
		case "bot":
			f.Bot = v
		case "model":
			f.Model = v
		case "older_than":
			f.OlderThan, err = readAge(v)
		case "limit":
			f.Limit, err = readLimit(v, 1000)
		case "before":
			f.Before, err = readID(v)
		default:
			err = badRequest("the parameter %q is not known; known are state, waiting, bot, model, older_than, limit, before", key)
		}
		if err != nil {
			return f, err
		}
	}
	if waiting && f.States == nil {
		f.States = waitingStates()
	}
	for _, state := range f.States {
		if waiting && !slices.Contains(waitingStates(), state) {
			return f, badRequest("a turn that is %s does not wait; leave out state or waiting", state)
		}
	}
	return f, nil
}

func readStates(v string) ([]store.State, error) {
	var list []store.State
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !slices.Contains(states(), store.State(name)) {
			return nil, noState(name)
		}
		list = append(list, store.State(name))
	}
	return list, nil
}

func readBool(key, v string) (bool, error) {
	switch v {
	case "", "1", "true":
		return true, nil
	case "0", "false":
		return false, nil
	}
	return false, badRequest("%s must be true or false", key)
}

func readAge(v string) (store.Time, error) {
	if v == "" {
		return 0, nil
	}
	age, err := command.Age(v)
	if err != nil {
		return 0, badRequest("older_than: %s", err)
	}
	return store.At(time.Now().Add(-age)), nil
}

func readLimit(v string, most int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		return 0, badRequest("limit must be 1 to %d", most)
	}
	return n, nil
}

func readID(v string) (store.ID, error) {
	if v == "" {
		return 0, nil
	}
	id, err := store.ParseID(v)
	if err != nil {
		return 0, badRequest("before must be what \"next\" said")
	}
	return id, nil
}

// handleTurn shows one turn with its requests, its journal and its posts.
func (s *Server) handleTurn(w http.ResponseWriter, r *http.Request) {
	t, err := s.turn(r.PathValue("id"))
	if err != nil {
		s.fail(w, r, noTurn(err))
		return
	}
	reply(w, http.StatusOK, t)
}

// wholeTurn is a turn with all that belongs to it.
type wholeTurn struct {
	turnJSON
	Attempts []attemptJSON `json:"attempts"`
	Steps    []stepJSON    `json:"steps"`
	Posts    []postJSON    `json:"posts"`
	Usage    spentJSON     `json:"usage"`
}

func (s *Server) turn(text string) (whole wholeTurn, err error) {
	id, err := store.ParseID(text)
	if err != nil {
		return whole, err
	}
	t, err := s.store.Turn(id)
	if err != nil {
		return whole, err
	}
	attempts, err := s.store.Attempts(id)
	if err != nil {
		return whole, err
	}
	steps, err := s.store.Steps(id)
	if err != nil {
		return whole, err
	}
	posts, err := s.store.Posts(id)
	if err != nil {
		return whole, err
	}
	shown, err := s.hub.showTurn(caller{}, t)
	if err != nil {
		return whole, err
	}
	return wholeTurn{shown, show(attempts, showAttempt), show(steps, showStep), show(posts, showPost), s.spent(attempts)}, nil
}
