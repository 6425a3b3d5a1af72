package web

import (
	"net/http"
	"net/netip"
	"strings"
)

// address is where a request comes from, as far as limits go by it. With public_url set, a peer on
// this machine or in a private network is taken for the reverse proxy that serves that address, and
// X-Forwarded-For tells whom it serves: its last entry that is not itself private, since a proxy adds
// the peer it has seen at the end and everything before may be made up. From anybody else the header
// counts for nothing. Of an IPv6 address the network (/64) counts: that is what one household has.
func (s *Server) address(r *http.Request) string {
	peer := parseAddress(r.RemoteAddr)
	if s.config.PublicURL == "" || !ours(peer) {
		return network(peer)
	}
	list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(list) - 1; i >= 0; i-- {
		hop := parseAddress(strings.TrimSpace(list[i]))
		if !hop.IsValid() {
			break // what stands before it was not written by a proxy that we know
		}
		if peer = hop; !ours(hop) {
			break
		}
	}
	return network(peer)
}

// parseAddress reads an address, with or without a port; the zero value if it is none.
func parseAddress(s string) netip.Addr {
	if both, err := netip.ParseAddrPort(s); err == nil {
		return both.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// ours reports an address at which a proxy of ours can be.
func ours(a netip.Addr) bool { return a.IsLoopback() || a.IsPrivate() }

func network(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	if a.Is6() {
		net, _ := a.Prefix(64) // of an IPv6 address: cannot fail
		return net.String()
	}
	return a.String()
}
