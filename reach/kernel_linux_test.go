package reach

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// inNamespace calls f on a thread in a network namespace of its own, which ends
// with the thread.
func inNamespace(t testing.TB, f func() error) {
	t.Helper()
	need.Root(t)
	forbidden, failed := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		forbidden <- err
		if err == nil {
			failed <- f()
		}
	}()
	err := <-forbidden
	need.That(t, err == nil, "needs the right to make network namespaces: %v", err)
	require.NoError(t, <-failed)
}

// A link is an interface to make, with its addresses.
type link struct {
	netlink.Link
	addresses []string
}

func named(name string) netlink.LinkAttrs {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	return attrs
}

// build makes interfaces and brings them up.
func build(links []link) error {
	for _, l := range links {
		if l.Type() != "device" {
			if v, ok := l.Link.(*netlink.Macvlan); ok {
				parent, err := netlink.LinkByName("eth0")
				if err != nil {
					return err
				}
				v.ParentIndex = parent.Attrs().Index
			}
			if err := netlink.LinkAdd(l.Link); err != nil {
				return fmt.Errorf("%s: %w", l.Attrs().Name, err)
			}
		}
		made, err := netlink.LinkByName(l.Attrs().Name)
		if err != nil {
			return err
		}
		for _, text := range l.addresses {
			addr, err := netlink.ParseAddr(text)
			if err != nil {
				return err
			}
			addr.Flags = unix.IFA_F_NODAD
			if err := netlink.AddrAdd(made, addr); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		if err := netlink.LinkSetUp(made); err != nil {
			return err
		}
	}
	return nil
}

// aHost has two cards, an interface on top of one, one without a carrier and one
// that is down, and routes by a gateway and to nowhere.
func aHost() error {
	err := build([]link{
		{&netlink.Device{LinkAttrs: named("lo")}, nil},
		{&netlink.Veth{LinkAttrs: named("eth0"), PeerName: "far0"}, []string{"10.0.0.1/24", "10.0.0.11/24", "fd00:1::1/64"}},
		{&netlink.Device{LinkAttrs: named("far0")}, nil},
		{&netlink.Veth{LinkAttrs: named("eth1"), PeerName: "far1"}, []string{"10.255.1.1/24"}},
		{&netlink.Device{LinkAttrs: named("far1")}, nil},
		{&netlink.Macvlan{LinkAttrs: named("mac0"), Mode: netlink.MACVLAN_MODE_BRIDGE}, []string{"10.10.0.1/24"}},
		{&netlink.Veth{LinkAttrs: named("docker0"), PeerName: "port0"}, []string{"172.17.0.1/16"}},
	})
	if err != nil {
		return err
	}
	down := &netlink.Veth{LinkAttrs: named("down0"), PeerName: "down1"}
	if err := netlink.LinkAdd(down); err != nil {
		return err
	}
	addr, err := netlink.ParseAddr("10.77.0.1/24")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(down, addr); err != nil {
		return err
	}
	for _, r := range []struct {
		destination string
		route       netlink.Route
	}{
		{"10.50.0.0/16", netlink.Route{Gw: netip.MustParseAddr("10.0.0.254").AsSlice()}},
		{"fd00:50::/64", netlink.Route{Gw: netip.MustParseAddr("fd00:1::254").AsSlice()}},
		{"10.66.0.0/16", netlink.Route{Type: unix.RTN_UNREACHABLE}},
		{"10.67.0.0/16", netlink.Route{Type: unix.RTN_BLACKHOLE}},
		{"10.68.0.0/16", netlink.Route{Type: unix.RTN_PROHIBIT}},
	} {
		if r.route.Dst, err = netlink.ParseIPNet(r.destination); err != nil {
			return err
		}
		if err := netlink.RouteAdd(&r.route); err != nil {
			return fmt.Errorf("route to %s: %w", r.destination, err)
		}
	}
	return nil
}

func TestSystemInANamespace(t *testing.T) {
	var s Side
	inNamespace(t, func() error {
		if err := aHost(); err != nil {
			return err
		}
		var err error
		s, err = System()
		return err
	})
	assert.False(t, s.Network.Same(ThisNetwork()), "a namespace is a network of its own")
	assert.NotZero(t, s.Network)
	found := make(map[string]Address)
	indices := make(map[string]int)
	for _, a := range s.Addresses {
		found[a.Prefix.String()] = a
		indices[a.Interface] = a.Index
	}
	for prefix, want := range map[string]Address{
		"127.0.0.1/8":   {Interface: "lo", Flags: Loopback},
		"::1/128":       {Interface: "lo", Flags: Loopback},
		"10.0.0.1/24":   {Interface: "eth0", Speed: 10000},
		"10.0.0.11/24":  {Interface: "eth0", Speed: 10000},
		"fd00:1::1/64":  {Interface: "eth0", Speed: 10000},
		"10.10.0.1/24":  {Interface: "mac0", Speed: 10000, Device: indices["eth0"]},
		"10.255.1.1/24": {Interface: "eth1", Speed: 10000},
		"172.17.0.1/16": {Interface: "docker0", Flags: NoCarrier, Speed: found["172.17.0.1/16"].Speed},
	} {
		want.Prefix, want.Index = netip.MustParsePrefix(prefix), indices[want.Interface]
		assert.Equal(t, want, found[prefix])
	}
	assert.NotContains(t, found, "10.77.0.1/24", "the interface is down")
}

// Without netlink the same addresses are found, with what can be told of them.
func TestSystemWithoutNetlink(t *testing.T) {
	var plain, full Side
	inNamespace(t, func() error {
		if err := aHost(); err != nil {
			return err
		}
		if err := build([]link{{&netlink.Vxlan{LinkAttrs: named("vx0"), VxlanId: 1, Port: 8472}, []string{"10.20.0.1/24"}}}); err != nil {
			return err
		}
		for range 1000 { // the carrier's flags change on their own for a moment
			var err1, err2 error
			full, err1 = readNetlink()
			plain, err2 = readPlain()
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			for i := range full.Addresses {
				full.Addresses[i].Device = 0 // which only netlink tells
			}
			if reflect.DeepEqual(byPrefix(full), byPrefix(plain)) {
				return nil
			}
		}
		return nil
	})
	require.Greater(t, len(full.Addresses), 8)
	assert.Equal(t, byPrefix(full), byPrefix(plain))
	assert.Equal(t, Tunnel, byPrefix(plain)["10.20.0.1/24"].Flags&Tunnel)
}

// A list that was interrupted, since an interface came or went, is asked for again, but not for ever.
func TestInterruptedListsAreAskedForAgain(t *testing.T) {
	asked := 0
	interrupted := func(times int) func() ([]int, error) {
		asked = 0
		return func() ([]int, error) {
			if asked++; asked <= times {
				return []int{1}, fmt.Errorf("a list: %w", netlink.ErrDumpInterrupted)
			}
			return []int{1, 2}, nil
		}
	}
	all, err := again(interrupted(3))
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, all)
	require.Equal(t, 4, asked)

	_, err = again(interrupted(1000))
	require.ErrorIs(t, err, netlink.ErrDumpInterrupted)
	require.Equal(t, mostLists, asked)

	_, err = again(func() ([]int, error) { asked++; return nil, unix.EPERM })
	require.ErrorIs(t, err, unix.EPERM)
	require.Equal(t, mostLists+1, asked)
}

