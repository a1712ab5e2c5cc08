package reach

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// host makes a side from lines such as "eth0 10.0.0.1/24 1000": a name, a
// prefix, Mbit/s and flags. Equal names are one interface.
func host(network byte, lines ...string) Side {
	s := Side{Network: Network{network}}
	index := make(map[string]int)
	for _, line := range lines {
		words := strings.Fields(line)
		a := Address{Interface: words[0], Prefix: netip.MustParsePrefix(words[1])}
		if index[a.Interface] == 0 {
			index[a.Interface] = len(index) + 1
		}
		a.Index = index[a.Interface]
		for _, word := range words[2:] {
			switch word {
			case "no-carrier":
				a.Flags |= NoCarrier
			case "tunnel":
				a.Flags |= Tunnel
			case "enclosed":
				a.Flags |= Enclosed
			case "loopback":
				a.Flags |= Loopback
			case "on":
				a.Device = 1 // the first interface
			default:
				if _, err := fmt.Sscan(word, &a.Speed); err != nil {
					panic(err)
				}
			}
		}
		s.Addresses = append(s.Addresses, a)
	}
	return s
}

// ways lists pairs as "10.0.0.1-10.0.0.2".
func ways(pairs []Pair) []string {
	list := []string{}
	for _, p := range pairs {
		list = append(list, p.Local.Addr().String()+"-"+p.Remote.Addr().String())
	}
	return list
}

// why returns the reason for a pair that was not chosen.
func why(t *testing.T, r Result, way string) string {
	for i, w := range ways(r.Rejected) {
		if w == way {
			return r.Rejected[i].Why
		}
	}
	t.Errorf("%s is not among %v", way, ways(r.Rejected))
	return ""
}

func policy(t require.TestingT, name string) Policy {
	p, err := PolicyByName(name)
	require.NoError(t, err)
	return p
}

var (
	loopback4 = "lo 127.0.0.1/8"
	loopback6 = "lo ::1/128"
)

