package reach

import "net/netip"

// System reads what this host has: the network identity, and every address of
// every interface that is up, in the system's order, link-local IPv6 included.
// Left out are addresses that can not be connected from: multicast, and IPv6
// addresses that are not ready, no longer preferred or temporary (RFC 8981).
func System() (Side, error) {
	addresses, err := systemAddresses()
	return Side{Network: ThisNetwork(), Addresses: addresses}, err
}

// usable reports whether an interface may have this address for connections.
func usable(ip netip.Addr) bool {
	return ip.IsValid() && !ip.IsMulticast() && !ip.IsUnspecified()
}