// byPrefix is for comparing.
func byPrefix(s Side) map[string]Address {
	found := make(map[string]Address)
	for _, a := range s.Addresses {
		if !a.Addr().IsLinkLocalUnicast() {
			found[a.Prefix.String()] = a
		}
	}
	return found
}

// The kernel's routes decide.
func TestMatchByTheKernelsRoutes(t *testing.T) {
	remote := host(99, "eth0 10.0.0.2/24 10000", "eth0 fd00:1::2/64 10000", "mgmt 10.255.2.2/24 1000", "docker0 172.17.0.1/16",
		"far 10.50.0.2/16 100", "far fd00:50::2/64 100", "nowhere 10.66.0.2/16", "hole 10.67.0.2/16", "forbidden 10.68.0.2/16", "public 198.51.100.2/24", "wide 10.0.0.255/16 100")
	var r Result
	inNamespace(t, func() error {
		if err := aHost(); err != nil {
			return err
		}
		s, err := System()
		if err == nil {
			r = Match(s, remote, RoutePolicy(nil))
		}
		return err
	})
	assert.Equal(t, []string{"10.0.0.1-10.0.0.2"}, ways(r.Pairs), r.Table())
	for way, want := range map[string]string{
		"10.0.0.11-10.0.0.2":    "direct route, but the same two interfaces are joined by 10.0.0.1 (eth0) → 10.0.0.2 (eth0)",
		"fd00:1::1-fd00:1::2":   "direct route, but the same two interfaces are joined by 10.0.0.1 (eth0) → 10.0.0.2 (eth0)",
		"10.0.0.1-10.50.0.2":    "by gateway 10.0.0.254, but eth0 here is worth more in 10.0.0.1 (eth0) → 10.0.0.2 (eth0)",
		"fd00:1::1-fd00:50::2":  "by gateway fd00:1::254, but eth0 here is worth more in 10.0.0.1 (eth0) → 10.0.0.2 (eth0)",
		"10.255.1.1-10.255.2.2": "the kernel has no route",
		"10.255.1.1-10.0.0.2":   "the kernel sends it out by eth0, not by eth1",
		"10.10.0.1-10.0.0.2":    "the kernel sends it out by eth0, not by mac0",
		"10.0.0.1-10.66.0.2":    "the kernel has no route",
		"10.0.0.1-10.67.0.2":    "the kernel has no route",
		"10.0.0.1-10.68.0.2":    "the kernel has no route",
		"10.0.0.1-198.51.100.2": "the kernel has no route",
		"10.0.0.1-10.0.0.255":   "the kernel takes it for the address of all of a subnet: the hosts state subnets of different sizes",
		"172.17.0.1-10.0.0.2":   "docker0 here has no carrier",
		"10.0.0.1-172.17.0.1":   "this host holds 172.17.0.1 (docker0) too: it would talk to itself",
	} {
		assert.Equal(t, want, why(t, r, way), way)
	}
}