func TestMatchWeighted(t *testing.T) {
	for _, tc := range []struct {
		name          string
		local, remote Side
		want          []string
	}{
		{"nothing here", host(1), host(2, "eth0 10.0.0.2/24"), nil},
		{"one machine: the loopback, IPv4 first", host(1, "eth0 10.0.0.1/24 10000", loopback6, loopback4), host(1, "eth0 10.0.0.1/24 10000", loopback6, loopback4),
			[]string{"127.0.0.1-127.0.0.1"}},
		{"one machine without a loopback: one pair carries all", host(1, "eth0 10.0.0.1/24", "eth1 10.1.0.1/24"), host(1, "eth0 10.0.0.1/24", "eth1 10.1.0.1/24"),
			[]string{"10.0.0.1-10.0.0.1"}},
		{"one machine, one address with a mask of 0", host(1, "eth0 10.0.0.1/0"), host(1, "eth0 10.0.0.1/0"), []string{"10.0.0.1-10.0.0.1"}},
		{"two machines: never the loopback", host(1, loopback4, loopback6), host(2, loopback4, loopback6), nil},
		{"nobody knows whether it is one machine, and nothing else would work", host(0, loopback4, loopback6, "eth0 10.0.0.1/24"), host(0, loopback4, loopback6, "eth0 10.0.0.1/24"),
			[]string{"127.0.0.1-127.0.0.1"}},
		{"only one side knows what machine it is", host(0, "eth0 10.0.0.1/24"), host(2, "eth0 10.0.0.1/24"), []string{"10.0.0.1-10.0.0.1"}},
		{"nobody knows whether it is one machine, but there is another way", host(0, loopback4, "docker0 172.17.0.1/16", "eth0 10.0.0.1/24"),
			host(0, loopback4, "docker0 172.17.0.1/16", "eth0 10.0.0.2/24"), []string{"10.0.0.1-10.0.0.2"}},
		{"one subnet", host(1, loopback4, "eth0 10.0.0.1/24"), host(2, loopback4, "eth0 10.0.0.2/24"), []string{"10.0.0.1-10.0.0.2"}},
		{"docker0 is the same everywhere", host(1, "docker0 172.17.0.1/16"), host(2, "docker0 172.17.0.1/16"), nil},
		{"docker0 beside a network", host(1, "docker0 172.17.0.1/16 10000", "eth0 10.0.0.1/24"), host(2, "docker0 172.17.0.1/16 10000", "eth0 10.0.0.2/24"),
			[]string{"10.0.0.1-10.0.0.2"}},
		{"families do not mix", host(1, "eth0 10.0.0.1/24"), host(2, "eth0 fd00::2/64"), nil},
		{"IPv6 only", host(1, "eth0 fd00::1/64", "eth0 fe80::1/64"), host(2, "eth0 fd00::2/64", "eth0 fe80::2/64"), []string{"fd00::1-fd00::2"}},
		{"link-local only", host(1, "eth0 fe80::1/64"), host(2, "eth0 fe80::2/64"), []string{"fe80::1-fe80::2"}},
		{"mixed families", host(1, "eth0 10.0.0.1/24", "eth1 fd00::1/64"), host(2, "eth0 fd00::2/64", "eth1 10.0.0.2/24"),
			[]string{"fd00::1-fd00::2", "10.0.0.1-10.0.0.2"}},
		{"link-local pairs no spare NICs", host(1, "eth0 10.0.0.1/24", "eth0 fe80::1/64", "usb0 fe80::11/64"), host(2, "eth0 10.0.0.2/24", "eth0 fe80::2/64", "usb0 fe80::12/64"),
			[]string{"10.0.0.1-10.0.0.2"}},
		{"several addresses of one NIC count as one", host(1, "eth0 10.0.0.1/24", "eth0 10.0.0.11/24", "eth0 fd00::1/64"), host(2, "eth0 10.0.0.2/24", "eth1 10.0.0.12/24"),
			[]string{"10.0.0.1-10.0.0.2"}},
		{"the alias that fits", host(1, "eth0 172.16.9.1/24", "eth0 10.0.0.1/24"), host(2, "eth0 192.168.3.2/24", "eth0 10.0.0.2/24"), []string{"10.0.0.1-10.0.0.2"}},
		{"the faster of two networks first", host(1, "eth0 10.0.0.1/24 100", "eth1 10.1.0.1/24 1000"), host(2, "eth0 10.0.0.2/24 100", "eth1 10.1.0.2/24 1000"),
			[]string{"10.1.0.1-10.1.0.2", "10.0.0.1-10.0.0.2"}},
		{"the private net of a head node", host(1, "ext 192.0.2.1/24", "int 192.168.0.1/24"), host(2, "eth0 192.168.0.2/24"), []string{"192.168.0.1-192.168.0.2"}},
		{"public with private has no weight", host(1, "eth0 192.0.2.1/24"), host(2, "eth0 192.168.0.2/24"), nil},
		{"narrow masks", host(1, "eth0 192.168.1.10/24"), host(2, "eth0 192.168.2.10/24"), []string{"192.168.1.10-192.168.2.10"}},
		{"no carrier", host(1, "eth0 10.0.0.1/24 no-carrier", "eth1 10.1.0.1/24"), host(2, "eth0 10.0.0.2/24", "eth1 10.1.0.2/24"), []string{"10.1.0.1-10.1.0.2"}},
		// Each of the two cross pairs is possible; a solver that maximises the
		// number of pairs takes both and loses the good one.
		{"two poor pairs do not replace a good one", host(1, "eth0 10.0.0.1/24 10000", "slow 10.9.0.1/24 10"), host(2, "eth0 10.0.0.2/24 10000", "slow 192.0.2.2/24 10"),
			[]string{"10.0.0.1-10.0.0.2"}},
		{"unknown equals the other end", host(1, "eth0 10.0.0.1/24", "eth1 10.0.0.11/24 100"), host(2, "eth0 10.0.0.2/24 1000"), []string{"10.0.0.1-10.0.0.2"}},
		{"both unknown is not slow", host(1, "eth0 10.0.0.1/24", "tap0 10.0.0.11/24 10"), host(2, "eth0 10.0.0.2/24"), []string{"10.0.0.1-10.0.0.2"}},
		{"four links", host(1, "a 10.0.0.1/24 1000", "b 10.0.1.1/24 1000", "c 10.0.2.1/24 1000", "d 10.0.3.1/24 1000"),
			host(2, "d 10.0.3.2/24 1000", "c 10.0.2.2/24 1000", "b 10.0.1.2/24 1000", "a 10.0.0.2/24 1000"),
			[]string{"10.0.0.1-10.0.0.2", "10.0.1.1-10.0.1.2", "10.0.2.1-10.0.2.2", "10.0.3.1-10.0.3.2"}},
	} {
		r := Match(tc.local, tc.remote, policy(t, "weighted"))
		assert.ElementsMatch(t, tc.want, ways(r.Pairs), "%s\n%s", tc.name, r.Table())
	}
}

