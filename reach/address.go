package reach

import (
	"fmt"
	"net/netip"
	"strings"
)

// An Address is one address of one network interface.
type Address struct {
	Prefix    netip.Prefix // the address itself with the length of its subnet's prefix; without zone
	Interface string       // the interface's name
	Index     int          // the kernel's number of the interface: addresses of one index share one NIC
	Device    int          // index of the interface that this one sends through, such as a VLAN's parent or what a tunnel runs over; 0: none, or not known
	Speed     int          // Mbit/s, 0 if not known
	Flags     Flags
}

// Flags say which unusual kinds an interface is of.
type Flags uint8

// Kinds of interfaces. Each flag marks an unusual kind: the flags of a peer's interface are
// seldom known, and are 0 then.
const (
	NoCarrier    Flags = 1 << iota // up, but its cable leads nowhere at present
	PointToPoint                   // a tunnel or a serial line: exactly one other end
	Loopback                       // the kernel's loopback device, or a dummy
	Tunnel                         // what it sends travels, wrapped up, through another interface: VXLAN, GRE, WireGuard, TUN
	Enclosed                       // a bridge with no card in it, as docker0: it leads to what runs on this machine only

	allFlags = NoCarrier | PointToPoint | Loopback | Tunnel | Enclosed
)

// Valid reports whether the flags are among those that there are.
func (f Flags) Valid() bool { return f&^allFlags == 0 }

// String lists the flags: "no carrier, loopback".
func (f Flags) String() string {
	var words []string
	for i, word := range []string{"no carrier", "point to point", "loopback", "tunnel", "bridge without a card"} {
		if f&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// Addr is the address without its subnet.
func (a Address) Addr() netip.Addr { return a.Prefix.Addr() }

// String returns "10.8.47.1 (eth0)".
func (a Address) String() string {
	if a.Interface == "" {
		return a.Addr().String()
	}
	return fmt.Sprintf("%s (%s)", a.Addr(), a.Interface)
}

// ofHost reports whether the address is one more on the loopback interface, or on a dummy: the host's own rather than a card's. Hosts
// that take part in routing have such, and perhaps no other. Any card may carry it.
func (a Address) ofHost() bool { return a.Flags&Loopback != 0 && !a.Addr().IsLoopback() }

// A card is the interface that carries an address's traffic in the end. A choice uses each card
// once.
type card struct {
	index int
	name  string // only where the index is not known
}

func (a Address) card() card {
	switch {
	case a.Device != 0:
		return card{index: a.Device}
	case a.Flags&Tunnel != 0:
		return card{name: unknownUnderlay} // it may be the same for all such tunnels
	case a.Index != 0:
		return card{index: a.Index}
	}
	return card{name: a.Interface}
}

// unknownUnderlay is the card of all tunnels whose underlay is not known.
const unknownUnderlay = "what a tunnel runs over"

// A Network is the identity of a network stack: a running kernel and a network
// namespace in it. Within one, a loopback address leads to the same process for
// everybody. Containers on one machine differ. The zero value stands for a network that is not
// known.
type Network [16]byte

// Same reports whether both are known and are the same network.
func (n Network) Same(other Network) bool { return n == other && n.Known() }

// Differs reports whether both are known and are not the same network. If neither Same
// nor Differs is true, only an attempt to connect can tell.
func (n Network) Differs(other Network) bool { return n != other && n.Known() && other.Known() }

// Known reports whether the identity could be read.
func (n Network) Known() bool { return n != Network{} }

// A Side is what one process knows of its own host, or publishes of it.
type Side struct {
	Network   Network
	Addresses []Address
	// Held are further addresses of this host that it does not offer, such as those that the
	// user excluded. A peer on another network may have the same ones (docker0 is 172.17.0.1
	// everywhere). [Match] never joins to them: the connection would end on this host.
	Held []netip.Addr
}

// holds returns the name of the side's interface that has the address, if one has. Link-local addresses of IPv6 it does not know: each
// link has its own.
func (s Side) holds(ip netip.Addr) (name string, ok bool) {
	if ofLink(ip) {
		return "", false
	}
	for _, a := range s.Addresses {
		if a.Addr() == ip {
			return a.Interface, true
		}
	}
	for _, h := range s.Held {
		if h == ip {
			return "an interface left out", true
		}
	}
	return "", false
}

// ofLink reports whether an address says nothing without the link that it is on.
func ofLink(ip netip.Addr) bool { return ip.Is6() && ip.IsLinkLocalUnicast() }

// sameSubnet reports whether each address lies in the other's subnet, as it does
// in its own. A prefix of length 0 states no subnet.
func sameSubnet(a, b netip.Prefix) bool {
	if a.Addr() == b.Addr() {
		return true
	}
	return a.Bits() > 0 && b.Bits() > 0 && a.Contains(b.Addr()) && b.Contains(a.Addr())
}