// Where a route has several next hops the kernel chooses one for each flow, by a hash. So an address of any of their interfaces serves. Of two
// cards neither served towards every fourth destination. Linux from 6.16 on prefers the next hop whose card has the source as its first address.
func TestRouteOfSeveralNextHops(t *testing.T) {
	var r Result
	var far []string
	for i := range 64 {
		far = append(far, fmt.Sprintf("eth%d 10.70.0.%d/16", i, i+1), fmt.Sprintf("eth%d fd00:70::%x/64", i, i+1))
	}
	inNamespace(t, func() error {
		if err := aHost(); err != nil {
			return err
		}
		if err := build([]link{
			{&netlink.Veth{LinkAttrs: named("eth2"), PeerName: "far2"}, []string{"10.3.0.1/24", "10.3.0.11/24", "fd00:3::1/64", "fd00:3::11/64"}},
			{&netlink.Device{LinkAttrs: named("far2")}, nil},
		}); err != nil {
			return err
		}
		for destination, gateways := range map[string][2]string{"10.70.0.0/16": {"10.0.0.254", "10.3.0.254"}, "fd00:70::/64": {"fd00:1::254", "fd00:3::254"}} {
			route := netlink.Route{}
			var err error
			if route.Dst, err = netlink.ParseIPNet(destination); err != nil {
				return err
			}
			for i, gateway := range gateways {
				l, err := netlink.LinkByName([]string{"eth0", "eth2"}[i])
				if err != nil {
					return err
				}
				route.MultiPath = append(route.MultiPath, &netlink.NexthopInfo{LinkIndex: l.Attrs().Index, Gw: netip.MustParseAddr(gateway).AsSlice()})
			}
			if err := netlink.RouteAdd(&route); err != nil {
				return fmt.Errorf("route to %s: %w", destination, err)
			}
		}
		s, err := System()
		if err == nil {
			r = Match(s, host(99, far...), RoutePolicy(nil))
		}
		return err
	})
	counted := 0
	for _, p := range append(r.Pairs, r.Rejected...) {
		switch p.Local.Addr().String() {
		case "10.0.0.1", "10.0.0.11", "10.3.0.1", "10.3.0.11", "fd00:1::1", "fd00:3::1", "fd00:3::11":
			if p.Remote.Addr().Is4() == p.Local.Addr().Is4() {
				assert.Equal(t, gatewayPrivate, p.Quality, "%v: %s", p, p.Why)
				counted++
			}
		case "10.255.1.1":
			assert.Zero(t, p.Quality, "%v: %s", p, p.Why)
		}
	}
	assert.Equal(t, 7*64, counted)
}

