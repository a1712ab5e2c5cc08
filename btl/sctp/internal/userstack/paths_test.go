package userstack

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/sctp"
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

// A peer that asks from port after port, as a heartbeat may, is answered at each, and not remembered for ever.
func TestManyPorts(t *testing.T) {
	s := new(Stack)
	at := netip.MustParseAddr("10.1.0.1")
	s.sockets = []*socket{{Socket: new(datagram.Socket), s: s, address: at}}
	a := association{s: s}
	for port := range uint16(1000) {
		pair := sctp.Pair{Local: at, Remote: netip.AddrPortFrom(netip.MustParseAddr("10.1.0.2"), 1+port)}
		w := a.way(pair)
		assert.Equal(t, pair, w.pair)
		assert.Same(t, w, a.way(pair))
	}
	assert.LessOrEqual(t, len(a.ways), mostWays)
}
