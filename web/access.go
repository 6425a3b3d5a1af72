package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
)

const sessionLife = 30 * 24 * time.Hour

// caller is who a request comes from: the owner, which is whoever has the token or a login, or a
// visitor of [web] public.
type caller struct {
	session []byte // hash of a login's session; nil with the bearer token and for visitors
	person  string // the visitor, as turns name him; "" = the owner
}

func (c caller) visits() bool { return c.person != "" }

// digest is how secrets are compared and stored.
func digest(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

// isToken compares in constant time.
func (s *Server) isToken(given string) bool {
	sum := digest(given)
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

// bearer is the token that a request brings, if it brings one.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

// cookieName carries the port, since cookies do not tell ports apart.
func (s *Server) cookieName() string { return "holdfast_" + strconv.Itoa(s.names.port) }

// who finds out who is asking; a problem 401 if nobody known. A wrong token is not made good by a
// cookie.
func (s *Server) who(r *http.Request) (caller, error) {
	if token, ok := bearer(r); ok {
		if s.isToken(token) {
			return caller{}, nil
		}
		return caller{}, &problem{status: 401, code: "unauthorized", message: "this is not the token; it stands in web.token beside the store, or in [web] token"}
	}
	cookie, err := r.Cookie(s.cookieName())
	if err != nil {
		return caller{}, s.loginFirst()
	}
	if person, ok := s.visitor(cookie.Value); ok {
		return caller{person: person}, nil
	}
	hash := digest(cookie.Value)
	good, err := s.store.Session(hash[:], store.At(time.Now()))
	if err != nil {
		return caller{}, err
	}
	if !good {
		return caller{}, s.loginFirst()
	}
	return caller{session: hash[:]}, nil
}

func (s *Server) loginFirst() error {
	return &problem{status: 401, code: "unauthorized", message: "log in first: `" + s.login + "` prints a link"}
}

type callerKey struct{}

// callerOf is who has been let in.
func callerOf(r *http.Request) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c
}

// private lets only the owner in.
func (s *Server) private(next http.HandlerFunc) http.Handler {
	return s.known(func(w http.ResponseWriter, r *http.Request) {
		if callerOf(r).visits() {
			refuse(w, notForVisitors())
			return
		}
		next(w, r)
	})
}

func notForVisitors() *problem {
	return &problem{status: http.StatusForbidden, code: "not_for_visitors", message: "visitors may chat here, and nothing else"}
}

// known lets visitors in as well, and anybody's writes only from our own page or with the token.
func (s *Server) known(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token := bearer(r)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if p := s.sameOrigin(r, token); p != nil {
				refuse(w, p)
				return
			}
		}
		c, err := s.who(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// tokenOnly is for what a login must not do.
func (s *Server) tokenOnly(next http.HandlerFunc) http.Handler {
	return s.private(func(w http.ResponseWriter, r *http.Request) {
		if callerOf(r).session != nil {
			refuse(w, &problem{status: 403, code: "token_needed", message: "this needs the bearer token, not a login"})
			return
		}
		next(w, r)
	})
}
