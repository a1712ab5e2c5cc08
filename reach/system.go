package reach

import "net/netip"

// System reads what this host has: the network identity, and every address of
// every interface that is up, in the system's order, link-local IPv6 included.
// Left out are addresses that can not be connected from: multicast, and IPv6
// addresses that are not ready, temporary (RFC 8981), or no longer preferred where the interface has a better one. An
// interface that is a port of a bridge, or a part of a bond, hears nothing: its
// addresses are held but not listed, where netlink tells of them.
func System() (Side, error) {
	side, err := readSystem()
	side.Network = ThisNetwork()
	return side, err
}

// usable reports whether an interface may have this address for connections.
func usable(ip netip.Addr) bool {
	return ip.IsValid() && !ip.IsMulticast() && !ip.IsUnspecified()
}

// add adds addresses of one interface, whose description is otherwise the same.
func (s *Side) add(common Address, prefixes []netip.Prefix) {
	for _, p := range prefixes {
		common.Prefix = p
		s.Addresses = append(s.Addresses, common)
	}
}
