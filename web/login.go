package web

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"holdfast/store"
)

const linkLife = 15 * time.Minute

// LoginLink makes a link that logs one browser in, once, within 15 minutes; older links end. Its
// secret stands in the fragment, which browsers do not send and servers do not log. It waits for Run
// to listen.
func (s *Server) LoginLink() (string, error) {
	base := s.URL()
	if base == "" {
		return "", errors.New("make a login link: the page is not served")
	}
	secret := rand.Text()
	hash := digest(secret)
	if err := s.store.PutLink(hash[:], store.At(time.Now()).Add(linkLife)); err != nil {
		return "", fmt.Errorf("make a login link: %w", err)
	}
	return base + "/login#" + secret, nil
}

// handleLoginLink is LoginLink for the command line.
func (s *Server) handleLoginLink(w http.ResponseWriter, r *http.Request) {
	link, err := s.LoginLink()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, http.StatusOK, map[string]string{"url": link})
}

// handleLogin takes a link's secret, or the token, and gives a session: {"secret":"…"}, or the token
// as bearer; and a visitor's code, {"code":"…"}, for a cookie that says so.
func (s *Server) handleLogin(w http.ResponseWriter, r *http.Request) {
	token, byToken := bearer(r)
	if p := s.sameOrigin(r, byToken); p != nil {
		refuse(w, p)
		return
	}
	secret, code := token, ""
	if !byToken {
		var body struct {
			Secret string `json:"secret"`
			Code   string `json:"code"`
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, 4096)).Decode(&body); err != nil {
			refuse(w, badRequest(`write {"secret":"…"} with the secret of a login link or the token, or {"code":"…"} with a visitor's code`))
			return
		}
		secret, code = strings.TrimSpace(body.Secret), strings.TrimSpace(body.Code)
	}
	address, now := s.address(r), time.Now()
	if wait := s.tries.wait(address, now); wait > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
		refuse(w, &problem{status: http.StatusTooManyRequests, code: "too_many_tries", message: "too many tries; wait a minute"})
		return
	}
	if code != "" {
		s.takeCode(w, r, code, address, now)
		return
	}
	session := rand.Text() + rand.Text()
	ok, err := s.openSession(secret, session, now)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !ok {
		s.tries.failed(address, now)
		refuse(w, &problem{status: 401, code: "bad_login", message: "this link was used before or is too old; `" + s.login + "` prints a fresh one"})
		return
	}
	http.SetCookie(w, s.cookie(r, session, sessionLife))
	reply(w, http.StatusOK, map[string]bool{"ok": true})
}

// takeCode lets a visitor in by his code.
func (s *Server) takeCode(w http.ResponseWriter, r *http.Request, code, address string, now time.Time) {
	cookie, ok := s.withCode(code)
	if !ok {
		s.tries.failed(address, now)
		refuse(w, &problem{status: 401, code: "bad_code", message: "nobody has this code; ask whoever runs this page for yours"})
		return
	}
	http.SetCookie(w, s.cookie(r, cookie, visitorLife))
	reply(w, http.StatusOK, map[string]bool{"ok": true})
}

// openSession stores a session if the secret is good. Link and token are both looked at whatever
// the other gave.
func (s *Server) openSession(secret, session string, now time.Time) (bool, error) {
	link, hash, at := digest(secret), digest(session), store.At(now)
	isToken := s.isToken(secret)
	err := s.store.UseLink(link[:], hash[:], at, at.Add(sessionLife))
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	if !isToken {
		return false, nil
	}
	return true, s.store.PutSession(hash[:], at.Add(sessionLife))
}

// handleLogout ends the login that asks, in every tab.
func (s *Server) handleLogout(w http.ResponseWriter, r *http.Request) {
	if c := callerOf(r); c.session != nil {
		if err := s.store.EndSession(c.session); err != nil {
			s.fail(w, r, err)
			return
		}
		s.live.endSession(c.session)
	}
	http.SetCookie(w, s.cookie(r, "", -time.Second))
	w.WriteHeader(http.StatusNoContent)
}

// cookie is Lax, not Strict, so that a link in a chat arrives logged in; writes and handshakes check
// the Origin besides.
func (s *Server) cookie(r *http.Request, value string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: s.names.secure[strings.ToLower(r.Host)],
	}
}

// throttle counts failed tries per address.
type throttle struct {
	limit int
	per   time.Duration

	mu    sync.Mutex
	fails map[string][]time.Time // oldest first, none older than per
}

func newThrottle(limit int, per time.Duration) *throttle {
	return &throttle{limit: limit, per: per, fails: map[string][]time.Time{}}
}

// wait is how long an address must wait before its next try; 0 = it may.
func (t *throttle) wait(address string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	for a, tries := range t.fails {
		for len(tries) > 0 && now.Sub(tries[0]) >= t.per {
			tries = tries[1:]
		}
		if t.fails[a] = tries; len(tries) == 0 {
			delete(t.fails, a)
		}
	}
	if tries := t.fails[address]; len(tries) >= t.limit {
		return t.per - now.Sub(tries[0])
	}
	return 0
}

func (t *throttle) failed(address string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fails[address] = append(t.fails[address], now)
}
