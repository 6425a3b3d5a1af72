package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"holdfast/engine"
	"holdfast/store"
)

// open is a rig with visitors.
func open(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	return newRig(t, func(c *Config) {
		c.Public, c.Codes = "ada", map[string]string{"alice": "open sesame"}
		if change != nil {
			change(c)
		}
	})
}

// come is the cookie that somebody new gets.
func (g *rig) come(t *testing.T) string {
	t.Helper()
	status, h, _ := g.do(t, request{method: "GET", path: "/"})
	set := h.Get("Set-Cookie")
	if status != 200 || h.Get("Cache-Control") != "private, no-store" || !strings.Contains(set, "HttpOnly") {
		t.Fatalf("%d, cache %q, cookie %q", status, h.Get("Cache-Control"), set)
	}
	value, _, _ := strings.Cut(strings.TrimPrefix(set, "holdfast_"+g.port+"="), ";")
	return value
}

// visitorSends posts a command with a cookie.
func (g *rig) visitorSends(t *testing.T, cookie, body string) (int, answer) {
	t.Helper()
	status, _, text := g.do(t, request{method: "POST", path: "/api/v1/commands", origin: g.base, cookie: cookie, body: body})
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, a
}

func message(id, chat, text string) string {
	b, _ := json.Marshal(map[string]any{"id": id, "cmd": "message.send", "args": map[string]string{"chat": chat, "text": text}})
	return string(b)
}

// Nobody is let in without [web] public, and a cookie is no way in either.
func TestNoVisitorsUnlessPublic(t *testing.T) {
	with := open(t, nil)
	cookie := with.come(t)
	g := newRig(t, nil)
	_, h, _ := g.do(t, request{method: "GET", path: "/"})
	if h.Get("Set-Cookie") != "" || h.Get("Cache-Control") != "no-cache" {
		t.Errorf("%v", h)
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/chats", cookie: cookie}); status != 401 {
		t.Errorf("%d", status)
	}
	if status, _, _ := g.do(t, request{method: "POST", path: "/login", origin: g.base, body: `{"code":"open sesame"}`}); status != 401 {
		t.Errorf("a code: %d", status)
	}
}

// T6: a visitor is served in the fail-fast lane, as somebody of his own; the owner's messages are trusted.
func TestVisitorsLaneT6(t *testing.T) {
	g := open(t, nil)
	cookie := g.come(t)
	status, a := g.visitorSends(t, cookie, message("m1", "c1", "hello"))
	if status != 200 || a.ID != "m1" || a.Chat == nil || *a.Chat != "c1" {
		t.Fatalf("%d %+v", status, a)
	}
	in := g.house.lastIn()
	if in.Lane != "fail_fast" || !strings.HasPrefix(in.Person, "visitor:") || in.Trusted || !in.Own || in.Bot != "ada" {
		t.Errorf("%+v", in)
	}
	if status, again := g.visitorSends(t, cookie, message("m1", "c1", "hello")); status != 200 || !again.Duplicate || again.turn(t) != a.turn(t) {
		t.Errorf("sent twice: %d %+v", status, again)
	}
	g.say(t, "m1", "mine", "hello") // the same id of somebody else is another command
	if in := g.house.lastIn(); in.Lane != "" || !in.Trusted || in.Person != "owner" || in.Own {
		t.Errorf("%+v", in)
	}
	if _, h, _ := g.do(t, request{method: "GET", path: "/", cookie: cookie}); h.Get("Set-Cookie") != "" {
		t.Error("who has a cookie gets another")
	}
}

