package web

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is the [web] section.
type Config struct {
	Listen      string            `toml:"listen"`
	PublicURL   string            `toml:"public_url"`          // how browsers reach the page from elsewhere: scheme and host; "" = not at all. With it a proxy on this machine or in a private network is believed in X-Forwarded-For
	Token       string            `toml:"token" secret:"true"` // bearer token of the API; "" = <dir>/web.token
	Public      string            `toml:"public"`              // a bot's name; "" = no visitors
	PublicTools []string          `toml:"public_tools"`        // its tools for visitors
	Visitor     Rate              `toml:"visitor"`             // messages of one visitor and address
	Visitors    Rate              `toml:"visitors"`            // of all of them
	Codes       map[string]string `toml:"codes" secret:"true"` // name → code of visitors who are served in the durable lane
}

// Default is the section as CONTRACT.md §2 gives it.
func Default() Config {
	return Config{Listen: "127.0.0.1:8420", Visitor: Rate{20, time.Hour}, Visitors: Rate{500, 24 * time.Hour}}
}

// shortestSecret is how long, in bytes, whatever lets somebody in must be.
const shortestSecret = 8

// Validate reports every wrong value; key is relative to the section.
func (c Config) Validate(problem func(key, what string)) {
	host, port, err := splitListen(c.Listen)
	if err != nil {
		problem("listen", err.Error()+`; write for example "127.0.0.1:8420"`)
	}
	if c.PublicURL != "" {
		if _, err := parsePublic(c.PublicURL); err != nil {
			problem("public_url", err.Error()+`; write for example "https://chat.example.org"`)
		}
	} else if err == nil && !loopback(host) {
		problem("listen", fmt.Sprintf("%q can be reached from other machines, so the page must know its address there; add under [web]: %s",
			c.Listen, publicLine("http", reachable(host), port)))
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		problem("token", "may hold only visible ASCII characters without spaces")
	}
	if c.Token != "" && len(c.Token) < shortestSecret {
		problem("token", fmt.Sprintf("is too easy to guess; write at least %d characters, or leave it out: then one is made", shortestSecret))
	}
	if len(c.PublicTools) > 0 && c.Public == "" {
		problem("public_tools", `is for visitors, who need a bot; write public = "NAME", or leave it out`)
	}
	c.validateCodes(problem)
}

func (c Config) validateCodes(problem func(key, what string)) {
	if len(c.Codes) > 0 && c.Public == "" {
		problem("codes", `are for visitors, who need a bot; write public = "NAME", or leave them out`)
	}
	names := make([]string, 0, len(c.Codes))
	for name := range c.Codes {
		names = append(names, name)
	}
	slices.Sort(names)
	owner := map[string]string{}
	for _, name := range names {
		code := c.Codes[name]
		if len(code) < shortestSecret {
			problem("codes."+name, fmt.Sprintf("is too easy to guess; write at least %d characters", shortestSecret))
		} else if other, ok := owner[code]; ok {
			problem("codes."+name, "is the same as that of "+other+"; every visitor needs an own one")
		}
		owner[code] = name
	}
}

// splitListen cuts an address to listen on; port 0 lets the system choose.
func splitListen(listen string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not HOST:PORT", listen)
	}
	port, err = strconv.Atoi(p)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%q has no port between 0 and 65535", listen)
	}
	return host, port, nil
}

// loopback says whether only this machine can reach a host that is listened on.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// reachable is a host to put into an example: the one listened on, if it is one.
func reachable(host string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return "THIS-MACHINE"
	}
	return host
}

// publicLine is the TOML line that makes an address known.
func publicLine(scheme, host string, port int) string {
	if standard := map[string]int{"http": 80, "https": 443}; port != 0 && port != standard[scheme] {
		host = net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
	}
	return fmt.Sprintf("public_url = %q", scheme+"://"+host)
}

// parsePublic reads public_url: scheme and host, nothing else.
func parsePublic(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is not an http or https address", s)
	case u.User != nil:
		return nil, errors.New("must not hold a user or a password")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q must be scheme and host only: the page is served at the root", s)
	}
	return u, nil
}
