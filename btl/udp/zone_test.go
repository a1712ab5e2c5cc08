package udp

import (
	"net/netip"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// Interfaces may have the same link-local address, as those of VLANs on one card do. What goes to a peer of a link leaves from the
// socket of that link. The system lets it leave from the others too, but the answers come to that one.
func TestInterfacesWithTheSameAddress(t *testing.T) {
	m := new(module)
	address := netip.MustParsePrefix("fe80::1/64")
	for i, name := range []string{"lan.7", "lan.8"} {
		at := reach.Address{Prefix: address, Interface: name, Index: i + 1}
		so := &datagram.Socket{Local: netip.AddrPortFrom(wireup.Zoned(at), 9)}
		m.sockets = append(m.sockets, &socket{Socket: so, at: at})
	}
	for _, so := range m.sockets {
		found, err := m.socketFor(wireup.Pair{Pair: reach.Pair{Local: so.at, Remote: reach.Address{Prefix: netip.MustParsePrefix("fe80::2/64")}}})
		require.NoError(t, err)
		assert.Equal(t, so.at, found.at)
	}
}

// Within a host a connection goes from the socket of the address that was chosen. From that of a link-local address, which may be
// the first of the host's, the system finds no way to an address of another interface.
func TestSocketWithinAHost(t *testing.T) {
	m := new(module)
	for i, prefix := range []string{"fe80::1/64", "fd00::1/64"} {
		at := reach.Address{Prefix: netip.MustParsePrefix(prefix), Interface: "eth" + strconv.Itoa(i), Index: i + 1}
		m.sockets = append(m.sockets, &socket{Socket: &datagram.Socket{Local: netip.AddrPortFrom(wireup.Zoned(at), 9)}, at: at})
	}
	global := m.sockets[1]
	found, err := m.socketFor(wireup.Pair{Pair: reach.Pair{Local: global.at, Remote: global.at, Loopback: true}})
	require.NoError(t, err)
	assert.Equal(t, global.at, found.at)
}
