package web

import (
	"net"
	"strings"
	"testing"
)

// S4: pages of other sites, of other local ports, and names made to point here reach nothing.
func TestHostAndOriginTableS4(t *testing.T) {
	g := newRig(t, func(c *Config) { c.PublicURL = "https://chat.example.org" })
	cookie := g.login(t)
	send := func(id string) string {
		return `{"id":"` + id + `","cmd":"message.send","args":{"text":"x"}}`
	}
	upgrade := map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
		"Sec-WebSocket-Protocol": "holdfast.v1",
	}
	other := "http://127.0.0.1:1" // another port of this machine: the same site to a browser
	for _, c := range []struct {
		name string
		request
		want int
		code string
	}{
		{"index", request{method: "GET", path: "/"}, 200, ""},
		{"index as localhost", request{method: "GET", path: "/", host: "localhost:" + g.port}, 200, ""},
		{"index as IPv6", request{method: "GET", path: "/", host: "[::1]:" + g.port}, 200, ""},
		{"index in capitals", request{method: "GET", path: "/", host: "LOCALHOST:" + g.port}, 200, ""},
		{"index under public_url", request{method: "GET", path: "/", host: "chat.example.org"}, 200, ""},
		{"index under public_url with its port", request{method: "GET", path: "/", host: "chat.example.org:443"}, 200, ""},
		{"public_url at another port", request{method: "GET", path: "/", host: "chat.example.org:8420"}, 421, "bad_host"},
		{"DNS rebinding: page", request{method: "GET", path: "/", host: "evil.example:" + g.port}, 421, "bad_host"},
		{"DNS rebinding: health", request{method: "GET", path: "/healthz", host: "evil.example:" + g.port}, 421, "bad_host"},
		{"DNS rebinding: state", request{method: "GET", path: "/api/v1/state", host: "evil.example:" + g.port, cookie: cookie}, 421, "bad_host"},
		{"DNS rebinding: command", request{method: "POST", path: "/api/v1/commands", host: "evil.example:" + g.port, origin: "http://evil.example:" + g.port, cookie: cookie, body: send("r1")}, 421, "bad_host"},
		{"DNS rebinding: socket", request{method: "GET", path: "/ws", host: "evil.example:" + g.port, origin: "http://evil.example:" + g.port, cookie: cookie, header: upgrade}, 421, "bad_host"},
		{"another port in Host", request{method: "GET", path: "/", host: "127.0.0.1:1"}, 421, "bad_host"},
		{"no port in Host", request{method: "GET", path: "/", host: "127.0.0.1"}, 421, "bad_host"},
		{"host with a dot", request{method: "GET", path: "/", host: "localhost.:" + g.port}, 421, "bad_host"},

		{"command, own page", request{method: "POST", path: "/api/v1/commands", origin: g.base, cookie: cookie, body: send("c1")}, 200, ""},
		{"command, localhost page", request{method: "POST", path: "/api/v1/commands", host: "localhost:" + g.port, origin: "http://localhost:" + g.port, cookie: cookie, body: send("c2")}, 200, ""},
		{"command, public page", request{method: "POST", path: "/api/v1/commands", host: "chat.example.org", origin: "https://chat.example.org", cookie: cookie, body: send("c3")}, 200, ""},
		{"command, public page without TLS", request{method: "POST", path: "/api/v1/commands", host: "chat.example.org", origin: "http://chat.example.org", cookie: cookie, body: send("c4")}, 403, "bad_origin"},
		{"command, other site", request{method: "POST", path: "/api/v1/commands", origin: "https://evil.example", cookie: cookie, body: send("c5")}, 403, "bad_origin"},
		{"command, other local port", request{method: "POST", path: "/api/v1/commands", origin: other, cookie: cookie, body: send("c6")}, 403, "bad_origin"},
		{"command, origin null", request{method: "POST", path: "/api/v1/commands", origin: "null", cookie: cookie, body: send("c7")}, 403, "bad_origin"},
		{"command, cookie without origin", request{method: "POST", path: "/api/v1/commands", cookie: cookie, body: send("c8")}, 403, "bad_origin"},
		{"command, token without origin", request{method: "POST", path: "/api/v1/commands", token: testToken, body: send("c9")}, 200, ""},
		{"command, token from another site", request{method: "POST", path: "/api/v1/commands", origin: "https://evil.example", token: testToken, body: send("c10")}, 403, "bad_origin"},
		{"command, nobody", request{method: "POST", path: "/api/v1/commands", origin: g.base, body: send("c11")}, 401, "unauthorized"},
		{"command, wrong token", request{method: "POST", path: "/api/v1/commands", token: "nope", body: send("c12")}, 401, "unauthorized"},
		{"command, wrong token and a login", request{method: "POST", path: "/api/v1/commands", origin: g.base, token: "nope", cookie: cookie, body: send("c13")}, 401, "unauthorized"},
		{"login, other site", request{method: "POST", path: "/login", origin: "https://evil.example", body: `{"secret":"` + testToken + `"}`}, 403, "bad_origin"},
		{"logout, other site", request{method: "POST", path: "/logout", origin: "https://evil.example", cookie: cookie}, 403, "bad_origin"},

		{"state, login", request{method: "GET", path: "/api/v1/state", cookie: cookie}, 200, ""},
		{"state, token", request{method: "GET", path: "/api/v1/state", token: testToken}, 200, ""},
		{"state, nobody", request{method: "GET", path: "/api/v1/state"}, 401, "unauthorized"},
		{"state, wrong cookie", request{method: "GET", path: "/api/v1/state", cookie: "x"}, 401, "unauthorized"},
		{"unknown path of the API, nobody", request{method: "GET", path: "/api/v1/secrets"}, 401, "unauthorized"},
		{"unknown path of the API", request{method: "GET", path: "/api/v1/secrets", token: testToken}, 404, "not_found"},
		{"token in the query", request{method: "GET", path: "/api/v1/state?token=" + testToken}, 401, "unauthorized"},

		{"socket, own page", request{method: "GET", path: "/ws", origin: g.base, cookie: cookie, header: upgrade}, 101, ""},
		{"socket, public page", request{method: "GET", path: "/ws", host: "chat.example.org", origin: "https://chat.example.org", cookie: cookie, header: upgrade}, 101, ""},
		{"socket, other site", request{method: "GET", path: "/ws", origin: "https://evil.example", cookie: cookie, header: upgrade}, 403, "bad_origin"},
		{"socket, other local port", request{method: "GET", path: "/ws", origin: other, cookie: cookie, header: upgrade}, 403, "bad_origin"},
		{"socket, cookie without origin", request{method: "GET", path: "/ws", cookie: cookie, header: upgrade}, 403, "bad_origin"},
		{"socket, token without origin", request{method: "GET", path: "/ws", token: testToken, header: upgrade}, 101, ""},
		{"socket, token and other site", request{method: "GET", path: "/ws", origin: "https://evil.example", token: testToken, header: upgrade}, 403, "bad_origin"},
		{"socket, nobody", request{method: "GET", path: "/ws", origin: g.base, header: upgrade}, 401, "unauthorized"},
		{"socket, not a handshake", request{method: "GET", path: "/ws", origin: g.base, cookie: cookie}, 400, "bad_request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == 101 {
				g.handshake(t, c.request)
				return
			}
			status, header, body := g.do(t, c.request)
			if status != c.want || c.code != "" && !strings.Contains(body, `"code":"`+c.code+`"`) {
				t.Errorf("%d %s, want %d %s", status, body, c.want, c.code)
			}
			if header.Get("Content-Security-Policy") != csp {
				t.Errorf("no CSP on %d", status)
			}
			if strings.Contains(body, testToken) {
				t.Errorf("the token is in the answer: %s", body)
			}
		})
	}
	turns, _, err := g.store.Turns(allTurns)
	if err != nil || len(turns) != 4 {
		t.Errorf("%d turns, %v; only the four commands that were let in may have made one", len(turns), err)
	}
}