// T6: a code lifts the lane; who gives it is somebody by name, from every browser.
func TestCodeLiftsTheLaneT6(t *testing.T) {
	g := open(t, nil)
	if status, _, body := g.do(t, request{method: "POST", path: "/login", origin: g.base, body: `{"code":"open barley"}`}); status != 401 || !strings.Contains(body, "bad_code") {
		t.Errorf("a wrong code: %d %s", status, body)
	}
	var cookies []string
	for range 2 {
		status, h, body := g.do(t, request{method: "POST", path: "/login", origin: g.base, body: `{"code":"open sesame"}`})
		if status != 200 {
			t.Fatalf("%d %s", status, body)
		}
		value, _, _ := strings.Cut(strings.TrimPrefix(h.Get("Set-Cookie"), "holdfast_"+g.port+"="), ";")
		cookies = append(cookies, value)
	}
	if status, a := g.visitorSends(t, cookies[0], message("m1", "c1", "hello")); status != 200 {
		t.Fatalf("%d %+v", status, a)
	}
	if in := g.house.lastIn(); in.Lane != "durable" || in.Person != "code:alice" || in.Name != "alice" || in.Trusted || !in.Own {
		t.Errorf("%+v", in)
	}
	if status, _, body := g.do(t, request{method: "GET", path: "/api/v1/chats", cookie: cookies[1]}); status != 200 || !strings.Contains(body, `"id":"c1"`) {
		t.Errorf("from another browser: %d %s", status, body)
	}
	g.config.Codes = map[string]string{"alice": "changed since"}
	if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/chats", cookie: cookies[0]}); status != 401 {
		t.Errorf("with the old code: %d", status)
	}
}

// A cookie that this server has not made is nobody's.
func TestForgedVisitors(t *testing.T) {
	g := open(t, nil)
	cookie := g.come(t)
	front := cookie[:strings.LastIndex(cookie, "~")]
	for _, forged := range []string{
		front, front + "~", front + "~AAAA", "v~other" + cookie[strings.LastIndex(cookie, "~"):], "c~YWxpY2U~x~" + cookie[strings.LastIndex(cookie, "~")+1:],
		"c~" + strings.TrimPrefix(cookie, "v~") + "~x", "v~~", "~~", "",
	} {
		if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/chats", cookie: forged}); status != 401 {
			t.Errorf("%q: %d", forged, status)
		}
	}
}

// S4: a visitor has his own chats and nothing else.
func TestVisitorSeesOnlyHisOwnS4(t *testing.T) {
	g := open(t, nil)
	mine, theirs := g.come(t), g.come(t)
	g.say(t, "o1", "owners", "a secret of the owner")
	if status, _ := g.visitorSends(t, theirs, message("v1", "theirs", "a secret of another")); status != 200 {
		t.Fatal(status)
	}
	_, a := g.visitorSends(t, mine, message("v2", "mine", "hello"))
	other, err := g.store.Chat("theirs")
	if err != nil {
		t.Fatal(err)
	}
	_, _, body := g.do(t, request{method: "GET", path: "/api/v1/chats", cookie: mine})
	if strings.Count(body, `"id"`) != 1 || !strings.Contains(body, `"id":"mine"`) {
		t.Errorf("%s", body)
	}
	status, _, body := g.do(t, request{method: "GET", path: "/api/v1/chats/mine/messages", cookie: mine})
	if status != 200 || !strings.Contains(body, `"text":"hello"`) || !strings.Contains(body, `"turns":[{"id":"`+a.turn(t).String()) {
		t.Errorf("%d %s", status, body)
	}
	for path, want := range map[string]int{
		"/api/v1/chats/owners/messages": 404, "/api/v1/chats/theirs/messages": 404, "/api/v1/chats/" + other.ID.String() + "/messages": 404, "/api/v1/chats/none/messages": 404,
		"/api/v1/turns": 403, "/api/v1/turns/" + a.turn(t).String(): 403, "/api/v1/state": 403, "/metrics": 403, "/api/v1/nothing": 403,
	} {
		if status, _, body := g.do(t, request{method: "GET", path: path, cookie: mine}); status != want || strings.Contains(body, "secret") {
			t.Errorf("GET %s: %d %s, want %d", path, status, body, want)
		}
	}
	if status, _, _ := g.do(t, request{method: "POST", path: "/api/v1/login-link", origin: g.base, cookie: mine}); status != 403 {
		t.Errorf("a login link: %d", status)
	}
}

