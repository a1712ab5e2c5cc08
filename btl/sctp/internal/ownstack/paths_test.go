package ownstack

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A further address of a peer's is reached from its own network, wherever the peer has come to.
func TestFurtherAddresses(t *testing.T) {
	addr := netip.MustParseAddr
	s := new(Stack)
	for _, p := range []string{"10.1.0.1/24", "10.2.0.1/24", "fd00::1/64"} {
		at := netip.MustParsePrefix(p)
		s.sockets = append(s.sockets, &socket{s: s, address: at.Addr(), network: at.Masked(), nic: 1400})
	}
	for _, c := range []struct{ remote, arrived, want string }{
		{"10.1.0.2", "10.1.0.1", "10.1.0.1"},
		{"10.2.0.2", "10.1.0.1", "10.2.0.1"},
		{"10.1.0.2", "10.2.0.1", "10.1.0.1"},
		{"fd00::2", "10.1.0.1", "fd00::1"},
		{"192.0.2.1", "10.2.0.1", "10.2.0.1"}, // behind a router
	} {
		p, ok := s.pathTo(netip.AddrPortFrom(addr(c.remote), 7), addr(c.arrived))
		assert.True(t, ok)
		assert.Equal(t, addr(c.want), p.Local, "to %s", c.remote)
	}
	_, ok := s.pathTo(netip.MustParseAddrPort("[2001:db8::1]:7"), addr("10.1.0.1"))
	assert.False(t, ok, "no way from IPv4 to IPv6")
}