// Open MPI's example: two nodes, eth0 and ibd0 on both and ibd1 on one, give
// exactly two connections, whatever the policy that scores them.
func TestMatchOpenMPIsExample(t *testing.T) {
	a := host(1, loopback4, "eth0 10.8.47.1/24", "ibd0 192.168.1.1/24", "ibd1 192.168.2.2/24")
	b := host(2, loopback4, "eth0 10.8.47.2/24", "ibd0 192.168.1.2/24")
	want := []string{"10.8.47.1-10.8.47.2", "192.168.1.1-192.168.1.2"}
	for _, name := range []string{"weighted", "weighted13", "subnet"} {
		assert.Equal(t, want, ways(Match(a, b, policy(t, name)).Pairs), name)
	}
	r := Match(a, b, weighted13)
	weights := make(map[string]float64)
	for _, p := range append(r.Pairs, r.Rejected...) {
		weights[p.Local.Interface+" "+p.Remote.Interface] = p.Weight
	}
	assert.Equal(t, map[string]float64{
		"eth0 eth0": 2, "eth0 ibd0": 1, "ibd0 eth0": 1, "ibd0 ibd0": 2, "ibd1 eth0": 1, "ibd1 ibd0": 1, // as the FAQ has it
		"lo lo": 0, "lo eth0": 0, "lo ibd0": 0, "eth0 lo": 0, "ibd0 lo": 0, "ibd1 lo": 0,
	}, weights)
	assert.Equal(t, []string{"10.8.47.2-10.8.47.1", "192.168.1.2-192.168.1.1"}, ways(Match(b, a, weighted13).Pairs))
}

// The same by their routes: ibd1 leads nowhere.
func TestMatchOpenMPIsExampleByRoute(t *testing.T) {
	a := host(1, "eth0 10.8.47.1/24", "ibd0 192.168.1.1/24", "ibd1 192.168.2.2/24")
	b := host(2, "eth0 10.8.47.2/24", "ibd0 192.168.1.2/24")
	r := Match(a, b, RoutePolicy(onLink(a)))
	assert.Equal(t, []string{"10.8.47.1-10.8.47.2", "192.168.1.1-192.168.1.2"}, ways(r.Pairs))
	assert.Equal(t, "10.8.47.1 (eth0) → 10.8.47.2 (eth0) (weight 100, direct route), 192.168.1.1 (ibd0) → 192.168.1.2 (ibd0) (weight 100, direct route)", r.String())
	assert.Equal(t, "the kernel sends it out by eth0, not by ibd1", why(t, r, "192.168.2.2-10.8.47.2"))
}

// onLink routes to the subnets of a side and nowhere else.
func onLink(s Side) Lookup {
	return func(_, to netip.Addr) (Route, error) {
		for _, a := range s.Addresses {
			if a.Prefix.Contains(to) {
				return Route{Interface: a.Index, Name: a.Interface, Local: a.Addr() == to}, nil
			}
		}
		return Route{}, ErrNoRoute
	}
}

// A host cut off from one network has a management network that is not routed.
func TestMatchUnroutableManagement(t *testing.T) {
	a := host(1, "mgmt 10.255.1.1/24 1000", "eth0 10.0.0.1/24 1000")
	b := host(2, "mgmt 10.255.2.1/24 1000", "eth0 10.0.0.2/24 1000")
	r := Match(a, b, RoutePolicy(onLink(a)))
	assert.Equal(t, []string{"10.0.0.1-10.0.0.2"}, ways(r.Pairs))
	assert.Equal(t, "the kernel has no route", why(t, r, "10.255.1.1-10.255.2.1"))
}

