package reach

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// readSystem reads the network namespace of the calling thread: by netlink, or where
// that is forbidden, as in some sandboxes, by older calls that tell less.
func readSystem() (Side, error) {
	side, err := readNetlink()
	if err == nil {
		return side, nil
	}
	side, plain := readPlain()
	if plain != nil {
		return Side{}, fmt.Errorf("%w, and without netlink: %w", err, plain)
	}
	return side, nil
}

func readNetlink() (Side, error) {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return Side{}, fmt.Errorf("opening a netlink socket: %w", err)
	}
	defer handle.Close()
	links, err := again(handle.LinkList)
	if err != nil {
		return Side{}, fmt.Errorf("listing the network interfaces: %w", err)
	}
	addrs, err := again(func() ([]netlink.Addr, error) { return handle.AddrList(nil, netlink.FAMILY_ALL) })
	if err != nil {
		return Side{}, fmt.Errorf("listing the addresses of the network interfaces: %w", err)
	}
	speeds := newSpeedometer()
	defer speeds.close()
	g := newGround(links, addrs, func(to netip.Addr) int {
		routes, err := handle.RouteGet(to.AsSlice())
		if err != nil || len(routes) == 0 {
			return 0
		}
		return routes[0].LinkIndex
	})
	byLink := make(map[int][]netip.Prefix)
	outdated := make(map[int][]netip.Prefix)
	for _, addr := range addrs {
		switch prefix, flags := prefixOf(addr), uint32(addr.Flags); {
		case !usable(prefix.Addr()):
		case ready(prefix.Addr(), flags):
			byLink[addr.LinkIndex] = append(byLink[addr.LinkIndex], prefix)
		case ready(prefix.Addr(), flags&^unix.IFA_F_DEPRECATED):
			outdated[addr.LinkIndex] = append(outdated[addr.LinkIndex], prefix)
		}
	}
	for index, prefixes := range outdated {
		byLink[index] = orOutdated(byLink[index], prefixes)
	}
	var side Side
	for _, l := range links {
		attrs := l.Attrs()
		prefixes := byLink[attrs.Index]
		if attrs.RawFlags&unix.IFF_UP == 0 || len(prefixes) == 0 {
			continue
		}
		if g.enslaved(l) {
			for _, p := range prefixes {
				side.Held = append(side.Held, p.Addr())
			}
			continue
		}
		device, flags := g.carrier(l)
		common := Address{
			Interface: attrs.Name, Index: attrs.Index, Device: device,
			Speed: speeds.read(attrs.Name), Flags: flags | flagsOf(attrs.RawFlags),
		}
		side.add(common, prefixes)
	}
	return side, nil
}

// mostLists is how often a list is asked for that changes in the middle.
const mostLists = 10

// again asks for a list once more if the kernel says that it has changed meanwhile: interfaces come and go where
// containers do, and such a list may lack others too.
func again[T any](list func() ([]T, error)) (all []T, err error) {
	for range mostLists {
		if all, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return all, err
}

func prefixOf(addr netlink.Addr) netip.Prefix {
	ip, _ := netip.AddrFromSlice(addr.IP)
	bits, _ := addr.Mask.Size()
	return netip.PrefixFrom(ip.Unmap(), bits)
}

// orOutdated adds the addresses of an interface that are no longer preferred, if it has no others of IPv6 but link-local ones: those of a
// network whose router is silent for long are so, or those that are given by hand not to be the source of anything. They serve all the same.
func orOutdated(preferred, outdated []netip.Prefix) []netip.Prefix {
	if slices.ContainsFunc(preferred, func(p netip.Prefix) bool { return p.Addr().Is6() && !p.Addr().IsLinkLocalUnicast() }) {
		return preferred
	}
	return append(preferred, outdated...)
}

// ready reports whether connections may be made from an address with these flags.
func ready(ip netip.Addr, flags uint32) bool {
	// IFA_F_TEMPORARY has the value of IPv4's IFA_F_SECONDARY.
	const unfit = unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED | unix.IFA_F_DEPRECATED | unix.IFA_F_TEMPORARY
	return ip.Is4() || flags&unfit == 0
}

func flagsOf(raw uint32) Flags {
	var flags Flags
	// The carrier itself: IFF_RUNNING follows it up to a second later.
	if raw&unix.IFF_LOWER_UP == 0 {
		flags |= NoCarrier
	}
	if raw&unix.IFF_POINTOPOINT != 0 {
		flags |= PointToPoint | Tunnel
	}
	if raw&unix.IFF_LOOPBACK != 0 {
		flags |= Loopback
	}
	return flags
}
