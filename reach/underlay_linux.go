package reach

import (
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// Kinds of interfaces, as the kernel names them, that send through others.
var (
	// stacked ones are one card with what they lie on.
	stacked = kinds("vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "ipoib")
	// tunnels wrap up what they send. The wrapped packets take routes of their own.
	tunnels = kinds("vxlan", "geneve", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan", "ipip", "sit", "ip6tnl",
		"vti", "vti6", "xfrm", "wireguard", "ovpn", "amt", "gtp", "bareudp", "batadv", "ppp", "tun", "tuntap")
	// inner ones, as ports of a bridge, lead to containers and virtual machines.
	inner = kinds("veth", "netkit", "tun", "tuntap", "dummy", "ifb")
)

func kinds(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// A ground knows what the interfaces of a network stand on.
type ground struct {
	links   map[int]netlink.Link
	ports   map[int][]netlink.Link // by index of their bridge
	holders map[netip.Addr]int     // index of the interface that has an address
	route   func(to netip.Addr) int
}

func newGround(links []netlink.Link, addrs []netlink.Addr, route func(netip.Addr) int) *ground {
	g := &ground{make(map[int]netlink.Link), make(map[int][]netlink.Link), make(map[netip.Addr]int), route}
	for _, l := range links {
		g.links[l.Attrs().Index] = l
		if master := l.Attrs().MasterIndex; master != 0 {
			g.ports[master] = append(g.ports[master], l)
		}
	}
	for _, a := range addrs {
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			g.holders[ip.Unmap()] = a.LinkIndex
		}
	}
	return g
}

// carrier returns the index of the interface at the bottom of a stack. It is 0 if l stands
// by itself, or on something that is not known. Flags say whether there is a tunnel in the
// stack, a bridge that is enclosed, or a dummy, which like the loopback device leads nowhere.
func (g *ground) carrier(l netlink.Link) (device int, flags Flags) {
	return g.descend(l, len(g.links)) // a stack is no higher than there are interfaces
}

func (g *ground) descend(l netlink.Link, left int) (device int, flags Flags) {
	kind := l.Type()
	switch {
	case left == 0:
		return 0, 0
	case stacked[kind]:
		if below := g.parent(l); below != nil {
			return g.on(below, left)
		}
	case tunnels[kind]:
		if below := g.links[g.underlay(l)]; below != nil && below.Attrs().Index != l.Attrs().Index {
			device, _ = g.on(below, left)
		}
		return device, Tunnel
	case kind == "dummy":
		return 0, Loopback
	case kind == "bridge":
		return g.bridge(l, left)
	}
	return 0, 0
}

// on is the bottom of what lies on an interface.
func (g *ground) on(below netlink.Link, left int) (device int, flags Flags) {
	device, flags = g.descend(below, left-1)
	if device == 0 && flags&Tunnel == 0 {
		device = below.Attrs().Index
	}
	return device, flags
}

// parent is the interface that l lies on. One in another namespace does not count, as
// nobody here knows what it is used for there.
func (g *ground) parent(l netlink.Link) netlink.Link {
	a := l.Attrs()
	if a.ParentIndex == 0 || a.ParentIndex == a.Index || a.NetNsID >= 0 {
		return nil
	}
	return g.links[a.ParentIndex]
}

// bridge is what carries a bridge's own traffic to other hosts: its one card or, without
// a card, the first tunnel among its ports. A bridge with several cards stands by itself.
// One with neither card nor tunnel is enclosed.
func (g *ground) bridge(l netlink.Link, left int) (device int, flags Flags) {
	var cards, wrapped []netlink.Link
	for _, port := range g.ports[l.Attrs().Index] {
		switch kind := port.Type(); {
		case inner[kind]:
		case tunnels[kind]:
			wrapped = append(wrapped, port)
		default:
			cards = append(cards, port)
		}
	}
	switch {
	case len(cards) > 1:
		return 0, 0
	case len(cards) == 1:
		return g.on(cards[0], left)
	case len(wrapped) > 0:
		return g.on(wrapped[0], left)
	}
	return 0, Enclosed
}

// underlay returns the index of the interface that a tunnel runs over. That is the one
// that it is bound to, or that has its address, or that the route to its other end leaves
// by. It is 0 if none of these is known, as for WireGuard and TUN.
func (g *ground) underlay(l netlink.Link) int {
	if parent := g.parent(l); parent != nil {
		return parent.Attrs().Index
	}
	bound, local, remote := ends(l)
	if bound != 0 && l.Attrs().NetNsID < 0 {
		return bound
	}
	if ip, ok := netip.AddrFromSlice(local); ok {
		if index := g.holders[ip.Unmap()]; index != 0 {
			return index
		}
	}
	ip, ok := netip.AddrFromSlice(remote)
	if ip = ip.Unmap(); !ok || ip.IsUnspecified() || ip.IsMulticast() || l.Attrs().NetNsID >= 0 {
		return 0
	}
	return g.route(ip)
}

// ends returns what a tunnel is bound to and between which addresses it runs, as far
// as it is set up.
func ends(l netlink.Link) (bound int, local, remote net.IP) {
	switch t := l.(type) {
	case *netlink.Vxlan:
		return t.VtepDevIndex, t.SrcAddr, t.Group
	case *netlink.Geneve:
		return 0, nil, t.Remote
	case *netlink.Gretun:
		return int(t.Link), t.Local, t.Remote
	case *netlink.Gretap:
		return int(t.Link), t.Local, t.Remote
	case *netlink.Iptun:
		return int(t.Link), t.Local, t.Remote
	case *netlink.Ip6tnl:
		return int(t.Link), t.Local, t.Remote
	case *netlink.Sittun:
		return int(t.Link), t.Local, t.Remote
	case *netlink.Vti:
		return int(t.Link), t.Local, t.Remote
	}
	return 0, nil, nil
}

// enslaved reports whether an interface is a port of a bridge or a part of a bond. The
// bridge or bond gets what comes in there, so the interface's own addresses hear nothing.
func (g *ground) enslaved(l netlink.Link) bool {
	master, found := g.links[l.Attrs().MasterIndex]
	return found && kinds("bridge", "bond", "team")[master.Type()]
}
