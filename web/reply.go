package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/web/command"
)

// problem is a refusal as people and scripts see it: {"error":{"code","message"}}.
type problem struct {
	status  int
	code    string
	message string
	turn    *store.Turn // the object as it is now, for 409
	until   store.Time  // when it can be sent again, for 429; 0 = not known
}

func (p *problem) Error() string { return p.message }

// encode is JSON in which < stays <: every answer says that it is no HTML (nosniff), and rendered
// Markdown would grow by a third.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// reply writes a value as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	b, err := encode(v)
	if err != nil { // our own shapes: cannot happen
		status, b = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(b, '\n')) // a client that is gone cannot be told
}

// refuse writes a refusal.
func refuse(w http.ResponseWriter, p *problem) {
	var body struct {
		Error struct {
			Code    string     `json:"code"`
			Message string     `json:"message"`
			RetryAt store.Time `json:"retry_at,omitzero"`
		} `json:"error"`
		Turn *turnJSON `json:"turn,omitempty"`
	}
	body.Error.Code, body.Error.Message, body.Error.RetryAt = p.code, p.message, p.until
	if wait := time.Until(p.until.Go()); p.until != 0 {
		w.Header().Set("Retry-After", fmt.Sprint(max(1, int(wait/time.Second)+1)))
	}
	if p.turn != nil {
		body.Turn = new(showTurn(*p.turn))
	}
	reply(w, p.status, body)
}

// explain turns an error of engine or store into what the caller is told. ok is false for an error
// that is nobody's mistake and belongs into the log.
func explain(err error) (p *problem, ok bool) {
	if p, ok := errors.AsType[*problem](err); ok {
		return p, true
	}
	if wrong, ok := errors.AsType[*command.Error](err); ok {
		return &problem{status: 400, code: wrong.Code, message: wrong.Message}, true
	}
	for _, known := range []struct {
		err    error
		status int
		code   string
		text   string
	}{
		{engine.ErrNoBot, 404, "no_such_bot", "there is no bot of that name"},
		{engine.ErrHeld, 409, "held", "the provider has asked to wait; nothing is sent before then"},
		{engine.ErrAsks, 409, "approval", "the turn waits for a person's word on its tool calls; approve or deny them"},
		{engine.ErrNotYours, 403, "not_yours", "only who asked, or an operator, may do this"},
		{engine.ErrVersion, 409, "stale", "the turn has changed since it was read; here it is as it is now"},
		{engine.ErrStopped, 503, "stopping", "the daemon is stopping; send it again in a moment"},
		{store.ErrNotFound, 404, "not_found", "there is nothing of that name"},
		{store.ErrSettled, 409, "settled", "the turn is done already"},
		{store.ErrElsewhere, 409, "other_surface", "this chat is not one of the page's; write there, or start a new one"},
		{store.ErrOtherBot, 409, "other_bot", "this chat belongs to another bot; start a new one"},
		{store.ErrConfigured, 409, "in_config", "this schedule stands in the config; take it out there and restart"},
		{store.ErrBegun, 409, "begun", "the answer has begun; stop it first"},
		{store.ErrBusy, 409, "busy", "a turn of this chat is not done; stop it first"},
		{store.ErrCommandReused, 422, "id_reused", "this command id was used with another body; make a new id"},
		{store.ErrFull, 503, "not_stored", "the disk is full, so nothing could be stored; free some space and send it again"},
		{context.Canceled, 503, "stopping", "the daemon is stopping; send it again in a moment"},
		{context.DeadlineExceeded, 503, "slow", "the daemon is too busy; send it again in a moment"},
	} {
		if errors.Is(err, known.err) {
			return &problem{status: known.status, code: known.code, message: known.text}, true
		}
	}
	return &problem{status: 503, code: "not_stored", message: "this could not be read or stored; nothing has changed. The daemon's log says why"}, false
}

// fail answers with an error, and logs it if it is nobody's mistake.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := explain(err)
	if !ok {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	refuse(w, p)
}

// badRequest is a query that is not understood.
func badRequest(format string, args ...any) *problem {
	return &problem{status: 400, code: "bad_request", message: fmt.Sprintf(format, args...)}
}