func TestMatchReasons(t *testing.T) {
	a := host(1, loopback4, "eth0 10.0.0.1/24 1000", "eth0 10.0.0.11/24 1000", "eth1 10.1.0.1/24 1000", "docker0 172.17.0.1/16", "off 10.2.0.1/24 no-carrier")
	b := host(2, loopback4, "eth0 10.0.0.2/24 1000", "eth1 10.1.0.2/24 1000", "eth2 10.3.0.2/24 10", "docker0 172.17.0.1/16", "eth9 fd00::2/64")
	a.Held = []netip.Addr{netip.MustParseAddr("10.3.0.2")}
	r := Match(a, b, weighted)
	assert.Equal(t, []string{"10.0.0.1-10.0.0.2", "10.1.0.1-10.1.0.2"}, ways(r.Pairs))
	assert.Len(t, r.Rejected, 6*6-2)
	for way, want := range map[string]string{
		"127.0.0.1-127.0.0.1":   "loopback, and the peer is on another host or in another network namespace",
		"127.0.0.1-10.0.0.2":    "a loopback address leads to loopback addresses only",
		"10.0.0.1-fd00::2":      "IPv4 and IPv6 do not mix",
		"172.17.0.1-172.17.0.1": "this host holds 172.17.0.1 (docker0) too: it would talk to itself",
		"10.0.0.1-10.3.0.2":     "this host holds 10.3.0.2 (an interface left out) too: it would talk to itself",
		"172.17.0.1-10.0.0.2":   "the peer holds 172.17.0.1 (docker0) too: its answers would go to itself",
		"10.2.0.1-10.0.0.2":     "off here has no carrier",
		"10.0.0.11-10.0.0.2":    "private, one subnet, but the same two interfaces are joined by 10.0.0.1 (eth0) → 10.0.0.2 (eth0)",
		"10.0.0.1-10.1.0.2": "private, different subnets, but it would take eth0 here from 10.0.0.1 (eth0) → 10.0.0.2 (eth0) and eth1 there from " +
			"10.1.0.1 (eth1) → 10.1.0.2 (eth1), which together are worth more",
	} {
		assert.Equal(t, want, why(t, r, way), way)
	}
	r = Match(host(1, "eth0 10.0.0.1/24 1000"), host(2, "eth0 10.0.0.2/24 1000", "eth1 10.1.0.2/24 1000"), weighted)
	assert.Equal(t, "private, different subnets, but eth0 here is worth more in 10.0.0.1 (eth0) → 10.0.0.2 (eth0)", why(t, r, "10.0.0.1-10.1.0.2"))
	r = Match(host(1, "eth0 10.0.0.1/24 1000", "eth1 10.1.0.1/24 1000"), host(2, "eth0 10.0.0.2/24 1000"), weighted)
	assert.Equal(t, "private, different subnets, but eth0 there is worth more in 10.0.0.1 (eth0) → 10.0.0.2 (eth0)", why(t, r, "10.1.0.1-10.0.0.2"))
	same := host(3, loopback4, loopback6)
	r = Match(same, same, weighted)
	assert.Equal(t, "loopback, but both ends are on one network, where one pair is enough", why(t, r, "::1-::1"))
	r = Match(host(1, "eth0 10.0.0.1/24", "eth0 fe80::1/64"), host(2, "eth0 10.0.0.2/24", "eth0 fe80::2/64"), weighted)
	assert.Equal(t, "link-local addresses do not tell which links are joined, and there is another way", why(t, r, "fe80::1-fe80::2"))
}

// Two VLANs of one card share what it can do.
func TestMatchVLANs(t *testing.T) {
	vlans := func(network byte, last string, device int) Side {
		s := host(network, "eth0.10 10.0.10."+last+"/24 1000", "eth0.20 10.0.20."+last+"/24 1000")
		for i := range s.Addresses {
			s.Addresses[i].Device = device
		}
		return s
	}
	assert.Len(t, Match(vlans(1, "1", 9), vlans(2, "2", 0), weighted).Pairs, 1)
	assert.Len(t, Match(vlans(1, "1", 0), vlans(2, "2", 0), weighted).Pairs, 2)
}

