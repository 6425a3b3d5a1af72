package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"holdfast/store"
)

// With [web] public anybody may chat with one bot. Who comes to the page gets a cookie that names him
// and that only this server can make; nothing is stored for it, so that a crawler costs nothing:
//
//	v~ID~MAC          a visitor: fail-fast lane, person "visitor:ID"
//	c~NAME~ID~MAC     one who has given the code of [web.codes] NAME: durable lane, person "code:NAME"
//
// The MAC of a code's cookie covers the code, so that a changed code ends it; the key is made of the
// token, so that a changed token ends them all.

const (
	visitorLife    = 90 * 24 * time.Hour
	visitorLongest = 16 << 10 // bytes of one message

	visitorPerson = "visitor:"
	codePerson    = "code:"
)

// mac signs a cookie's front part.
func (s *Server) mac(front, code string) string {
	key := hmac.New(sha256.New, s.token[:])
	key.Write([]byte("visitors"))
	m := hmac.New(sha256.New, key.Sum(nil))
	m.Write([]byte(front + "\x00" + code))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}

// visitor reads a cookie; ok is false if it is none of a visitor's, or not of our making.
func (s *Server) visitor(cookie string) (person string, ok bool) {
	if s.config.Public == "" {
		return "", false
	}
	parts, code := strings.Split(cookie, "~"), ""
	switch {
	case len(parts) == 3 && parts[0] == "v":
		person = visitorPerson + parts[1]
	case len(parts) == 4 && parts[0] == "c":
		name, err := base64.RawURLEncoding.DecodeString(parts[1])
		if code = s.config.Codes[string(name)]; err != nil || code == "" {
			return "", false
		}
		person = codePerson + string(name)
	default:
		return "", false
	}
	front := strings.Join(parts[:len(parts)-1], "~")
	return person, subtle.ConstantTimeCompare([]byte(s.mac(front, code)), []byte(parts[len(parts)-1])) == 1
}

// newVisitor is a cookie for somebody new.
func (s *Server) newVisitor() string {
	front := "v~" + rand.Text()
	return front + "~" + s.mac(front, "")
}

// withCode is a cookie for who has given a code; ok is false if nobody has it.
func (s *Server) withCode(code string) (cookie string, ok bool) {
	given := digest(code)
	for name, known := range s.config.Codes {
		if sum := digest(known); known != "" && subtle.ConstantTimeCompare(given[:], sum[:]) == 1 {
			front := "c~" + base64.RawURLEncoding.EncodeToString([]byte(name)) + "~" + rand.Text()
			cookie, ok = front+"~"+s.mac(front, known), true
		}
	}
	return cookie, ok && s.config.Public != ""
}

// greet gives whoever comes without a login a cookie of his own. What carries one must not be kept
// by a cache on the way, or two people would get the same.
func (s *Server) greet(w http.ResponseWriter, r *http.Request) {
	if s.config.Public == "" || r.URL.Path != "/" {
		return
	}
	_, err := s.who(r)
	if p, ok := errors.AsType[*problem](err); !ok || p.status != http.StatusUnauthorized {
		return
	}
	http.SetCookie(w, s.cookie(r, s.newVisitor(), visitorLife))
	w.Header().Set("Cache-Control", "private, no-store")
}

// isVisitor reports a person who is one.
func isVisitor(person string) bool {
	return strings.HasPrefix(person, visitorPerson) || strings.HasPrefix(person, codePerson)
}

// owns reports whether a chat is for a caller to see; the owner sees all.
func (c caller) owns(chat store.Chat) bool {
	return !c.visits() || chat.Surface == surface && chat.Person == c.person
}

// lane is the one that he is served in.
func (c caller) lane() string {
	if strings.HasPrefix(c.person, visitorPerson) {
		return "fail_fast"
	}
	return "durable"
}

// name is how the transcript calls him.
func (c caller) name() string {
	name, _ := strings.CutPrefix(c.person, codePerson)
	if name == c.person {
		return ""
	}
	return name
}
