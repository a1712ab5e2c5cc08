package tcp

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

func nic(name, prefix string, speed int) reach.Address {
	return reach.Address{Prefix: netip.MustParsePrefix(prefix), Interface: name, Speed: speed}
}

// wired is a module of a rank with these addresses, on a network of its own.
func wired(t *testing.T, rank int, policy string, links int, ifaces ...reach.Address) *module {
	for i := range ifaces {
		ifaces[i].Index = i + 1
	}
	return wiredTo(t, rank, policy, links, reach.Side{Network: reach.Network{byte(rank + 1)}, Addresses: ifaces})
}

// wiredTo is one of a host that has more addresses, on a network of others.
func wiredTo(t *testing.T, rank int, policy string, links int, host reach.Side) *module {
	p, err := reach.PolicyByName(policy)
	require.NoError(t, err)
	n := &stillHost{node: &node{rank: rank, size: 9}}
	m := newModule(n, config{links: links})
	m.Use(n, wireup.NewLocal(n, "tcp", &wireup.Settings{Prefix: prefixOfAll, Policy: p}, host, host.Addresses), m, m.wiring())
	m.Publish(nil, uint16(7000+rank), host.Addresses)
	m.describe()
	return m
}

// pathsBetween returns the paths that serve.
func pathsBetween(t *testing.T, a, b *module) []btl.Path {
	paths, _ := pathsAndSpares(t, a, b)
	return paths
}

func pathsAndSpares(t *testing.T, a, b *module) (paths, spares []btl.Path) {
	all, err := a.Reach(btl.Peer{Rank: b.Host.Rank(), Host: "h", Address: b.Address()})
	require.NoError(t, err)
	for _, p := range all {
		if p.Spare == btl.NotSpare {
			require.Equal(t, len(paths), p.Index)
			paths = append(paths, p)
		} else {
			require.Equal(t, maxPaths-1-len(spares), p.Index)
			spares = append(spares, p)
		}
	}
	return paths, spares
}

func TestPathForEachPair(t *testing.T) {
	a := wired(t, 0, "weighted", 1, nic("eth0", "10.0.0.1/24", 100), nic("eth1", "10.1.0.1/24", 1000))
	b := wired(t, 1, "weighted", 1, nic("net0", "10.0.0.2/24", 100), nic("net1", "10.1.0.2/24", 1000))
	paths := pathsBetween(t, a, b)
	require.Len(t, paths, 2)
	require.Equal(t, "10.1.0.1 (eth1) → 10.1.0.2:7001 (weight 80080, private, one subnet)", paths[0].Desc)
	require.Equal(t, 1000, paths[0].Bandwidth)
	require.Equal(t, 100, paths[1].Bandwidth)
	require.Greater(t, paths[0].Weight, paths[1].Weight)
	require.Equal(t, networkLatency, paths[0].Latency)
}

// The links of a pair share what its interfaces can carry.
func TestLinks(t *testing.T) {
	a := wired(t, 0, "weighted", 4, nic("eth0", "10.0.0.1/24", 1000), nic("eth1", "10.1.0.1/24", 100))
	b := wired(t, 1, "weighted", 4, nic("eth0", "10.0.0.2/24", 1000), nic("eth1", "10.1.0.2/24", 100))
	paths := pathsBetween(t, a, b)
	require.Len(t, paths, 8)
	require.Equal(t, 250, paths[3].Bandwidth)
	require.Contains(t, paths[3].Desc, "10.0.0.1 (eth0) → 10.0.0.2:7001 (")
	require.Contains(t, paths[3].Desc, "link 4 of 4)")
	require.Equal(t, 25, paths[4].Bandwidth)
}