// A pair whose card may be another pair's too, or that leads to no other host, serves only where
// nothing else does.
func TestMatchKeepsAside(t *testing.T) {
	routed := RoutePolicy(func(from, to netip.Addr) (Route, error) {
		// Public networks are routed; others are on the link of the interface whose
		// subnet has the third byte of theirs.
		index := 1
		if b := from.As4(); !isPrivate(from) || b[2] != 0 {
			index = int(b[2]) + 1
		}
		route := Route{Interface: index}
		if from.As4()[2] != to.As4()[2] {
			route.Gateway = netip.MustParseAddr("10.0.0.254")
		}
		return route, nil
	})
	for _, tc := range []struct {
		name          string
		local, remote Side
		chosen, spare []string
	}{
		{"an overlay over its own card", host(1, "eth0 10.0.0.1/24 10000", "flannel.1 10.0.1.1/24 10000 tunnel on"), host(2, "eth0 10.0.0.2/24 10000", "flannel.1 10.0.1.2/24 10000 tunnel on"),
			[]string{"10.0.0.1-10.0.0.2"}, []string{"10.0.1.1-10.0.1.2"}},
		{"a tunnel over nobody knows what, of unknown speed", host(1, "eth0 10.0.0.1/24 100", "wg0 10.0.1.1/24 tunnel"), host(2, "eth0 10.0.0.2/24 100", "wg0 10.0.1.2/24 tunnel"),
			[]string{"10.0.0.1-10.0.0.2"}, []string{"10.0.1.1-10.0.1.2"}},
		{"no card knows its speed", host(1, "wg0 10.0.0.1/24 tunnel", "eth0 10.0.1.1/24"), host(2, "wg0 10.0.0.2/24 tunnel", "eth0 10.0.1.2/24"),
			[]string{"10.0.1.1-10.0.1.2"}, []string{"10.0.0.1-10.0.0.2"}},
		{"the peer says that it is a tunnel", host(1, "eth0 10.0.0.1/24", "tap 10.0.1.1/24"), host(2, "eth0 10.0.0.2/24", "tun0 10.0.1.2/24 tunnel"),
			[]string{"10.0.0.1-10.0.0.2"}, []string{"10.0.1.1-10.0.1.2"}},
		{"nothing but tunnels: they may share what they run over", host(1, "wg0 10.0.0.1/24 tunnel", "tun0 10.0.1.1/24 tunnel"), host(2, "wg0 10.0.0.2/24 tunnel", "tun0 10.0.1.2/24 tunnel"),
			[]string{"10.0.0.1-10.0.0.2"}, []string{"10.0.1.1-10.0.1.2"}},
		{"public and private", host(1, "eth0 192.0.0.1/24", "eth1 10.0.1.1/24"), host(2, "eth0 192.0.0.2/24", "eth1 10.0.1.2/24"),
			[]string{"10.0.1.1-10.0.1.2"}, []string{"192.0.0.1-192.0.0.2"}},
		{"a faster public one", host(1, "eth0 192.0.0.1/24 10000", "eth1 10.0.1.1/24 1000"), host(2, "eth0 192.0.0.2/24 10000", "eth1 10.0.1.2/24 1000"),
			[]string{"10.0.1.1-10.0.1.2"}, []string{"192.0.0.1-192.0.0.2"}},
		{"public, and a private network that is farther", host(1, "eth0 192.0.0.1/24", "eth1 10.0.1.1/24"), host(2, "eth0 192.0.0.2/24", "eth1 10.0.9.2/24"),
			[]string{"192.0.0.1-192.0.0.2", "10.0.1.1-10.0.9.2"}, nil},
		{"public, and the same bridge on both hosts", host(1, "eth0 192.0.0.1/24", "docker0 172.17.1.1/16"), host(2, "eth0 192.0.0.2/24", "docker0 172.17.1.1/16"),
			[]string{"192.0.0.1-192.0.0.2"}, nil},
		{"public, and a bridge of another address on each", host(1, "eth0 192.0.0.1/24", "docker0 172.17.1.1/16 enclosed"), host(2, "eth0 192.0.0.2/24", "docker0 172.17.1.2/16 enclosed"),
			[]string{"192.0.0.1-192.0.0.2"}, []string{"172.17.1.1-172.17.1.2"}},
		{"a container and its host", host(1, "docker0 172.17.0.1/16 enclosed"), host(2, "eth0 172.17.0.2/16"), []string{"172.17.0.1-172.17.0.2"}, nil},
		{"a public network and a tunnel through it", host(1, "eth0 192.0.0.1/24", "wg0 10.0.1.1/24 tunnel"), host(2, "eth0 192.0.0.2/24", "wg0 10.0.1.2/24 tunnel"),
			[]string{"192.0.0.1-192.0.0.2"}, []string{"10.0.1.1-10.0.1.2"}},
	} {
		r := Match(tc.local, tc.remote, routed)
		assert.Equal(t, tc.chosen, ways(r.Pairs), "%s\n%s", tc.name, r.Table())
		spares := ways(r.Spares())
		for _, s := range tc.spare {
			assert.Contains(t, spares, s, "%s\n%s", tc.name, r.Table())
		}
	}
	r := Match(host(1, "eth0 192.0.0.1/24", "eth1 10.0.1.1/24", "wg0 10.0.2.1/24 tunnel", "docker0 172.17.3.1/16 enclosed"),
		host(2, "eth0 192.0.0.2/24", "eth1 10.0.1.2/24", "wg0 10.0.2.2/24 tunnel", "docker0 172.17.3.2/16"), routed)
	for way, want := range map[string]string{
		"192.0.0.1-192.0.0.2":   "direct route, but its addresses are public, and private ones join the hosts as directly",
		"10.0.2.1-10.0.2.2":     "direct route, but wg0 here is a tunnel over an interface that is not known, maybe the same as another pair's",
		"172.17.3.1-172.17.3.2": "direct route, but docker0 here is a bridge without a card, which leads to what runs on that host",
	} {
		assert.Equal(t, want, why(t, r, way))
	}
}

// Open MPI's policies keep Open MPI's order, in which public addresses come first.
func TestOpenMPIPrefersPublicAddresses(t *testing.T) {
	r := Match(host(1, "eth0 192.0.0.1/24", "eth1 10.0.1.1/24"), host(2, "eth0 192.0.0.2/24", "eth1 10.0.1.2/24"), weighted)
	assert.Equal(t, []string{"192.0.0.1-192.0.0.2", "10.0.1.1-10.0.1.2"}, ways(r.Pairs))
}

