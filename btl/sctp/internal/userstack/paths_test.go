package userstack

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// Who waits for a peer looks at the sockets of the ways to it, and not at all that the process has.
func TestPollLooksAtItsOwnWays(t *testing.T) {
	s := openAtTwo(t, 0)
	conn, err := net.Dial("udp4", s.sockets[1].Local.String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("for the second"))
	require.NoError(t, err)
	a := association{s: s}
	assert.False(t, a.Poll(), "there is no way")
	for i, so := range s.sockets {
		a.way(&sctp.Pair{Local: so.address, Remote: netip.MustParseAddrPort("127.0.0.3:7")})
		assert.Equal(t, i == 1, a.Poll())
	}
	assert.EqualValues(t, 1, s.endpoint.Malformed)
}

// Where the peer was heard last is looked at each time, and what comes at another socket is found soon.
func TestPollFindsWhatComesElsewhere(t *testing.T) {
	s := openAtTwo(t, 0)
	a := association{s: s, heard: s.sockets[0]}
	for _, so := range s.sockets {
		a.way(&sctp.Pair{Local: so.address, Remote: netip.MustParseAddrPort("127.0.0.3:7")})
	}
	for i, so := range s.sockets {
		conn, err := net.Dial("udp4", so.Local.String())
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.Write([]byte("nonsense"))
		require.NoError(t, err)
		polls := 1
		for !a.Poll() {
			polls++
			require.LessOrEqual(t, polls, othersEvery)
		}
		assert.Equal(t, i == 0, polls == 1, "socket %d: %d polls", i, polls)
	}
}

// A peer that asks from port after port, as a heartbeat may, is answered at each, and not remembered for ever.
func TestManyPorts(t *testing.T) {
	s := new(Stack)
	at := netip.MustParseAddr("10.1.0.1")
	s.sockets = []*socket{{Socket: new(datagram.Socket), s: s, address: at}}
	a := association{s: s}
	for port := range uint16(1000) {
		pair := sctp.Pair{Local: at, Remote: netip.AddrPortFrom(netip.MustParseAddr("10.1.0.2"), 1+port)}
		w := a.way(&pair)
		assert.Equal(t, pair, w.pair)
		assert.Same(t, w, a.way(&pair))
	}
	assert.LessOrEqual(t, len(a.ways), mostWays)
}

// Interfaces may have the same link-local address, as those of VLANs on one card do, and so may peers. What goes to a peer of a link leaves from the socket of
// that link, and what comes from there is no other one's.
func TestInterfacesWithTheSameAddress(t *testing.T) {
	s := new(Stack)
	at := netip.MustParsePrefix("fe80::1/64")
	for _, link := range []string{"lan.7", "lan.8"} {
		s.sockets = append(s.sockets, &socket{Socket: new(datagram.Socket), s: s, address: at.Addr().WithZone(link), network: at.Masked(), nic: 1400})
	}
	remotes := make(map[netip.AddrPort]bool)
	for _, so := range s.sockets {
		p, ok := s.pathTo(netip.MustParseAddrPort("[fe80::2]:7"), so.address)
		require.True(t, ok)
		assert.Same(t, so, (&association{s: s}).way(&p).so)
		remotes[p.Remote] = true
		remotes[so.zoned(netip.MustParseAddrPort("[fe80::2%3]:7"))] = true
	}
	assert.Len(t, remotes, 2)
}