// S4: of the commands a visitor has message.send and turn.stop, on his own.
func TestVisitorsCommandsS4(t *testing.T) {
	g := open(t, nil)
	mine, theirs := g.come(t), g.come(t)
	owners := g.say(t, "o1", "owners", "hello")
	_, a := g.visitorSends(t, theirs, message("v1", "theirs", "hello"))
	_, b := g.visitorSends(t, mine, message("v2", "mine", "hello"))
	for _, c := range []struct {
		body string
		want int
	}{
		{message("c1", "owners", "x"), 404}, {message("c2", "theirs", "x"), 404},
		{`{"id":"c3","cmd":"message.send","args":{"bot":"bob","text":"x"}}`, 404},
		{`{"id":"c4","cmd":"turn.stop","target":"` + owners.String() + `"}`, 404}, {`{"id":"c5","cmd":"turn.stop","target":"` + a.turn(t).String() + `"}`, 404},
		{`{"id":"c6","cmd":"turn.stop","target":"` + b.turn(t).String() + `","if_version":9}`, 409},
		{`{"id":"c7","cmd":"turn.resume","target":"` + b.turn(t).String() + `"}`, 403}, {`{"id":"c8","cmd":"turn.cancel","args":{"waiting":true}}`, 403},
		{`{"id":"c9","cmd":"turn.regenerate","target":"` + b.turn(t).String() + `"}`, 403}, {`{"id":"c10","cmd":"message.edit","target":"` + b.turn(t).String() + `","args":{"text":"x"}}`, 403},
		{`{"id":"c11","cmd":"chat.delete","target":"mine"}`, 403}, {`{"id":"c12","cmd":"pause"}`, 403}, {`{"id":"c13","cmd":"hold.release","target":"demo/echo"}`, 403},
		{`{"id":"c14","cmd":"alert.ack","target":"x"}`, 403},
		{message("c15", "mine", strings.Repeat("x", visitorLongest+1)), 413},
	} {
		status, got := g.visitorSends(t, mine, c.body)
		if status != c.want || len(got.Turn) > 0 {
			t.Errorf("%s: %d %+v, want %d", c.body[:60], status, got, c.want)
		}
	}
	if status, got := g.visitorSends(t, mine, `{"id":"c16","cmd":"turn.stop","target":"`+b.turn(t).String()+`"}`); status != 200 || got.turn(t) != b.turn(t) {
		t.Errorf("his own: %d %+v", status, got)
	}
	if status, _, _ := g.do(t, request{method: "POST", path: "/api/v1/commands", origin: "http://evil.example", cookie: mine, body: message("c17", "mine", "x")}); status != 403 {
		t.Errorf("from another page: %d", status)
	}
}