func TestMatchEqualWeightTakesFewerPairs(t *testing.T) {
	// By gateways two pairs of 50 × 1001, directly one of 100 × 1001.
	a := host(1, "eth0 10.0.0.1/24 1000", "eth1 10.1.0.1/24 1000")
	b := host(2, "eth0 10.0.0.2/24 1000", "eth1 10.2.0.2/24 1000")
	lookup := func(from, to netip.Addr) (Route, error) {
		switch from.String() + " " + to.String() {
		case "10.0.0.1 10.0.0.2":
			return Route{Interface: 1}, nil
		case "10.0.0.1 10.2.0.2":
			return Route{Interface: 1, Gateway: netip.MustParseAddr("10.0.0.254")}, nil
		case "10.1.0.1 10.0.0.2":
			return Route{Interface: 2, Gateway: netip.MustParseAddr("10.1.0.254")}, nil
		}
		return Route{}, ErrNoRoute
	}
	assert.Equal(t, []string{"10.0.0.1-10.0.0.2"}, ways(Match(a, b, RoutePolicy(lookup)).Pairs))
}

func TestWeight(t *testing.T) {
	m := &matching{fastest: 40000}
	for _, tc := range []struct {
		a, b int
		want float64
	}{
		{1000, 1000, 100 * 1001},
		{1000, 1001, 100 * 1000.5},
		{10000, 100, 100 * (100 + 1.0/9901)},
		{0, 1000, 100 * 1001},
		{1000, 0, 100 * 1001},
		{0, 0, 100 * 40001},
		{1 << 40 % (1<<31 - 1), 0, 100 * (512 + 1)},
		{1<<31 - 1, 1<<31 - 1, 100 * (mostSpeed + 1)},
	} {
		p := Pair{Quality: 100, Local: Address{Speed: tc.a}, Remote: Address{Speed: tc.b}}
		assert.InDelta(t, tc.want, m.weight(p), 1e-6, "%d and %d", tc.a, tc.b)
	}
	assert.InDelta(t, 100, (&matching{}).weight(Pair{Quality: 100}), 0)
	tunnel := Pair{Quality: 100, Local: Address{Speed: 1e5, Flags: Tunnel, Device: 2}, Remote: Address{Speed: 1e5}}
	assert.Less(t, 64*m.weight(tunnel), (&matching{}).weight(Pair{Quality: 25}), "all tunnels of a host are worth less than its poorest card")
}

func TestPair(t *testing.T) {
	a, b := host(1, "eth0 fe80::1/64 100"), host(2, "enp3s0 fe80::2/64 1000")
	r := Match(a, b, weighted)
	require.Len(t, r.Pairs, 1)
	p := r.Pairs[0]
	assert.Equal(t, "fe80::1%eth0", p.Source().String())
	assert.Equal(t, "fe80::2%eth0", p.Target().String(), "the zone is ours")
	assert.Equal(t, 100, p.Speed)
	assert.False(t, p.Loopback)
	p = Match(host(1, loopback4), host(1, loopback4), weighted).Pairs[0]
	assert.True(t, p.Loopback)
	assert.False(t, p.Source().IsValid())
	assert.Equal(t, "127.0.0.1", p.Target().String())
	assert.Equal(t, "no way", Result{}.String())
}

// drawSide draws addresses from few subnets, so that pairs compete.
func drawSide(t *rapid.T, network byte, last int) Side {
	s := Side{Network: Network{network}}
	for i := range rapid.IntRange(0, 5).Draw(t, "addresses") {
		ip := netip.MustParseAddr(fmt.Sprintf(rapid.SampledFrom([]string{"10.0.%d.%d", "192.0.%d.%d", "fd00:%d::%d", "fe80:%d::%d"}).Draw(t, "kind"),
			rapid.IntRange(0, 1).Draw(t, "subnet"), 10*i+last))
		bits := rapid.SampledFrom([]int{0, 24, 32}).Draw(t, "bits")
		s.Addresses = append(s.Addresses, Address{
			Prefix: netip.PrefixFrom(ip, bits), Index: rapid.IntRange(1, 4).Draw(t, "index"),
			Speed: rapid.SampledFrom([]int{0, 10, 100, 1000, 1000}).Draw(t, "speed"),
			Flags: rapid.SampledFrom([]Flags{0, 0, 0, 0, Tunnel, Enclosed}).Draw(t, "flags"),
		})
	}
	return s
}

