//go:build linux

package testnet

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// A Link is a cable between two hosts.
type Link struct {
	A, B *NIC // of the hosts in the order in which Link was given them
}

// A LinkOption says what a link is like.
type LinkOption func(*linkSpec) error

type linkSpec struct {
	names   [2]string
	addrs   [2][]netip.Prefix
	rate    int
	mtu     int
	packets bool
}

// Subnet gives the ends the first two addresses of a subnet, "10.1.0.0/24" or
// "fd00:1::/64". A link may have several.
func Subnet(subnet string) LinkOption {
	return func(s *linkSpec) error {
		prefix, err := netip.ParsePrefix(subnet)
		if err != nil {
			return err
		}
		addr := prefix.Masked().Addr()
		for i := range s.addrs {
			addr = addr.Next()
			s.addrs[i] = append(s.addrs[i], netip.PrefixFrom(addr, prefix.Bits()))
		}
		return nil
	}
}

// Ends gives each end an address with its subnet, "10.1.0.7/24"; "" gives none.
func Ends(a, b string) LinkOption {
	return func(s *linkSpec) error {
		for i, text := range []string{a, b} {
			if text == "" {
				continue
			}
			prefix, err := netip.ParsePrefix(text)
			if err != nil {
				return err
			}
			s.addrs[i] = append(s.addrs[i], prefix)
		}
		return nil
	}
}

// Rate limits the link to so many Mbit/s in each direction.
func Rate(mbits int) LinkOption {
	return func(s *linkSpec) error { s.rate = mbits; return nil }
}

// MTU is the largest packet, in bytes; 1500 by default.
func MTU(bytes int) LinkOption {
	return func(s *linkSpec) error { s.mtu = bytes; return nil }
}

// Packets has the ends send packets as a wire carries them, none longer than the MTU: filters see each by itself.
func Packets() LinkOption {
	return func(s *linkSpec) error { s.packets = true; return nil }
}

// Names gives the interfaces names instead of eth0, eth1, …
func Names(a, b string) LinkOption {
	return func(s *linkSpec) error { s.names = [2]string{a, b}; return nil }
}

// vethSpeed is what the driver of a veth says of itself, in Mbit/s.
const vethSpeed = 10000

// Link joins two hosts, or a host with itself, by a cable of which both ends are
// up. Without options it has no addresses but IPv6's link-local ones, and no limit
// but the machine's.
func (n *Net) Link(a, b *Host, options ...LinkOption) *Link {
	n.t.Helper()
	s := linkSpec{mtu: 1500}
	for _, option := range options {
		n.must(option(&s))
	}
	l, err := connect(a, b, s)
	n.must(err)
	return l
}

func connect(a, b *Host, s linkSpec) (*Link, error) {
	s.name(a, b)
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: s.names[0], MTU: s.mtu, TxQLen: 1000},
		PeerName:  s.names[1], PeerNamespace: netlink.NsFd(b.ns.Net().Fd()),
		PeerMTU: uint32(s.mtu), PeerTxQLen: -1,
	}
	if err := a.kernel.LinkAdd(veth); err != nil {
		return nil, fmt.Errorf("link %s of %s – %s of %s: %w", s.names[0], a.name, s.names[1], b.name, err)
	}
	l := new(Link)
	for i, end := range []**NIC{&l.A, &l.B} {
		nic, err := s.adopt([]*Host{a, b}[i], i)
		if err != nil {
			return nil, err
		}
		*end = nic
	}
	return l, l.up()
}

// name chooses the names that were not given.
func (s *linkSpec) name(a, b *Host) {
	taken := 0
	for i, h := range []*Host{a, b} {
		if s.names[i] == "" {
			s.names[i] = fmt.Sprintf("eth%d", len(h.nics)+taken)
		}
		if a == b {
			taken++
		}
	}
}

// adopt sets up one end of a new link.
func (s *linkSpec) adopt(h *Host, end int) (*NIC, error) {
	link, err := h.kernel.LinkByName(s.names[end])
	if err != nil {
		return nil, fmt.Errorf("%s on host %s: %w", s.names[end], h.name, err)
	}
	nic := &NIC{host: h, name: s.names[end], index: link.Attrs().Index, speed: vethSpeed}
	h.nics = append(h.nics, nic)
	if s.rate > 0 {
		if err := nic.limit(s.rate); err != nil {
			return nil, err
		}
	}
	if s.packets {
		if err := h.kernel.LinkSetGSOMaxSegs(link, 1); err != nil {
			return nil, nic.explain("packets", err)
		}
	}
	for _, prefix := range s.addrs[end] {
		if err := nic.addAddr(prefix); err != nil {
			return nil, err
		}
	}
	return nic, nil
}

// Down takes both ends down.
func (l *Link) Down() {
	for _, nic := range l.ends() {
		nic.Down()
	}
}

// Up takes both ends up. On return packets flow.
func (l *Link) Up() { l.A.host.net.should(l.up()) }

func (l *Link) up() error {
	for _, nic := range l.ends() {
		if err := nic.up(); err != nil {
			return err
		}
	}
	for _, nic := range l.ends() {
		if err := nic.settle(); err != nil {
			return err
		}
	}
	return nil
}

// Loss loses a share of what comes out at each end, from 0 to 1; see the limits
// of this package. With 1 the hosts are cut off from each other without
// noticing.
func (l *Link) Loss(share float64) {
	for _, nic := range l.ends() {
		nic.Loss(share)
	}
}

func (l *Link) ends() []*NIC { return []*NIC{l.A, l.B} }

// Bridge adds an interface such as docker0: a bridge with an address and a
// container behind it, neither of which any other host can reach.
func (h *Host) Bridge(name, address string) *NIC {
	h.net.t.Helper()
	nic, err := h.bridge(name, address)
	h.net.must(err)
	return nic
}

func (h *Host) bridge(name, address string) (*NIC, error) {
	prefix, err := netip.ParsePrefix(address)
	if err != nil {
		return nil, err
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name, TxQLen: 1000}}
	if err := h.kernel.LinkAdd(bridge); err != nil {
		return nil, fmt.Errorf("bridge %s on host %s: %w", name, h.name, err)
	}
	nic, err := (&linkSpec{names: [2]string{name}, addrs: [2][]netip.Prefix{{prefix}}}).adopt(h, 0)
	if err != nil {
		return nil, err
	}
	container := h.net.Host(h.name + "-" + name)
	port, err := connect(h, container, linkSpec{mtu: 1500, names: [2]string{"veth-" + name, "eth0"}})
	if err != nil {
		return nil, err
	}
	if err := h.kernel.LinkSetMasterByIndex(port.A.link(), nic.index); err != nil {
		return nil, nic.explain("port "+port.A.name, err)
	}
	if err := nic.up(); err != nil {
		return nil, err
	}
	return nic, nic.settle()
}

// Island adds an interface that is up but leads nowhere, such as one to a
// management network that is not the other hosts'. Nobody answers there.
func (h *Host) Island(name, address string) *NIC {
	h.net.t.Helper()
	nowhere := h.net.Host(h.name + "-" + name)
	return h.net.Link(h, nowhere, Names(name, "eth0"), Ends(address, "")).A
}
