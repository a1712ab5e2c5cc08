package tcp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/reach"
)

// An interface without a carrier at the start is looked at again when a peer is met,
// but not each time.
func TestCarrierThatComesLater(t *testing.T) {
	n, b := newNode(t, 0, 2), newNode(t, 1, 2)
	meet := func() {
		_, err := n.mod.Reach(btl.Peer{Rank: 1, Address: b.mod.Address()})
		require.NoError(t, err)
	}
	bare := func() *reach.Flags { return &n.mod.side.Addresses[0].Flags }
	n.do(func() {
		published := n.mod.local.Interfaces[0].Flags
		*bare() |= reach.NoCarrier
		meet()
		require.Zero(t, *bare()&reach.NoCarrier, "the loopback has one")
		require.Contains(t, n.logged(btl.LogInfo)[1], "127.0.0.1 (lo) has a carrier now")

		*bare() |= reach.NoCarrier
		n.mod.asked = n.mod.loop.Now() + int64(time.Hour) // a moment ago, however slow this is
		meet()
		require.NotZero(t, *bare()&reach.NoCarrier)
		n.mod.doubt()
		meet()
		require.Zero(t, *bare()&reach.NoCarrier)
		require.Equal(t, published&^reach.NoCarrier, n.mod.side.Addresses[0].Flags)
	})
}

// counter counts the look-ups of routes.
type counter struct{ asked int }

func (c *counter) lookup(_, _ netip.Addr) (reach.Route, error) {
	c.asked++
	return reach.Route{Interface: 1, Local: true}, nil
}

// Peers of one host cost one look-up for each pair of addresses.
func TestRoutesAreRemembered(t *testing.T) {
	var c counter
	n := newNode(t, 0, 4)
	n.do(func() {
		n.mod.routes = reach.Remember(reach.RoutePolicy(c.lookup))
		// One address that is not the loopback's, which needs no route.
		other := reach.Address{Prefix: netip.MustParsePrefix("198.51.100.1/24"), Interface: "eth0", Index: 1}
		n.mod.side.Addresses = []reach.Address{other}
		for rank := 1; rank < 4; rank++ {
			blob := n.mod.local
			blob.Interfaces, blob.Port = []reach.Address{other}, uint16(1000+rank)
			_, err := n.mod.Reach(btl.Peer{Rank: rank, Address: blob.Encode()})
			require.NoError(t, err)
			n.mod.asked = n.mod.loop.Now() + int64(time.Hour)
		}
	})
	require.Equal(t, 1, c.asked)
}
