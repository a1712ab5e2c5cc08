//go:build linux

package contact_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/testnet"
)

// detour joins two hosts by a router: a with an interface for each family, b with one
// for both. So one of two ways is chosen, that of IPv4, and the other is spare.
func detour(t *testing.T) (a, b *testnet.Host, chosen *testnet.Link) {
	n, a, b := nettest.Hosts(t)
	r := n.Host("r")
	chosen = n.Link(a, r, testnet.Subnet("10.1.0.0/24"))
	other := n.Link(a, r, testnet.Subnet("fd00:2::/64"))
	end := n.Link(r, b, testnet.Subnet("10.3.0.0/24"), testnet.Subnet("fd00:3::/64"))
	r.Forward()
	a.Route("10.3.0.0/24", chosen.B.Addr(0))
	a.Route("fd00:3::/64", other.B.Addr(0))
	b.Route("10.1.0.0/24", end.A.Addr(0))
	b.Route("fd00:2::/64", end.A.Addr(1))
	return a, b, chosen
}

// Addresses that were not chosen are tried when those that were lead nowhere.
func TestSpareAddressesAtFirstContact(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"tcp":  nil,
		"sctp": {"STRAND_BTL=self,sctp", "STRAND_BTL_SCTP_STACK=user"},
		"udp":  {"STRAND_BTL=self,udp"},
	} {
		t.Run(name+" over another interface", func(t *testing.T) {
			t.Parallel()
			a, b, chosen := detour(t)
			chosen.Loss(1)
			requireContact(t, a, b, "fd00:", env...)
		})
		t.Run(name+" over the same interfaces", func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Subnet("fd00:1::/64"))
			mislead(t, a, "10.1.0.2")
			mislead(t, b, "10.1.0.1")
			requireContact(t, a, b, "fd00:1:", env...)
		})
	}
}

// A firewall may keep IPv4 from the loopback. Ranks of one host meet over IPv6 then.
func TestLoopbackWithoutIPv4(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"tcp", "udp", "sctp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			_, a, _ := nettest.Hosts(t)
			a.LoseIPv4("lo")
			requireContact(t, a, a, "::1", "STRAND_BTL=self,"+transport, "STRAND_BTL_SCTP_STACK=user")
		})
	}
}

// mislead has what a host sends to a neighbour of its first interface go to a network
// card that is not there.
func mislead(t *testing.T, h *testnet.Host, neighbour string) {
	t.Helper()
	require.NoError(t, h.Do(func() error {
		link, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		return netlink.NeighSet(&netlink.Neigh{
			LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT,
			IP:           netip.MustParseAddr(neighbour).AsSlice(),
			HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9},
		})
	}))
}

// And when they fail in the middle of the traffic, over another interface: nothing is
// lost, neither then nor when they work again and are used again.
func TestSpareAddressesTakeOver(t *testing.T) {
	t.Parallel()
	for name, fall := range map[string]struct{ down, up func(*testnet.Link) }{
		"packets vanish":   {func(l *testnet.Link) { l.Loss(1) }, func(l *testnet.Link) { l.Loss(0) }},
		"the link is down": {(*testnet.Link).Down, (*testnet.Link).Up},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, chosen := detour(t)
			r := traffic.Start(t, a, b, need.Times(traffic.UntilItIsEnough, 30))
			r.Await(0, "round 8")
			fall.down(chosen)
			goesOn := traffic.GoesOn(r, "fd00:")
			fall.up(chosen)
			require.True(t, goesOn, "over the other family")
			require.True(t, traffic.GoesOn(r, "10."), "over the one that was chosen at first")
			traffic.End(r)
			traffic.Require(t, r)
		})
	}
}
