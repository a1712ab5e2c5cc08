package wireup

import (
	"fmt"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/reach"
)

// A still host has a loop whose clock stands.
type still struct {
	btl.Host
	lines []string
}

type stillLoop struct{ btl.Loop }

func (stillLoop) Now() int64    { return 1 }
func (*still) Rank() int        { return 0 }
func (*still) Hostname() string { return "h" }
func (*still) Loop() btl.Loop   { return stillLoop{} }
func (s *still) Logf(_ btl.LogLevel, format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// An address that several interfaces have, as the near end of several lines, is listened on once. Each of the
// interfaces is published, since the routes go by one of them.
func TestAddressOfSeveralInterfaces(t *testing.T) {
	nic := func(index int, name, prefix string) reach.Address {
		return reach.Address{Prefix: netip.MustParsePrefix(prefix), Interface: name, Index: index}
	}
	all := []reach.Address{
		nic(1, "lo", "127.0.0.1/8"), nic(1, "lo", "10.9.0.1/32"), nic(2, "ppp0", "10.9.0.1/32"), nic(2, "ppp0", "fe80::1/64"),
		nic(3, "ppp1", "10.9.0.1/32"), nic(3, "ppp1", "fe80::1/64"),
	}
	byLine := reach.RoutePolicy(func(_, to netip.Addr) (reach.Route, error) {
		return reach.Route{Interface: int(to.As4()[3])}, nil
	})
	l := NewLocal(new(still), "tcp", &Settings{Policy: byLine}, reach.Side{Network: reach.Network{1}, Addresses: all}, all)
	require.Equal(t, []reach.Address{all[0], all[1], all[3], all[5]}, l.Interfaces)
	published, err := Decode(l.publish(1, l.Interfaces))
	require.NoError(t, err)
	require.ElementsMatch(t, all, published.Interfaces)
	peer := &Address{Port: 2, Network: reach.Network{2}, Interfaces: []reach.Address{nic(1, "ppp0", "10.9.0.3/32")}}
	pairs, _, err := l.Pairs(1, peer)
	require.NoError(t, err)
	require.Len(t, pairs, 1)
	require.Equal(t, "ppp1", pairs[0].Local.Interface)

	l.publish(1, l.Interfaces[:1])
	require.Equal(t, all[:1], l.Interfaces, "what is not listened on is not published")
}

// An interface without a carrier at the start is looked at again when a peer is met, but
// not each time.
func TestCarrierThatComesLater(t *testing.T) {
	policy, err := reach.PolicyByName(reach.DefaultPolicy)
	require.NoError(t, err)
	h := new(still)
	system, err := reach.System()
	require.NoError(t, err)
	choice := Choice{Include: []string{"127.0.0.1"}, DisableFamily: "none"}
	chosen, err := choice.Select(system.Addresses)
	require.NoError(t, err)
	l := NewLocal(h, "tcp", &Settings{Policy: policy}, system, chosen)
	l.publish(1, l.Interfaces)
	peer, err := Decode(l.Encode())
	require.NoError(t, err)
	meet := func() {
		_, _, err := l.Pairs(1, peer)
		require.NoError(t, err)
	}
	bare := func() *reach.Flags { return &l.side.Addresses[0].Flags }
	published := l.Interfaces[0].Flags
	*bare() |= reach.NoCarrier
	meet()
	require.Zero(t, *bare()&reach.NoCarrier, "the loopback has one")
	require.Contains(t, h.lines[0], "127.0.0.1 (lo) has a carrier now")

	*bare() |= reach.NoCarrier
	l.asked = 1 + int64(time.Hour) // a moment ago, however slow this is
	meet()
	require.NotZero(t, *bare()&reach.NoCarrier)
	l.Doubt()
	meet()
	require.Zero(t, *bare()&reach.NoCarrier)
	require.Equal(t, published&^reach.NoCarrier, l.side.Addresses[0].Flags)
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
	// One address that is not the loopback's, which needs no route.
	other := []reach.Address{{Prefix: netip.MustParsePrefix("198.51.100.1/24"), Interface: "eth0", Index: 1}}
	l := NewLocal(new(still), "tcp", &Settings{Policy: reach.RoutePolicy(c.lookup)}, reach.Side{Addresses: other}, other)
	l.publish(1000, other)
	for rank := 1; rank < 4; rank++ {
		peer := l.Address
		peer.Port = uint16(1000 + rank)
		_, _, err := l.Pairs(rank, &peer)
		require.NoError(t, err)
	}
	require.Equal(t, 1, c.asked)
}

// An address that can not be listened on is left out, and the caller is told. If no other is left
// that is the error.
func TestUsable(t *testing.T) {
	good := reach.Address{Prefix: netip.MustParsePrefix("127.0.0.1/8"), Interface: "lo", Index: 1}
	bad := reach.Address{Prefix: netip.MustParsePrefix("192.0.2.1/24"), Interface: "x", Index: 2}
	var without []reach.Address
	note := func(a reach.Address, err error) {
		require.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
		without = append(without, a)
	}
	left, err := usable([]reach.Address{bad, good}, note)
	require.NoError(t, err)
	require.Equal(t, []reach.Address{good}, left)
	require.Equal(t, []reach.Address{bad}, without)
	left, err = usable([]reach.Address{bad}, note)
	require.Empty(t, left)
	require.ErrorContains(t, err, "192.0.2.1 (x)")
	left, err = usable(nil, note)
	require.Empty(t, left)
	require.NoError(t, err)
}

// A link-local address leads to this machine only by the interface that has it: another link may have the same one.
func TestNearbyByLink(t *testing.T) {
	all := []reach.Address{face(1, "lo", "127.0.0.1/8", 0, reach.Loopback), face(2, "eth0", "fe80::1/64", 0, 0), face(3, "eth1", "fe80::2/64", 0, 0), face(3, "eth1", "10.0.0.1/24", 0, 0)}
	l := NewLocal(new(still), "tcp", &Settings{Policy: reach.RoutePolicy(nil)}, reach.Side{Network: reach.Network{1}, Addresses: all}, all)
	l.publish(1, l.Interfaces)
	b := Base{Local: l}
	pair := func(from reach.Address, to string) Pair {
		return Pair{Pair: reach.Pair{Local: from, Remote: face(9, "far", to, 0, 0)}}
	}
	require.False(t, b.Nearby(pair(all[1], "fe80::2/64")))
	require.True(t, b.Nearby(pair(all[1], "fe80::1/64")))
	require.True(t, b.Nearby(pair(all[3], "10.0.0.1/24")))
	require.False(t, b.Nearby(pair(all[3], "10.0.0.2/24")))
	for ip, nearby := range map[string]bool{"127.0.0.9": true, "fe80::2%3": true, "fe80::2%2": false, "fe80::2": true, "fe80::9%3": false} {
		require.Equal(t, nearby, l.Nearby(netip.MustParseAddr(ip)), ip)
	}
}