// Path i of one side is path i of the other, pairs of equal weight included.
func TestBothSidesNumberAlike(t *testing.T) {
	a := wired(t, 3, "weighted", 2, nic("eth0", "10.2.0.1/24", 1000), nic("eth1", "10.1.0.9/24", 1000), nic("eth2", "10.0.0.1/24", 1000))
	b := wired(t, 5, "weighted", 2, nic("eth0", "10.0.0.9/24", 1000), nic("eth1", "10.2.0.7/24", 1000), nic("eth2", "10.1.0.1/24", 1000))
	there, back := pathsBetween(t, a, b), pathsBetween(t, b, a)
	require.Len(t, there, 6)
	require.Len(t, back, 6)
	for i := range there {
		x, y := there[i].Private.(wireup.Pair), back[i].Private.(wireup.Pair)
		require.Equal(t, x.Local.Addr(), y.Remote.Addr())
		require.Equal(t, x.Remote.Addr(), y.Local.Addr())
		require.Equal(t, x.Link, y.Link)
	}
}

func TestAtMostSoManyPaths(t *testing.T) {
	var ours, theirs []reach.Address
	for i := range 10 {
		subnet := string(rune('0' + i))
		ours = append(ours, nic("a"+subnet, "10."+subnet+".0.1/24", 0))
		theirs = append(theirs, nic("b"+subnet, "10."+subnet+".0.2/24", 0))
	}
	require.Len(t, pathsBetween(t, wired(t, 0, "weighted", 16, ours...), wired(t, 1, "weighted", 16, theirs...)), maxPaths-wireup.MostSpares-1)
}

// The pairs that would work and were not chosen are spare: the best first, numbered
// alike on both sides, and not too many.
func TestSparePaths(t *testing.T) {
	a := wired(t, 0, "weighted", 2, nic("eth0", "10.0.0.1/24", 1000), nic("eth1", "10.0.0.3/24", 100))
	b := wired(t, 1, "weighted", 2, nic("net0", "10.0.0.2/24", 1000))
	second := reach.Address{Prefix: netip.MustParsePrefix("10.0.0.5/24"), Interface: "eth0", Index: 1, Speed: 1000}
	a.Publish(nil, 7000, append(a.Local.Interfaces, second))
	there, theirs := pathsAndSpares(t, a, b)
	require.Len(t, there, 2, "both links of a pair")
	require.Len(t, theirs, 2)
	require.Contains(t, theirs[0].Desc, "10.0.0.5 (eth0) → 10.0.0.2:7001 (")
	require.Equal(t, btl.Parallel, theirs[0].Spare)
	require.Contains(t, theirs[1].Desc, "10.0.0.3 (eth1) → 10.0.0.2:7001 (")
	require.Equal(t, btl.Detour, theirs[1].Spare)

	_, back := pathsAndSpares(t, b, a)
	require.Equal(t, there[0].Private.(wireup.Pair).Local.Addr(), netip.MustParseAddr("10.0.0.1"))
	require.Equal(t, netip.MustParseAddr("10.0.0.3"), back[len(back)-1].Private.(wireup.Pair).Remote.Addr())

	var many []reach.Address
	for i := range 9 {
		many = append(many, nic("eth"+string(rune('0'+i)), "10.0.0."+string(rune('1'+i))+"/24", 0))
	}
	_, spares := pathsAndSpares(t, wired(t, 0, "weighted", 1, many...), wired(t, 1, "weighted", 1, nic("eth0", "10.0.0.20/24", 0), nic("eth1", "10.0.0.21/24", 0)))
	require.Len(t, spares, wireup.MostSpares)

	near := wiredTo(t, 2, "weighted", 1, reach.Side{Network: reach.Network{2}, Addresses: []reach.Address{nic("eth0", "10.0.0.1/24", 0), nic("eth1", "10.1.0.1/24", 0)}})
	_, spares = pathsAndSpares(t, near, b)
	require.Empty(t, spares, "what carries one pair within a network carries all")
}

// An address that this host holds but does not use is not taken for a peer's on another host.
func TestHeldAddressIsNoPeers(t *testing.T) {
	a := wired(t, 0, "weighted", 1, nic("eth0", "10.0.0.1/24", 0))
	b := wired(t, 1, "weighted", 1, nic("docker0", "172.17.0.1/16", 0))
	require.Len(t, pathsBetween(t, a, b), 1)
	a = wiredTo(t, 0, "weighted", 1, reach.Side{Network: reach.Network{1}, Addresses: a.Local.Interfaces, Held: []netip.Addr{netip.MustParseAddr("172.17.0.1")}})
	_, err := a.Reach(btl.Peer{Rank: 1, Host: "h", Address: b.Address()})
	require.ErrorIs(t, err, wireup.ErrNoPair)
}