// bruteForce returns the largest sum of weights of pairs with no NIC twice, and
// the least number of pairs that gives it.
func bruteForce(pairs []Pair, locals, remotes map[card]bool) (sum int64, count int) {
	if len(pairs) == 0 {
		return 0, 0
	}
	sum, count = bruteForce(pairs[1:], locals, remotes)
	p := pairs[0]
	l, r := p.Local.card(), p.Remote.card()
	if p.Quality == 0 || strings.Contains(p.Why, " is a tunnel over ") || strings.Contains(p.Why, " is a bridge without ") || locals[l] || remotes[r] {
		return sum, count
	}
	locals[l], remotes[r] = true, true
	with, more := bruteForce(pairs[1:], locals, remotes)
	delete(locals, l)
	delete(remotes, r)
	with, more = with+fixed(p.Weight), more+1
	if with > sum || with == sum && more < count {
		return with, more
	}
	return sum, count
}

func TestMatchIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		local, remote := drawSide(t, 1, 1), drawSide(t, 2, 2)
		p := policy(t, rapid.SampledFrom([]string{"weighted", "weighted13", "subnet"}).Draw(t, "policy"))
		r := Match(local, remote, p)
		require.Len(t, append(r.Pairs, r.Rejected...), len(local.Addresses)*len(remote.Addresses))
		locals, remotes := make(map[card]bool), make(map[card]bool)
		sum := int64(0)
		for _, pair := range r.Pairs {
			require.Positive(t, pair.Quality)
			require.False(t, locals[pair.Local.card()] || remotes[pair.Remote.card()], "a NIC twice\n%s", r.Table())
			locals[pair.Local.card()], remotes[pair.Remote.card()] = true, true
			sum += fixed(pair.Weight)
		}
		for _, pair := range r.Rejected {
			require.NotEmpty(t, pair.Why)
		}
		want, count := bruteForce(append(r.Pairs, r.Rejected...), map[card]bool{}, map[card]bool{})
		require.Equal(t, want, sum, "%s", r.Table())
		require.Equal(t, count, len(r.Pairs), "%s", r.Table())
		require.Equal(t, r, Match(local, remote, p), "twice the same")
	})
}

// scored is a policy of somebody else's: a quality for each pair of interfaces.
type scored map[string]int

func (scored) Name() string { return "scored" }

func (p scored) Score(local, remote Address, _ bool) (int, string) {
	return p[local.Interface+"-"+remote.Interface], "as the test says"
}

// A policy may come from anywhere, and so may a speed: whatever they are, the choice is the best there is.
func TestMatchBearsAnyQualityAndSpeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qualities := rapid.OneOf(rapid.IntRange(-2, 2), rapid.IntRange(0, 2*mostQuality), rapid.Int())
		speeds := rapid.OneOf(rapid.IntRange(-1, 2), rapid.Just(1000), rapid.Int())
		sides, p := [2]Side{}, scored{}
		for s := range sides {
			sides[s].Network = Network{byte(s + 1)}
			for i := range rapid.IntRange(0, 6).Draw(t, "interfaces") {
				prefix := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(s), byte(i), 1}), 24)
				sides[s].Addresses = append(sides[s].Addresses,
					Address{Prefix: prefix, Interface: fmt.Sprint("eth", i), Index: i + 1, Speed: speeds.Draw(t, "speed")})
			}
		}
		for _, l := range sides[0].Addresses {
			for _, r := range sides[1].Addresses {
				p[l.Interface+"-"+r.Interface] = qualities.Draw(t, "quality")
			}
		}
		r := Match(sides[0], sides[1], p)
		all, sum := append(r.Pairs, r.Rejected...), int64(0)
		for _, pair := range r.Pairs {
			sum += fixed(pair.Weight)
		}
		for _, pair := range all {
			require.GreaterOrEqual(t, pair.Speed, 0)
			require.Equal(t, min(max(p[pair.Local.Interface+"-"+pair.Remote.Interface], 0), mostQuality), pair.Quality)
		}
		want, count := bruteForce(all, map[card]bool{}, map[card]bool{})
		require.Equal(t, want, sum, "%s", r.Table())
		require.Equal(t, count, len(r.Pairs), "%s", r.Table())
	})
}

// bench makes hosts of n interfaces with an address each.
func benchSide(network byte, n int) Side {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("eth%d 10.%d.%d.%d/16 %d", i, i%7, i, network, 1000*(1+i%3)))
	}
	return host(network, lines...)
}

func BenchmarkMatch64(b *testing.B) {
	local, remote := benchSide(1, 64), benchSide(2, 64)
	b.ReportAllocs()
	for b.Loop() {
		Match(local, remote, weighted)
	}
}

func BenchmarkMatch64ByRoute(b *testing.B) {
	local, remote := benchSide(1, 64), benchSide(2, 64)
	p := RoutePolicy(onLink(local))
	b.ReportAllocs()
	for b.Loop() {
		Match(local, remote, p)
	}
}

