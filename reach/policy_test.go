package reach

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPolicyByName(t *testing.T) {
	for _, name := range PolicyNames() {
		assert.Equal(t, name, policy(t, name).Name())
	}
	assert.Contains(t, PolicyNames(), DefaultPolicy)
	_, err := PolicyByName("kernel")
	assert.EqualError(t, err, `there is no reachability policy "kernel"; there are route, weighted, weighted13, subnet`)
}

// Scores by the classes of the addresses, in the order weighted, weighted13,
// subnet.
func TestScoresByClasses(t *testing.T) {
	for _, tc := range []struct {
		name          string
		local, remote string
		want          [3]int
	}{
		{"public, one subnet", "192.0.2.1/24", "192.0.2.2/24", [3]int{100, 4, 1}},
		{"public, different subnets", "192.0.2.1/24", "198.51.100.2/24", [3]int{90, 3, 1}},
		{"10/8, one subnet", "10.0.0.1/8", "10.9.0.2/8", [3]int{80, 2, 1}},
		{"10/8, different subnets", "10.0.0.1/24", "10.9.0.2/24", [3]int{50, 1, 0}},
		{"172.16/12, one subnet", "172.16.0.1/12", "172.31.0.2/12", [3]int{80, 2, 1}},
		{"172.16/12 ends at 172.31", "172.31.0.1/24", "172.32.0.2/24", [3]int{0, 1, 0}},
		{"192.168/16, different subnets", "192.168.1.10/24", "192.168.2.10/24", [3]int{50, 1, 0}},
		{"169.254/16, one subnet", "169.254.1.1/16", "169.254.7.2/16", [3]int{80, 2, 1}},
		{"169.254/16 is private", "169.254.1.1/16", "10.0.0.2/8", [3]int{50, 1, 0}},
		{"private and public", "10.0.0.1/24", "192.0.2.2/24", [3]int{0, 1, 0}},
		{"public and private", "192.0.2.1/24", "10.0.0.2/24", [3]int{0, 1, 0}},
		{"IPv6, one subnet", "2001:db8::1/64", "2001:db8::2/64", [3]int{100, 4, 1}},
		{"IPv6, different subnets", "2001:db8::1/64", "2001:db8:1::2/64", [3]int{90, 3, 1}},
		{"IPv6, unique local counts as global", "fd00::1/64", "2001:db8::2/64", [3]int{90, 3, 1}},
		{"IPv6, both link-local", "fe80::1/64", "fe80::2/64", [3]int{80, 2, 1}},
		{"IPv6, link-local and global", "fe80::1/64", "2001:db8::2/64", [3]int{0, 0, 0}},
		{"IPv6, global and link-local", "2001:db8::1/64", "fe80::2/64", [3]int{0, 0, 0}},
		{"masks of different length, each in the other's", "10.0.0.1/8", "10.0.0.2/24", [3]int{80, 2, 1}},
		{"masks of different length, one outside", "10.9.0.1/8", "10.0.0.2/24", [3]int{50, 1, 0}},
		{"/31 holds two", "10.0.0.2/31", "10.0.0.3/31", [3]int{80, 2, 1}},
		{"/32 holds one", "10.0.0.1/32", "10.0.0.2/32", [3]int{50, 1, 0}},
		{"/32 with a wide one", "10.0.0.1/32", "10.0.0.2/8", [3]int{50, 1, 0}},
		{"/32 with itself", "10.0.0.1/32", "10.0.0.1/32", [3]int{80, 2, 1}},
		{"/128", "2001:db8::1/128", "2001:db8::2/128", [3]int{90, 3, 1}},
		{"/0 is no subnet", "10.0.0.1/0", "10.0.0.2/0", [3]int{50, 1, 0}},
		{"/0 with another", "10.0.0.1/0", "10.0.0.2/24", [3]int{50, 1, 0}},
		{"/0 of public ones", "192.0.2.1/0", "198.51.100.2/0", [3]int{90, 3, 1}},
		{"::/0", "2001:db8::1/0", "2001:db8::2/0", [3]int{90, 3, 1}},
		{"loopback", "127.0.0.1/8", "127.0.0.1/8", [3]int{100, 4, 1}},
	} {
		local := Address{Prefix: netip.MustParsePrefix(tc.local)}
		remote := Address{Prefix: netip.MustParsePrefix(tc.remote)}
		for i, p := range []Policy{weighted, weighted13, subnet} {
			quality, why := p.Score(local, remote, false)
			assert.Equal(t, tc.want[i], quality, "%s: %s", tc.name, p.Name())
			assert.NotEmpty(t, why)
		}
	}
}