// limits of visitors: each by person and address, all together; the sentence is exact, nothing is stored.
func TestVisitorLimits(t *testing.T) {
	g := open(t, func(c *Config) {
		c.Visitor, c.Visitors = Rate{2, time.Hour}, Rate{3, 24 * time.Hour}
		c.PublicURL = "https://chat.example.org"
	})
	from := func(cookie, address, id string) (int, http.Header, string) {
		return g.do(t, request{
			method: "POST", path: "/api/v1/commands", origin: g.base, cookie: cookie, body: message(id, "c-"+id, "hello"), header: map[string]string{"X-Forwarded-For": address},
		})
	}
	a, b := g.come(t), g.come(t)
	for _, id := range []string{"1", "2"} {
		if status, _, body := from(a, "203.0.113.1", id); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	heads := g.store.Head()
	until := time.Now().UTC().Add(time.Hour)
	for name, who := range map[string][2]string{"the same person": {a, "203.0.113.2"}, "the same address": {b, "203.0.113.1"}} {
		status, h, body := from(who[0], who[1], "3")
		if status != 429 || h.Get("Retry-After") == "" || !strings.Contains(body, `"code":"limit"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
		said := "Out of capacity until " + until.Format("15:04")
		if next := "Out of capacity until " + until.Add(time.Minute).Format("15:04"); !strings.Contains(body, "; the question stays in the box.") ||
			!strings.Contains(body, said) && !strings.Contains(body, next) && !strings.Contains(body, "Out of capacity until "+until.Add(time.Minute).Format("2006-01-02 15:04")) {
			t.Errorf("%s: %s, want %s", name, body, said)
		}
	}
	if g.store.Head() != heads {
		t.Error("something was stored")
	}
	if status, _, _ := from(a, "203.0.113.1", "1"); status != 200 {
		t.Error("a command that was carried out is refused when it is sent again")
	}
	if status, _, body := from(b, "203.0.113.3", "4"); status != 200 {
		t.Errorf("another: %d %s", status, body)
	}
	if status, _, _ := from(g.come(t), "203.0.113.4", "5"); status != 429 {
		t.Errorf("the fourth of all: %d", status)
	}
	g.say(t, "o1", "c1", "the owner has no limit")
	g.limits = newLimits(g.config.Visitor, g.config.Visitors) // as after a restart
	if status, _, _ := from(a, "203.0.113.9", "6"); status != 429 {
		t.Errorf("after a restart: %d", status)
	}
}

func TestLimitsForget(t *testing.T) {
	l, now := newLimits(Rate{2, time.Hour}, Rate{0, 24 * time.Hour}), time.Unix(1_000_000, 0)
	for i := range 2 {
		if until := l.take("p", "a", now.Add(time.Duration(i)*time.Minute)); !until.IsZero() {
			t.Fatal(until)
		}
	}
	if until := l.take("p", "b", now.Add(10*time.Minute)); !until.Equal(now.Add(time.Hour)) {
		t.Errorf("until %v", until)
	}
	if until := l.take("p", "b", now.Add(time.Hour)); !until.IsZero() {
		t.Errorf("an hour later: until %v", until)
	}
	l.giveBack("p", "b", now.Add(time.Hour))
	if until := l.take("p", "b", now.Add(time.Hour+time.Second)); !until.IsZero() {
		t.Errorf("after it was given back: until %v", until)
	}
	l.take("q", "c", now.Add(30*time.Hour))
	if len(l.said) != 3 {
		t.Errorf("%d are remembered", len(l.said))
	}
	s := Server{location: time.UTC}
	if p := s.overLimit(now.Add(time.Minute), now); p.message != "The AI is busy right now — give it a minute and ask again." || p.status != 429 {
		t.Errorf("%+v", p)
	}
}

// The address counts behind our own proxy only, and of what it says only the end.
func TestAddress(t *testing.T) {
	for _, c := range []struct{ public, peer, forwarded, want string }{
		{"", "127.0.0.1:5", "203.0.113.1", "127.0.0.1"},
		{"https://x.example", "127.0.0.1:5", "203.0.113.1", "203.0.113.1"},
		{"https://x.example", "10.0.0.2:5", "198.51.100.7, 203.0.113.1", "203.0.113.1"},
		{"https://x.example", "[::1]:5", "198.51.100.7, 203.0.113.1, 10.0.0.9", "203.0.113.1"},
		{"https://x.example", "203.0.113.9:5", "198.51.100.7", "203.0.113.9"},
		{"https://x.example", "127.0.0.1:5", "", "127.0.0.1"},
		{"https://x.example", "127.0.0.1:5", "198.51.100.7, rubbish", "127.0.0.1"},
		{"https://x.example", "127.0.0.1:5", "203.0.113.1:4711", "203.0.113.1"},
		{"https://x.example", "127.0.0.1:5", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"https://x.example", "127.0.0.1:5", "::ffff:203.0.113.1", "203.0.113.1"},
		{"", "[2001:db8:1:2::9]:5", "", "2001:db8:1:2::/64"},
		{"", "[fe80::1%eth0]:5", "", "fe80::/64"},
	} {
		s := Server{config: Config{PublicURL: c.public}}
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := s.address(r); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// The socket of a visitor: his chats live, nothing of anybody else, no providers.
func TestVisitorsSocketS4(t *testing.T) {
	g := open(t, nil)
	g.house.shape = engine.Shape{Gates: []engine.GateShape{{Provider: "demo", Model: "echo", Why: "hold", Until: moment}}, Alerts: []store.Alert{{ID: 1, Kind: "outage"}}, Providers: []engine.ProviderShape{{Provider: "demo", Model: "echo"}}}
	mine, theirs := g.come(t), g.come(t)
	g.say(t, "o1", "owners", "secret one")
	g.visitorSends(t, theirs, message("v1", "theirs", "secret two"))
	_, a := g.visitorSends(t, mine, message("v2", "mine", "hello"))
	c := g.dial(t, mine)
	c.hello("", 0, "mine")
	w := c.want("welcome")
	if p := fmt.Sprint(w.Page); p != "map[bots:[map[models:[] name:ada]] codes:true demo:false public_url: version:1.2.3 visitor:true]" {
		t.Errorf("page %s", p)
	}
	snap := c.want("snapshot")
	if len(snap.Chats) != 1 || len(snap.Messages) != 1 || len(snap.Turns) != 1 || len(snap.Gates)+len(snap.Alerts)+len(snap.Providers) != 0 {
		t.Fatalf("%+v", snap)
	}
	c.want("live")

	g.house.wait(t, a.turn(t), time.Now().Add(time.Hour))
	g.say(t, "o2", "owners", "secret three")
	g.visitorSends(t, theirs, message("v3", "theirs2", "secret four"))
	if err := g.store.PutGate(store.Gate{Key: "demo||echo", Provider: "demo", Model: "echo", Version: 1}, store.At(time.Now()), nil); err != nil {
		t.Fatal(err)
	}
	g.visitorSends(t, mine, message("v4", "mine2", "more"))
	seen := map[string]bool{}
	for len(seen) < 3 { // his waiting turn, the new chat, its turn; its message is of another chat than he looks at
		f := c.want("ev")
		if b, _ := json.Marshal(f.D); strings.Contains(string(b), "secret") || strings.Contains(string(b), "theirs") || strings.Contains(string(b), "owners") {
			t.Fatalf("he is told %s", b)
		}
		switch {
		case f.K == "turn" && f.D["id"] == a.turn(t).String():
			b, _ := json.Marshal(f.D["reason"])
			if string(b) != `{"class":null,"model":null,"provider":null,"status":0,"text":"The AI is busy at the moment; it goes on by itself and the answer will come here.","why":"failure"}` || f.D["model"] != nil {
				t.Errorf("%s", b)
			}
			seen["waits"] = true
		case f.K == "chat" && f.D["id"] == "mine2", f.K == "turn" && f.D["chat"] == "mine2":
			seen[f.K] = true
		case f.K == "chat" && f.D["id"] == "mine":
		default:
			t.Fatalf("%s %v", f.K, f.D)
		}
	}

	g.live.Draft("owners", 99, "secret five")
	g.live.Draft("mine", a.turn(t), "so far")
	if f := c.want("render"); f.Turn != a.turn(t).String() {
		t.Errorf("%+v", f)
	}
	c.hello(w.Epoch, w.Head, "theirs") // of a chat of somebody else he gets nothing
	c.want("welcome")
	if s := c.want("snapshot"); len(s.Messages) != 0 || len(s.Turns) != 2 {
		t.Errorf("%+v", s)
	}
	c.want("live")
	g.live.Draft("theirs", 98, "secret six")
	g.visitorSends(t, mine, message("v5", "mine3", "still here"))
	if f := c.want("ev"); f.K != "chat" || f.D["id"] != "mine3" {
		t.Errorf("%+v", f)
	}
	c.WriteMessage(websocket.TextMessage, []byte(`{"t":"log","level":"info"}`))
	if code := c.closed(); code != closeRefused {
		t.Errorf("asking for the log: %d", code)
	}
}

// What a visitor has missed is replayed to him, and no more.
func TestVisitorsReplay(t *testing.T) {
	g := open(t, nil)
	mine := g.come(t)
	_, a := g.visitorSends(t, mine, message("v1", "mine", "hello"))
	c := g.dial(t, mine)
	c.hello("", 0, "mine")
	epoch, after := c.want("welcome").Epoch, c.want("snapshot").Seq
	c.Close()
	g.say(t, "o1", "owners", "secret")
	g.house.wait(t, a.turn(t), time.Now().Add(time.Hour))
	c = g.dial(t, mine)
	c.hello(epoch, after, "mine")
	c.want("welcome")
	var kinds []string
	for f := c.next(); f.T == "ev"; f = c.next() {
		kinds = append(kinds, fmt.Sprint(f.K, " ", f.D["state"]))
	}
	if got := strings.Join(kinds, ", "); got != "turn parked" {
		t.Errorf("replayed %s", got)
	}
}