// So it is with next hops that are links, without a gateway, as tunnels are.
func TestRouteOfSeveralLinks(t *testing.T) {
	var r Result
	var far []string
	for i := range 64 {
		far = append(far, fmt.Sprintf("eth%d 10.70.0.%d/16", i, i+1))
	}
	inNamespace(t, func() error {
		if err := build([]link{
			{&netlink.Veth{LinkAttrs: named("eth0"), PeerName: "far0"}, []string{"10.0.0.1/24", "10.0.0.11/24"}},
			{&netlink.Device{LinkAttrs: named("far0")}, nil},
			{&netlink.Veth{LinkAttrs: named("eth1"), PeerName: "far1"}, []string{"10.3.0.1/24", "10.3.0.11/24"}},
			{&netlink.Device{LinkAttrs: named("far1")}, nil},
		}); err != nil {
			return err
		}
		to, err := netlink.ParseIPNet("10.70.0.0/16")
		if err != nil {
			return err
		}
		route := netlink.Route{Dst: to, Scope: netlink.SCOPE_LINK}
		for _, name := range []string{"eth0", "eth1"} {
			l, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			route.MultiPath = append(route.MultiPath, &netlink.NexthopInfo{LinkIndex: l.Attrs().Index})
		}
		if err := netlink.RouteAdd(&route); err != nil {
			return err
		}
		s, err := System()
		if err == nil {
			r = Match(s, host(99, far...), RoutePolicy(nil))
		}
		return err
	})
	counted := 0
	for _, p := range append(r.Pairs, r.Rejected...) {
		if p.Local.Interface != "lo" && p.Local.Addr().Is4() {
			assert.Equal(t, directOnLink, p.Quality, "%v: %s", p, p.Why)
			counted++
		}
	}
	assert.Equal(t, 4*64, counted)
}

// An interface on top of others sends by the lowest of them.
func TestCarrier(t *testing.T) {
	at := func(index, parent, namespace int) netlink.LinkAttrs {
		return netlink.LinkAttrs{Index: index, ParentIndex: parent, NetNsID: namespace}
	}
	port := func(index, bridge int) netlink.LinkAttrs {
		return netlink.LinkAttrs{Index: index, MasterIndex: bridge, NetNsID: -1}
	}
	inside, far := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.9.0.2")
	links := []netlink.Link{
		&netlink.Device{LinkAttrs: at(2, 0, -1)},
		&netlink.Vlan{LinkAttrs: at(3, 2, -1)},
		&netlink.Macvlan{LinkAttrs: at(4, 3, -1)},
		&netlink.Vlan{LinkAttrs: at(5, 2, 0)},  // its parent is in another namespace
		&netlink.Veth{LinkAttrs: at(6, 2, -1)}, // the other end is no parent
		&netlink.IPVlan{LinkAttrs: at(7, 99, -1)},
		&netlink.Vlan{LinkAttrs: at(8, 9, -1)}, // the kernel allows no ring
		&netlink.Vlan{LinkAttrs: at(9, 8, -1)},
		&netlink.GenericLink{LinkAttrs: at(10, 2, -1), LinkType: "macsec"},
		// Tunnels.
		&netlink.Vxlan{LinkAttrs: at(20, 0, -1), VtepDevIndex: 3},
		&netlink.Vxlan{LinkAttrs: at(21, 0, -1), SrcAddr: inside.AsSlice()},
		&netlink.Gretun{LinkAttrs: at(22, 0, -1), Remote: far.AsSlice()},
		&netlink.Iptun{LinkAttrs: at(23, 2, -1)},
		&netlink.Wireguard{LinkAttrs: at(24, 0, -1)},
		&netlink.Tuntap{LinkAttrs: at(25, 0, -1)},
		&netlink.Vxlan{LinkAttrs: at(26, 0, -1), VtepDevIndex: 24}, // in a tunnel
		&netlink.Vlan{LinkAttrs: at(27, 25, -1)},
		&netlink.Vxlan{LinkAttrs: at(28, 0, -1), Group: net.IPv4(239, 0, 0, 1)},
		&netlink.Gretun{LinkAttrs: at(29, 0, 3), Remote: far.AsSlice()}, // made in another namespace
		// Bridges.
		&netlink.Bridge{LinkAttrs: at(40, 0, -1)}, &netlink.Veth{LinkAttrs: port(41, 40)}, &netlink.Tuntap{LinkAttrs: port(42, 40)},
		&netlink.Bridge{LinkAttrs: at(50, 0, -1)}, &netlink.Veth{LinkAttrs: port(51, 50)}, &netlink.Device{LinkAttrs: port(52, 50)},
		&netlink.Bridge{LinkAttrs: at(60, 0, -1)}, &netlink.Device{LinkAttrs: port(61, 60)}, &netlink.Device{LinkAttrs: port(62, 60)},
		&netlink.Bridge{LinkAttrs: at(70, 0, -1)},
		&netlink.Vxlan{LinkAttrs: netlink.LinkAttrs{Index: 71, MasterIndex: 70, NetNsID: -1}, VtepDevIndex: 2},
		&netlink.Bridge{LinkAttrs: at(80, 0, -1)},
		&netlink.Vlan{LinkAttrs: at(81, 50, -1)},
		// An address of the host's own.
		&netlink.Dummy{LinkAttrs: at(90, 0, -1)},
	}
	held := []netlink.Addr{{LinkIndex: 3, IPNet: &net.IPNet{IP: inside.AsSlice()}}}
	g := newGround(links, held, func(to netip.Addr) int {
		require.Equal(t, far, to)
		return 4
	})
	for index, want := range map[int]struct {
		device int
		flags  Flags
	}{
		2: {}, 3: {2, 0}, 4: {2, 0}, 5: {}, 6: {}, 7: {}, 10: {2, 0},
		20: {2, Tunnel}, 21: {2, Tunnel}, 22: {2, Tunnel}, 23: {2, Tunnel}, 24: {0, Tunnel}, 25: {0, Tunnel}, 26: {0, Tunnel}, 27: {0, Tunnel},
		28: {0, Tunnel}, 29: {0, Tunnel},
		40: {0, Enclosed}, 50: {52, 0}, 60: {}, 70: {2, Tunnel}, 80: {0, Enclosed}, 81: {52, 0}, 90: {0, Loopback},
	} {
		device, flags := g.carrier(g.links[index])
		assert.Equal(t, want.device, device, "interface %d", index)
		assert.Equal(t, want.flags, flags, "interface %d", index)
	}
	device, _ := g.carrier(g.links[8])
	assert.Contains(t, []int{8, 9}, device)
	assert.True(t, g.enslaved(g.links[41]))
	assert.False(t, g.enslaved(g.links[40]))
}

