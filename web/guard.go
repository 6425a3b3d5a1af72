package web

import (
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names are the ways in which this server may be addressed. Every request must name it by one of
// hosts, or a stranger's domain that was made to point here (DNS rebinding) would count as ours; and
// a browser's write or handshake must come from a page of one of origins, for other ports of this
// machine are the same site to a browser and send our cookie along.
type names struct {
	hosts   map[string]bool // as in the Host header, lower case
	origins map[string]bool // as in the Origin header, lower case
	secure  map[string]bool // hosts that are reached by https
	host    string          // what links name
	port    int
	base    string // scheme and host of links
}

// newNames lists them: what is listened on, the names of this machine to itself, and public_url.
func newNames(c Config, addr net.Addr) *names {
	host, port, _ := splitListen(c.Listen) // validated
	if tcp, ok := addr.(*net.TCPAddr); ok {
		port = tcp.Port
	}
	n := &names{hosts: map[string]bool{}, origins: map[string]bool{}, secure: map[string]bool{}, port: port}
	for _, local := range []string{"localhost", "127.0.0.1", "::1"} {
		n.add("http", local, port)
	}
	n.host = "127.0.0.1"
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		n.add("http", host, port)
		n.host = host
	}
	n.base = "http://" + net.JoinHostPort(n.host, strconv.Itoa(port))
	if u, err := parsePublic(c.PublicURL); err == nil {
		public, _ := strconv.Atoi(u.Port())
		if public == 0 {
			public = map[string]int{"http": 80, "https": 443}[u.Scheme]
		}
		n.add(u.Scheme, u.Hostname(), public)
		n.base = u.Scheme + "://" + u.Host
	}
	return n
}

// add allows one name; the scheme's own port may be left out.
func (n *names) add(scheme, host string, port int) {
	forms := []string{net.JoinHostPort(host, strconv.Itoa(port))}
	if scheme == "http" && port == 80 || scheme == "https" && port == 443 {
		forms = append(forms, strings.TrimSuffix(forms[0], ":"+strconv.Itoa(port)))
	}
	for _, form := range forms {
		form = strings.ToLower(form)
		n.hosts[form] = true
		n.origins[scheme+"://"+form] = true
		if scheme == "https" {
			n.secure[form] = true
		}
	}
}

func (n *names) knowsHost(host string) bool     { return n.hosts[strings.ToLower(host)] }
func (n *names) knowsOrigin(origin string) bool { return n.origins[strings.ToLower(origin)] }

// csp lets the page load its own files and nothing else.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types md"

// guard sets the headers of every answer and turns away requests under a name that is not ours.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", csp)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if !s.names.knowsHost(r.Host) {
			refuse(w, &problem{status: http.StatusMisdirectedRequest, code: "bad_host", message: s.unknownName("http", r.Host)})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin is nil if a request comes from our own page. One without an Origin comes from no page
// at all; whether that is enough is the caller's to say.
func (s *Server) sameOrigin(r *http.Request, withoutOrigin bool) *problem {
	given := r.Header.Values("Origin")
	if len(given) == 0 && withoutOrigin || len(given) == 1 && s.names.knowsOrigin(given[0]) {
		return nil
	}
	if len(given) == 0 {
		return &problem{status: http.StatusForbidden, code: "bad_origin", message: "the request does not say from which page it comes (Origin); scripts use the bearer token instead of the cookie"}
	}
	scheme, host, _ := strings.Cut(given[0], "://")
	return &problem{status: http.StatusForbidden, code: "bad_origin", message: s.unknownName(scheme, host)}
}

var plainHost = regexp.MustCompile(`^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// unknownName says what to write into the config if a name was meant to be ours.
func (s *Server) unknownName(scheme, host string) string {
	if !plainHost.MatchString(host) || !slices.Contains([]string{"http", "https"}, scheme) {
		return "requests to this page must come under its own name: " + s.names.base
	}
	return "this page is not known as " + host + "; if that is its address, add under [web]: public_url = " + strconv.Quote(scheme+"://"+host)
}
