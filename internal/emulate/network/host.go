//go:build linux

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"

	"github.com/strandmp/strand/internal/emulate/wire"
	"github.com/strandmp/strand/internal/netspace"
)

// Interface is the name of each host's only interface but lo.
const Interface = "eth0"

// A Host is one of the network's.
type Host struct {
	number int
	name   string
	space  *netspace.Space
	kernel *netlink.Handle
	index  int // of its interface
}

// subnet has all hosts' addresses.
var subnet = netip.MustParsePrefix("10.66.0.0/16")

// address is that of a host by its number.
func address(host int) netip.Addr {
	base := subnet.Addr().As4()
	return netip.AddrFrom4([4]byte{base[0], base[1], byte((host + 1) >> 8), byte(host + 1)})
}

// Addr is the host's address.
func (h *Host) Addr() netip.Addr { return address(h.number) }

// Name is what os.Hostname returns on the host.
func (h *Host) Name() string { return h.name }

// Command returns a command that runs on the host: see [netspace.Space.Command].
func (h *Host) Command(program string, args ...string) *netspace.Cmd {
	return h.space.Command(program, args...)
}

// Prefix returns what to put before a command line so that it runs on the host, for
// commands that somebody else starts.
func (h *Host) Prefix(environ ...string) []string { return h.space.Prefix(environ...) }

// Received returns how many frames have come in at the host's interface, and how
// many bytes those had with their Ethernet headers, as its kernel has counted.
func (h *Host) Received() (frames, bytes uint64, err error) {
	eth, err := h.kernel.LinkByIndex(h.index)
	if err != nil {
		return 0, 0, fmt.Errorf("host %d: %s: %w", h.number, Interface, err)
	}
	s := eth.Attrs().Statistics
	if s == nil {
		return 0, 0, fmt.Errorf("host %d: the kernel does not count what comes in at %s", h.number, Interface)
	}
	return s.RxPackets, s.RxBytes, nil
}

// Do calls f on a thread that is on the host. Goroutines that f starts are not,
// but sockets that f makes stay there.
func (h *Host) Do(f func() error) error { return h.space.Do(f) }

func newHost(number int, name string) (*Host, error) {
	h := &Host{number: number, name: name}
	var err error
	if h.space, err = netspace.New(h.Name()); err != nil {
		return nil, fmt.Errorf("host %d: %w", number, netspace.Explain(err))
	}
	h.kernel, err = h.space.Netlink()
	if err == nil {
		err = withoutIPv6(h.space)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("host %d: %w", number, netspace.Explain(err)), h.close())
	}
	return h, nil
}

// withoutIPv6 keeps the kernel from speaking without being asked. A kernel that
// has no IPv6 does not.
func withoutIPv6(s *netspace.Space) error {
	for _, name := range []string{"all", "default"} {
		err := s.Sysctl("net/ipv6/conf/"+name+"/disable_ipv6", "1")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// configure sets up the interfaces, once eth0 is there.
func (h *Host) configure(hosts int) error {
	kernel := h.kernel
	eth, err := kernel.LinkByName(Interface)
	if err != nil {
		return err
	}
	lo, err := kernel.LinkByName("lo")
	if err != nil {
		return err
	}
	h.index = eth.Attrs().Index
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: h.Addr().AsSlice(), Mask: net.CIDRMask(subnet.Bits(), 32)}}
	if err := errors.Join(kernel.LinkSetHardwareAddr(eth, wire.HardwareAddr(h.number)), kernel.AddrAdd(eth, addr), kernel.LinkSetUp(lo)); err != nil {
		return err
	}
	if err := h.space.Quick(func() error { return withoutOffloads(Interface) }); err != nil {
		return err
	}
	if err := kernel.LinkSetUp(eth); err != nil {
		return err
	}
	for other := range hosts {
		if other == h.number {
			continue
		}
		err := kernel.NeighSet(&netlink.Neigh{
			LinkIndex: h.index, State: netlink.NUD_PERMANENT, IP: address(other).AsSlice(), HardwareAddr: wire.HardwareAddr(other),
		})
		if err != nil {
			return fmt.Errorf("neighbour %v: %w", address(other), err)
		}
	}
	return nil
}