func BenchmarkKernelLookup(b *testing.B) {
	s, err := System()
	require.NoError(b, err)
	lookup, done := kernelLookup()
	defer done()
	to := netip.MustParseAddr("127.0.0.2")
	for _, a := range s.Addresses {
		if a.Addr().Is4() {
			for b.Loop() {
				if _, err := lookup(a.Addr(), to); err != nil {
					b.Fatal(err)
				}
			}
			return
		}
	}
	b.Fatal("no IPv4 address")
}

// Where nobody may ask for interfaces that is an error. It looked as if none were up, since /proc tells the addresses of IPv6.
func TestSystemThatMayNotBeAskedFor(t *testing.T) {
	var err error
	require.NoError(t, netspace.OnThread(func() error {
		if err := testnet.ForbidInterfaces(false); err != nil {
			return err
		}
		_, err = readSystem()
		return nil
	}))
	require.ErrorIs(t, err, unix.EPERM)
}

// Addresses of IPv6 that are no longer preferred serve where the interface has no better ones: those of a network whose router has
// been silent for long are so.
func TestAddressesThatAreNoLongerPreferred(t *testing.T) {
	inNamespace(t, func() error {
		err := build([]link{
			{&netlink.Veth{LinkAttrs: named("old0"), PeerName: "new0"}, []string{"10.0.0.1/24"}},
			{&netlink.Device{LinkAttrs: named("new0")}, []string{"fd00:2::1/64"}},
		})
		if err != nil {
			return err
		}
		for name, text := range map[string]string{"old0": "fd00:1::9/64", "new0": "fd00:2::9/64"} {
			made, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			addr, err := netlink.ParseAddr(text)
			if err != nil {
				return err
			}
			addr.Flags, addr.ValidLft = unix.IFA_F_NODAD, 3600 // preferred for no time
			if err := netlink.AddrAdd(made, addr); err != nil {
				return err
			}
		}
		side, err := System()
		var found []string
		for _, a := range side.Addresses {
			if !a.Addr().IsLinkLocalUnicast() {
				found = append(found, a.String())
			}
		}
		assert.ElementsMatch(t, []string{"10.0.0.1 (old0)", "fd00:1::9 (old0)", "fd00:2::1 (new0)"}, found)
		return err
	})
}