// If no pair of addresses works, the error says why and what can be changed. It is a few lines
// long, however many pairs there are.
func TestNoPair(t *testing.T) {
	a := wired(t, 0, "subnet", 1, nic("eth0", "10.0.0.1/24", 0), nic("eth1", "fd00::1/64", 0))
	b := wired(t, 1, "subnet", 1, nic("net0", "192.168.0.2/24", 0))
	_, err := a.Reach(btl.Peer{Rank: 1, Host: "far", Address: b.Address()})
	require.ErrorIs(t, err, wireup.ErrNoPair)
	for _, want := range []string{"rank 1 on far", "subnet", pInclude, pExclude, pReach, "route", "weighted",
		"eth0 10.0.0.1/24", "eth1 fd00::1/64", "net0 192.168.0.2/24", "IPv4 and IPv6 do not mix"} {
		require.ErrorContains(t, err, want)
	}
	var ours, theirs []reach.Address
	for i := range 32 {
		ours = append(ours, nic(fmt.Sprintf("eth%d", i), fmt.Sprintf("10.%d.0.1/24", i), 0))
		theirs = append(theirs, nic(fmt.Sprintf("eth%d", i), fmt.Sprintf("192.168.%d.2/24", i), 0), nic("ib", fmt.Sprintf("fd00:%x::1/64", i), 0))
	}
	_, err = wired(t, 0, "subnet", 1, ours...).Reach(btl.Peer{Rank: 1, Host: "far", Address: wired(t, 1, "subnet", 1, theirs...).Address()})
	require.ErrorIs(t, err, wireup.ErrNoPair)
	require.ErrorContains(t, err, "1024 pairs, such as 10.0.0.1 (eth0) → 192.168.0.2 (eth0): private, different subnets")
	require.Less(t, strings.Count(err.Error(), "\n"), 16)
	require.Less(t, len(err.Error()), 2000)
}

// Where one side has no addresses but those of the loopback the error says what may be the matter with the others.
func TestNoPairButTheLoopbacks(t *testing.T) {
	a := wired(t, 0, "weighted", 1, nic("lo", "127.0.0.1/8", 0), nic("lo", "::1/128", 0))
	b := wired(t, 1, "weighted", 1, nic("lo", "127.0.0.1/8", 0), nic("eth0", "10.0.0.2/24", 0))
	_, err := a.Reach(btl.Peer{Rank: 1, Host: "far", Address: b.Address()})
	require.ErrorContains(t, err, "ours are the loopback's alone: is another interface down")
	_, err = b.Reach(btl.Peer{Rank: 0, Host: "far", Address: a.Address()})
	require.ErrorContains(t, err, "the peer's are the loopback's alone: is another interface down")
	_, err = b.Reach(btl.Peer{Rank: 0, Host: "far", Address: wired(t, 2, "weighted", 1, nic("eth0", "fd00::2/64", 0)).Address()})
	require.ErrorIs(t, err, wireup.ErrNoPair)
	require.NotContains(t, err.Error(), "alone")
}

// A link-local address of the peer's is reached through our own interface.
func TestLinkLocal(t *testing.T) {
	a := wired(t, 0, "weighted", 1, nic("eth0", "fe80::1/64", 0))
	b := wired(t, 1, "weighted", 1, nic("net7", "fe80::2/64", 0))
	p := pathsBetween(t, a, b)[0].Private.(wireup.Pair)
	require.Equal(t, "[fe80::2%eth0]:7001", p.Target().String())
	require.Equal(t, "fe80::1%eth0", p.Source().String())
	require.Equal(t, "fe80::1%eth0", wireup.Zoned(p.Local).String())
}