func BenchmarkMatch4(b *testing.B) {
	local, remote := benchSide(1, 4), benchSide(2, 4)
	b.ReportAllocs()
	for b.Loop() {
		Match(local, remote, weighted)
	}
}

func BenchmarkAssign64(b *testing.B) {
	weights := make([][]int64, 64)
	for i := range weights {
		weights[i] = make([]int64, 64)
		for j := range weights[i] {
			weights[i][j] = int64((i*7919+j*104729)%1000 + 1)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		assign(weights)
	}
}

// Hosts that take part in routing may have one address each, on the loopback interface, and nothing but link-local ones on
// their cards. Where there are other networks such an address is spare, since it would use their cards.
func TestAddressesOfHosts(t *testing.T) {
	byCard := RoutePolicy(func(netip.Addr, netip.Addr) (Route, error) { return Route{Interface: 2}, nil })
	a, b := host(1, "lo 10.0.0.1/32 loopback", "eth0 fe80::1/64"), host(2, "lo 10.0.0.2/32 loopback", "eth0 fe80::2/64")
	require.Equal(t, []string{"10.0.0.1-10.0.0.2"}, ways(Match(a, b, byCard).Pairs))

	a, b = host(1, "lo 10.0.0.1/32 loopback", "eth0 10.1.0.1/24"), host(2, "lo 10.0.0.2/32 loopback", "eth0 10.1.0.2/24")
	r := Match(a, b, byCard)
	require.Equal(t, []string{"10.1.0.1-10.1.0.2"}, ways(r.Pairs))
	require.Contains(t, ways(r.Spares()), "10.0.0.1-10.0.0.2")
	require.Contains(t, why(t, r, "10.0.0.1-10.0.0.2"), "10.0.0.1 here is the host's own")

	a = host(1, "eth1 10.2.0.1/24", "eth0 10.1.0.1/24") // whose cards have addresses
	b = host(2, "eth1 10.2.0.2/24", "lo 10.0.0.2/32 loopback")
	byCard = RoutePolicy(func(from, _ netip.Addr) (Route, error) { return Route{Interface: 3 - int(from.As4()[1])}, nil })
	require.Equal(t, []string{"10.2.0.1-10.2.0.2", "10.1.0.1-10.0.0.2"}, ways(Match(a, b, byCard).Pairs), "the route says which one leads there")
}

// On one network the loopback carries every pair, and a firewall may keep one family from it. So there is a spare pair of the other one.
func TestOneNetworkHasASpareOfTheOtherFamily(t *testing.T) {
	a := host(1, "lo 127.0.0.1/8 loopback", "lo ::1/128 loopback", "eth0 10.0.0.1/24 1000", "eth0 fd00::1/64 1000", "eth1 10.1.0.1/24 10")
	r := Match(a, a, weighted)
	require.Equal(t, []string{"127.0.0.1-127.0.0.1"}, ways(r.Pairs))
	require.Equal(t, []string{"::1-::1"}, ways(r.Spares()))
	a.Addresses = a.Addresses[3:]
	r = Match(a, a, weighted)
	require.Equal(t, []string{"fd00::1-fd00::1"}, ways(r.Pairs))
	require.Equal(t, []string{"10.1.0.1-10.1.0.1"}, ways(r.Spares()))
	require.True(t, r.Spares()[0].Parallel, "they share the loopback")
	a.Addresses = a.Addresses[:1]
	require.Empty(t, Match(a, a, weighted).Spares())
}

// However many pairs there are within a host, no memory is taken for those that are not spare.
func TestSparesOfAHostOfManyAddresses(t *testing.T) {
	r := Result{Pairs: []Pair{{Local: Address{Prefix: netip.MustParsePrefix("127.0.0.1/8")}, Quality: 100, Loopback: true}}}
	r.Rejected = slices.Repeat(r.Pairs, 1000)
	require.Zero(t, testing.AllocsPerRun(1, func() { r.Spares() }))
}

// Each link has link-local addresses of its own. In a ring of lines each host may have fe80::1 on the one and fe80::2 on the other.
func TestLinkLocalAddressesOfOtherLinks(t *testing.T) {
	a, b := host(1, "right fe80::1/64", "left fe80::2/64"), host(2, "left fe80::2/64", "right fe80::1/64")
	r := Match(a, b, RoutePolicy(nil))
	require.Equal(t, []string{"fe80::1-fe80::2", "fe80::2-fe80::1"}, ways(r.Pairs))
	require.Equal(t, "both hosts have fe80::1", why(t, r, "fe80::1-fe80::1"))
	a, b = host(1, "right 169.254.0.1/16", "left 169.254.0.2/16"), host(2, "left 169.254.0.2/16")
	require.Empty(t, Match(a, b, weighted).Pairs, "those of IPv4 have no zone")
}
