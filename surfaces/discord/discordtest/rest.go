package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// refusal is an answer that refuses.
type refusal struct {
	status, code int
	retryAfter   float64
	global       bool
	message      string
}

// work is what a call does.
type work func(r *http.Request, body Object) (any, *refusal)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gateway", s.serveGateway)
	mux.HandleFunc("GET /gateway/", s.serveGateway)
	for pattern, x := range map[string]struct {
		op string
		do work
	}{
		"GET /gateway/bot":                        {"gateway", s.getGateway},
		"GET /applications/@me":                   {"app", s.getApp},
		"GET /channels/{c}":                       {"channel", s.getChannel},
		"PATCH /channels/{c}":                     {"open", s.openThread},
		"GET /guilds/{g}":                         {"guild", s.getGuild},
		"GET /guilds/{g}/channels":                {"channels", func(*http.Request, Object) (any, *refusal) { return s.guildChannels(false), nil }},
		"GET /guilds/{g}/threads/active":          {"threads", func(*http.Request, Object) (any, *refusal) { return Object{"threads": s.guildChannels(true)}, nil }},
		"POST /channels/{c}/messages":             {"create", s.create},
		"GET /channels/{c}/messages":              {"messages", s.list},
		"PATCH /channels/{c}/messages/{m}":        {"edit", s.edit},
		"DELETE /channels/{c}/messages/{m}":       {"delete", s.remove},
		"POST /channels/{c}/typing":               {"typing", s.nothing},
		"POST /users/@me/channels":                {"dm", s.dm},
		"POST /interactions/{i}/{token}/callback": {"answer", s.answer},
		"PUT /applications/{a}/commands":          {"commands", s.nothing},
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v10"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, x.op, x.do) })
	}
	return mux
}

// serve runs a call: fault, limit, work, record.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, op string, do work) {
	body := Object{}
	_ = json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	f := s.fault(op)
	status, answer := s.outcome(w, r, op, body, f, do)
	call := Call{Op: op, Channel: r.PathValue("c"), At: time.Now(), Status: status, Body: body}
	if f.Lost {
		call.Status = 0
	}
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
		}
	}
	if f.Lost {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) outcome(w http.ResponseWriter, r *http.Request, op string, body Object, f Fault, do work) (int, any) {
	var no *refusal
	var answer any
	switch {
	case s.Unavailable:
		no = &refusal{status: 503}
	case f.Status != 0:
		no = &refusal{status: f.Status, code: f.Code, retryAfter: f.RetryAfter, global: f.Global}
	case s.Token != "" && op != "answer" && r.Header.Get("Authorization") != "Bot "+s.Token:
		no = &refusal{status: 401}
	default:
		if no = s.limit(w, op, r.PathValue("c")); no == nil {
			answer, no = do(r, body)
		}
	}
	if no == nil {
		return 200, answer
	}
	if no.status == 429 {
		scope := "user"
		if no.global {
			scope = "global"
		}
		w.Header().Set("X-RateLimit-Scope", scope)
		return 429, Object{"message": "You are being rate limited.", "retry_after": no.retryAfter, "global": no.global, "code": no.code}
	}
	return no.status, Object{"message": no.message, "code": no.code}
}

func (s *Server) fault(op string) Fault {
	for _, f := range s.faults {
		if f.Op == op && f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Op == op && f.Times > 0 {
			f.Times--
			return *f
		}
	}
	return Fault{}
}

// limit counts making and editing, 5 in 5 s for each channel.
func (s *Server) limit(w http.ResponseWriter, op, channel string) *refusal {
	if op != "create" && op != "edit" || !s.Limits {
		return nil
	}
	b := s.buckets[op+channel]
	if b == nil || !time.Now().Before(b.till) {
		b = &bucket{till: time.Now().Add(5 * time.Second)}
		s.buckets[op+channel] = b
	}
	left := time.Until(b.till).Seconds()
	if b.used == 5 {
		return &refusal{status: 429, retryAfter: left}
	}
	b.used++
	h := w.Header()
	h.Set("X-RateLimit-Bucket", "b-"+op)
	h.Set("X-RateLimit-Limit", "5")
	h.Set("X-RateLimit-Remaining", strconv.Itoa(5-b.used))
	h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", left))
	return nil
}

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
func customIDs(body Object) (ids []string) {
	rows, _ := body["components"].([]any)
	for _, row := range rows {
		list, _ := row.(Object)["components"].([]any)
		for _, b := range list {
			ids = append(ids, fmt.Sprint(b.(Object)["custom_id"]))
		}
	}
	return ids
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
	m := &Message{Channel: r.PathValue("c"), Author: Bot, Content: content, Nonce: nonce, Buttons: customIDs(body)}
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
	found := []Object{}
	for _, m := range s.messages {
		if id, _ := strconv.ParseInt(m.ID, 10, 64); m.Channel == r.PathValue("c") && !m.Deleted && id > after {
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
	m.Content, m.Edits, m.Buttons = content, append(m.Edits, content), customIDs(body)
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
