package reach

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// systemAddresses reads the network namespace of the calling thread.
func systemAddresses() ([]Address, error) {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("opening a netlink socket: %w", err)
	}
	defer handle.Close()
	links, err := handle.LinkList()
	if err != nil {
		return nil, fmt.Errorf("listing the network interfaces: %w", err)
	}
	addrs, err := handle.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of the network interfaces: %w", err)
	}
	speeds := newSpeedometer()
	defer speeds.close()
	byIndex := make(map[int]netlink.Link)
	for _, l := range links {
		byIndex[l.Attrs().Index] = l
	}
	var all []Address
	for _, l := range links {
		attrs := l.Attrs()
		if attrs.RawFlags&unix.IFF_UP == 0 {
			continue
		}
		common := Address{
			Interface: attrs.Name, Index: attrs.Index, Device: carrierOf(l, byIndex),
			Speed: speeds.read(attrs.Name), Flags: flagsOf(attrs.RawFlags),
		}
		for _, addr := range addrs {
			if prefix, ok := prefixOf(addr); ok && addr.LinkIndex == attrs.Index {
				a := common
				a.Prefix = prefix
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// prefixOf returns an address that is fit for connections.
func prefixOf(addr netlink.Addr) (netip.Prefix, bool) {
	ip, _ := netip.AddrFromSlice(addr.IP)
	ip = ip.Unmap()
	if !usable(ip) {
		return netip.Prefix{}, false
	}
	// IFA_F_TEMPORARY has the value of IPv4's IFA_F_SECONDARY.
	const unfit = unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED | unix.IFA_F_DEPRECATED | unix.IFA_F_TEMPORARY
	if ip.Is6() && addr.Flags&unfit != 0 {
		return netip.Prefix{}, false
	}
	bits, _ := addr.Mask.Size()
	return netip.PrefixFrom(ip, bits), true
}

func flagsOf(raw uint32) Flags {
	var flags Flags
	// The carrier itself: IFF_RUNNING follows it up to a second later.
	if raw&unix.IFF_LOWER_UP == 0 {
		flags |= NoCarrier
	}
	if raw&unix.IFF_POINTOPOINT != 0 {
		flags |= PointToPoint
	}
	if raw&unix.IFF_LOOPBACK != 0 {
		flags |= Loopback
	}
	return flags
}

// carrierOf returns the index of the interface at the bottom of a stack of
// VLANs and the like, 0 for an interface that stands by itself. A parent in
// another namespace does not count: what it is used for there is not known.
func carrierOf(l netlink.Link, byIndex map[int]netlink.Link) int {
	bottom := 0
	for range byIndex { // a stack is no higher than there are interfaces
		switch l.(type) {
		case *netlink.Vlan, *netlink.Macvlan, *netlink.Macvtap, *netlink.IPVlan:
		default:
			return bottom
		}
		parent, ok := byIndex[l.Attrs().ParentIndex]
		if !ok || l.Attrs().NetNsID >= 0 {
			return bottom
		}
		l, bottom = parent, parent.Attrs().Index
	}
	return bottom
}