func TestRoutePolicy(t *testing.T) {
	eth0 := func(prefix string) Address {
		return Address{Prefix: netip.MustParsePrefix(prefix), Index: 2, Interface: "eth0"}
	}
	tunnel := eth0("10.0.0.1/24")
	tunnel.Flags = PointToPoint
	own := Address{Prefix: netip.MustParsePrefix("10.0.0.1/32"), Index: 1, Interface: "lo", Flags: Loopback}
	gateway := netip.MustParseAddr("10.0.0.254")
	for _, tc := range []struct {
		name          string
		local, remote Address
		same          bool
		route         Route
		err           error
		quality       int
		why           string
	}{
		{"direct", eth0("10.0.0.1/24"), eth0("10.0.0.2/24"), false, Route{Interface: 2}, nil, 100, "direct route"},
		{"an on-link route", eth0("10.0.0.1/24"), eth0("10.1.0.2/24"), false, Route{Interface: 2}, nil, 95, "direct route to another subnet"},
		{"by a gateway", eth0("10.0.0.1/24"), eth0("192.168.1.2/24"), false, Route{Interface: 2, Gateway: gateway}, nil, 50, "by gateway 10.0.0.254"},
		{"by a gateway, though the masks say direct", eth0("10.0.0.1/8"), eth0("10.1.0.2/8"), false, Route{Interface: 2, Gateway: gateway}, nil, 50, "by gateway 10.0.0.254"},
		{"by a gateway to a public address", eth0("10.0.0.1/24"), eth0("192.0.2.2/24"), false, Route{Interface: 2, Gateway: gateway}, nil,
			25, "by gateway 10.0.0.254, a private and a public address"},
		{"carriers' translators are private", eth0("10.0.0.1/24"), eth0("100.64.0.2/24"), false, Route{Interface: 2, Gateway: gateway}, nil, 50, "by gateway 10.0.0.254"},
		{"unique local and global", eth0("fd00::1/64"), eth0("2001:db8::2/64"), false, Route{Interface: 2, Gateway: netip.MustParseAddr("fe80::9")}, nil,
			25, "by gateway fe80::9, a private and a public address"},
		{"through a tunnel", tunnel, eth0("10.1.0.2/24"), false, Route{Interface: 2}, nil, 50, "through a point-to-point link"},
		{"to the end of a tunnel", tunnel, eth0("10.0.0.2/24"), false, Route{Interface: 2}, nil, 100, "direct route"},
		{"another interface", eth0("10.0.0.1/24"), eth0("10.0.0.2/24"), false, Route{Interface: 3, Name: "eth1"}, nil, 0, "the kernel sends it out by eth1, not by eth0"},
		{"one of several next hops", eth0("10.0.0.1/24"), eth0("192.168.1.2/24"), false, Route{Interface: 3, Gateway: gateway, Hops: []int{2, 3}}, nil, 50, "by gateway 10.0.0.254"},
		{"none of several next hops", eth0("10.0.0.1/24"), eth0("192.168.1.2/24"), false, Route{Interface: 3, Name: "eth1", Gateway: gateway, Hops: []int{3, 4}}, nil,
			0, "the kernel sends it out by eth1, not by eth0"},
		{"an unknown one", eth0("10.0.0.1/24"), eth0("10.0.0.2/24"), false, Route{Interface: 3}, nil, 0, "the kernel sends it out by interface 3, not by eth0"},
		{"the host's own address goes by any interface", own, eth0("10.0.0.2/32"), false, Route{Interface: 2, Gateway: gateway}, nil, 50, "by gateway 10.0.0.254"},
		{"the host's own address on the link", own, eth0("10.0.0.2/32"), false, Route{Interface: 2}, nil, 95, "direct route to another subnet"},
		{"no route", eth0("10.0.0.1/24"), eth0("10.9.0.2/24"), false, Route{}, ErrNoRoute, 0, "the kernel has no route"},
		{"our own address", eth0("10.0.0.1/24"), eth0("10.0.0.2/24"), false, Route{Interface: 1, Local: true}, nil, 0, "this host holds the address itself"},
		{"our own address, the peer here", eth0("10.0.0.1/24"), eth0("10.0.0.2/24"), true, Route{Interface: 1, Local: true}, nil, 100, "an address of this host"},
		{"no answer", eth0("10.0.0.1/24"), eth0("10.0.0.2/24"), false, Route{}, errors.New("operation not permitted"),
			100, "private, one subnet (routes can not be read: operation not permitted)"},
		{"no answer, public", eth0("192.0.2.1/24"), eth0("192.0.2.2/24"), false, Route{}, errors.New("operation not permitted"),
			90, "public, one subnet (routes can not be read: operation not permitted)"},
		{"public", eth0("192.0.2.1/24"), eth0("192.0.2.2/24"), false, Route{Interface: 2}, nil, 90, "direct route"},
		{"public, an on-link route", eth0("192.0.2.1/32"), eth0("198.51.100.2/32"), false, Route{Interface: 2}, nil, 85, "direct route to another subnet"},
		{"public by a gateway", eth0("192.0.2.1/24"), eth0("198.51.100.2/24"), false, Route{Interface: 2, Gateway: gateway}, nil, 45, "by gateway 10.0.0.254"},
		{"loopback needs no lookup", eth0("127.0.0.1/8"), eth0("127.0.0.1/8"), true, Route{}, ErrNoRoute, 100, "loopback"},
		{"nor does link-local", eth0("fe80::1/64"), eth0("fe80::2/64"), false, Route{}, ErrNoRoute, 60, "direct, link-local"},
		{"link-local and global", eth0("fe80::1/64"), eth0("2001:db8::2/64"), false, Route{Interface: 2}, nil, 0, "a link-local and a global address"},
	} {
		p := RoutePolicy(func(from, to netip.Addr) (Route, error) {
			require.Equal(t, tc.local.Addr(), from)
			require.Equal(t, tc.remote.Addr(), to)
			return tc.route, tc.err
		})
		quality, why := p.Score(tc.local, tc.remote, tc.same)
		assert.Equal(t, tc.quality, quality, tc.name)
		assert.Equal(t, tc.why, why, tc.name)
	}
}
