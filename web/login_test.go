package web

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

var allTurns = store.Filter{Limit: 1000}

func TestLoginLinkWorksOnce(t *testing.T) {
	g := newRig(t, nil)
	link, err := g.LoginLink()
	if err != nil {
		t.Fatal(err)
	}
	base, secret, _ := strings.Cut(link, "#")
	if base != g.base+"/login" || len(secret) < 26 {
		t.Fatalf("link %s", link)
	}
	login := request{method: "POST", path: "/login", origin: g.base, body: `{"secret":"` + secret + `"}`}
	status, h, _ := g.do(t, login)
	set := h.Get("Set-Cookie")
	if status != 200 || !strings.HasPrefix(set, "holdfast_"+g.port+"=") {
		t.Fatalf("first use: %d %s", status, set)
	}
	for _, part := range []string{"; HttpOnly", "; SameSite=Lax", "; Path=/", "; Max-Age=2592000"} {
		if !strings.Contains(set, part) {
			t.Errorf("cookie %q lacks %q", set, part)
		}
	}
	if strings.Contains(set, "Secure") {
		t.Errorf("cookie %q cannot be used over http", set)
	}
	value, _, _ := strings.Cut(strings.SplitN(set, "=", 2)[1], ";")
	if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/state", cookie: value}); status != 200 {
		t.Errorf("the session does not work: %d", status)
	}
	if status, _, body := g.do(t, login); status != 401 || !strings.Contains(body, `"bad_login"`) {
		t.Errorf("second use: %d %s", status, body)
	}
}

func TestCookieIsSecureUnderTLS(t *testing.T) {
	g := newRig(t, func(c *Config) { c.PublicURL = "https://chat.example.org" })
	_, h, _ := g.do(t, request{method: "POST", path: "/login", host: "chat.example.org", origin: "https://chat.example.org", body: `{"secret":"` + testToken + `"}`})
	if !strings.Contains(h.Get("Set-Cookie"), "; Secure") {
		t.Errorf("cookie %q", h.Get("Set-Cookie"))
	}
	if link, _ := g.LoginLink(); !strings.HasPrefix(link, "https://chat.example.org/login#") {
		t.Errorf("link %s", link)
	}
}

func TestFiveWrongLoginsAMinute(t *testing.T) {
	g := newRig(t, nil)
	try := request{method: "POST", path: "/login", origin: g.base, body: `{"secret":"wrong"}`}
	for n := range 5 {
		if status, _, _ := g.do(t, try); status != 401 {
			t.Fatalf("try %d: %d", n+1, status)
		}
	}
	status, h, _ := g.do(t, try)
	if status != 429 || h.Get("Retry-After") == "" {
		t.Errorf("try 6: %d, Retry-After %q", status, h.Get("Retry-After"))
	}
	try.body = `{"secret":"` + testToken + `"}`
	if status, _, _ := g.do(t, try); status != 429 {
		t.Errorf("the right secret within the minute: %d", status)
	}
}

func TestThrottleForgets(t *testing.T) {
	th, now := newThrottle(2, time.Minute), time.Unix(1000, 0)
	th.failed("a", now)
	th.failed("a", now.Add(10*time.Second))
	if got := th.wait("a", now.Add(20*time.Second)); got != 40*time.Second {
		t.Errorf("wait = %v, want 40s", got)
	}
	if got := th.wait("b", now.Add(20*time.Second)); got != 0 {
		t.Errorf("another address waits %v", got)
	}
	if got := th.wait("a", now.Add(time.Minute)); got != 0 {
		t.Errorf("after a minute it waits %v", got)
	}
	if th.wait("a", now.Add(2*time.Minute)); len(th.fails) != 0 {
		t.Errorf("%d addresses are kept", len(th.fails))
	}
}

func TestLogoutEndsTheSession(t *testing.T) {
	g := newRig(t, nil)
	cookie := g.login(t)
	if status, h, _ := g.do(t, request{method: "POST", path: "/logout", origin: g.base, cookie: cookie}); status != 204 || !strings.Contains(h.Get("Set-Cookie"), "Max-Age=0") {
		t.Fatalf("logout: %d %s", status, h.Get("Set-Cookie"))
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/state", cookie: cookie}); status != 401 {
		t.Errorf("the session still works: %d", status)
	}
}

func TestLoginLinkOverHTTPNeedsTheToken(t *testing.T) {
	g := newRig(t, nil)
	status, _, body := g.do(t, request{method: "POST", path: "/api/v1/login-link", token: testToken})
	if status != 200 || !strings.HasPrefix(body, `{"url":"`+g.base+`/login#`) {
		t.Errorf("with the token: %d %s", status, body)
	}
	if status, _, _ := g.do(t, request{method: "POST", path: "/api/v1/login-link", origin: g.base, cookie: g.login(t)}); status != 403 {
		t.Errorf("with a login: %d", status)
	}
}

func TestTokenFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	first, err := TokenFile(dir)
	if err != nil || len(first) < 40 {
		t.Fatalf("TokenFile = %q, %v", first, err)
	}
	if again, err := TokenFile(dir); err != nil || again != first {
		t.Errorf("second reading = %q, %v, want %q", again, err, first)
	}
	info, err := os.Stat(filepath.Join(dir, "web.token"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "web.token.*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	os.WriteFile(filepath.Join(dir, "web.token"), []byte(" \n"), 0o600)
	if _, err := TokenFile(dir); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("an empty file: %v", err)
	}
}