// handshake wants a socket.
func (g *rig) handshake(t *testing.T, q request) {
	t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+g.port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	host := q.host
	if host == "" {
		host = "127.0.0.1:" + g.port
	}
	raw := "GET " + q.path + " HTTP/1.1\r\nHost: " + host + "\r\n"
	if q.origin != "" {
		raw += "Origin: " + q.origin + "\r\n"
	}
	if q.cookie != "" {
		raw += "Cookie: holdfast_" + g.port + "=" + q.cookie + "\r\n"
	}
	if q.token != "" {
		raw += "Authorization: Bearer " + q.token + "\r\n"
	}
	for k, v := range q.header {
		raw += k + ": " + v + "\r\n"
	}
	if _, err := c.Write([]byte(raw + "\r\n")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := c.Read(b)
	got := string(b[:n])
	if err != nil || !strings.HasPrefix(got, "HTTP/1.1 101 ") || !strings.Contains(got, "Sec-WebSocket-Protocol: holdfast.v1") {
		t.Errorf("handshake: %v\n%s", err, got)
	}
}

// The refusal names the line that would let the address in.
func TestRefusalNamesTheLineToAdd(t *testing.T) {
	g := newRig(t, nil)
	for _, c := range []struct {
		request
		want string
	}{
		{request{method: "GET", path: "/", host: "box.lan:8420"}, `public_url = \"http://box.lan:8420\"`},
		{request{method: "POST", path: "/login", origin: "https://chat.example.org"}, `public_url = \"https://chat.example.org\"`},
		{request{method: "GET", path: "/", host: `a"b`}, `under its own name: ` + g.base},
	} {
		if _, _, body := g.do(t, c.request); !strings.Contains(body, c.want) {
			t.Errorf("Host %q Origin %q: %s, want %s", c.host, c.origin, body, c.want)
		}
	}
}

func TestHeadersOnEverything(t *testing.T) {
	g := newRig(t, nil)
	for _, path := range []string{"/", "/login", "/healthz", "/nothing", "/api/v1/state", "/assets/nope.js"} {
		_, h, _ := g.do(t, request{method: "GET", path: path})
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
				"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types md",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s = %q, want %q", path, name, h.Get(name), want)
			}
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s opens itself to other origins", path)
		}
	}
}

func TestNamesOfPort80(t *testing.T) {
	n := newNames(Config{Listen: "0.0.0.0:80", PublicURL: "http://box.lan"}, &net.UnixAddr{})
	for _, host := range []string{"localhost", "localhost:80", "box.lan", "box.lan:80", "[::1]"} {
		if !n.knowsHost(host) {
			t.Errorf("%s is not known", host)
		}
	}
	for _, host := range []string{"0.0.0.0", "box.lan:8080", ""} {
		if n.knowsHost(host) {
			t.Errorf("%q is known", host)
		}
	}
	if !n.knowsOrigin("http://box.lan") || n.knowsOrigin("https://box.lan") || n.base != "http://box.lan" {
		t.Errorf("origins %v, base %s", n.origins, n.base)
	}
}
