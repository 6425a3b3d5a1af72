package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
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
		"GET /channels/{c}/messages/{m}":          {"message", s.one},
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
