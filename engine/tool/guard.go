package tool

import (
	"fmt"
	"net/netip"
	"syscall"
)

// errPrivate is an address that fetch does not go to.
type errPrivate struct{ addr netip.Addr }

func (e errPrivate) Error() string {
	return fmt.Sprintf("%s is not on the public internet; only public pages can be fetched", e.addr)
}

// private4 are the networks of IPv4 that are nobody's on the public internet (RFC 6890 and the IANA
// registry of special addresses), and one public address where a cloud keeps its machines' secrets.
var private4 = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32",
)

// public6 is all of IPv6 that is routed for everybody; private6 are the parts of it that are not, or that
// lead to an IPv4 address inside (Teredo, 6to4). Mapped addresses and NAT64 lie outside of public6.
var (
	public6  = netip.MustParsePrefix("2000::/3")
	private6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}

// public reports whether an address may be fetched from: not this machine, not its network, not the
// services that clouds offer to their machines.
func public(a netip.Addr) bool {
	if a.Is4() {
		return !within(a, private4)
	}
	return a.Is6() && !a.Is4In6() && a.Zone() == "" && public6.Contains(a) && !within(a, private6)
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// guard is a net.Dialer's Control: it sees the address that is about to be connected to, after every
// look-up and on every redirect, so that no name can change its mind in between.
func guard(allow func(netip.AddrPort) bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%q is no address: %w", address, err)
		}
		if !allow(to) {
			return errPrivate{to.Addr()}
		}
		return nil
	}
}
