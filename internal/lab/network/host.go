//go:build linux

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/vishvananda/netlink"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/wire"
)

// Interface is the name of each host's first interface but lo; eth1 is that of the second
// network, and so on.
const Interface = "eth0"

// interfaceOf is the name of all hosts' interfaces to one of the networks.
func interfaceOf(network int) string { return fmt.Sprintf("eth%d", network) }

// A Host is one of the network's.
type Host struct {
	number int
	name   string
	space  *netspace.Space
	kernel *netlink.Handle
	cables []cable // the far ends: its own interfaces
	addrs  []netip.Addr
}

// subnetBits are of each network's subnet: 10.66.0.0/16 and those after it.
const subnetBits = 16

// address is that of a host by its number, on a network.
func address(network, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(66 + network), byte((host + 1) >> 8), byte(host + 1)})
}

// Addr is the host's address, the first if it is on several networks; none if it is on none.
func (h *Host) Addr() netip.Addr {
	if len(h.addrs) == 0 {
		return netip.Addr{}
	}
	return h.addrs[0]
}

// AddrOn is the host's address on one of the networks, by its number there.
func (h *Host) AddrOn(network int) (netip.Addr, bool) {
	a := address(network, h.number)
	return a, slices.Contains(h.addrs, a)
}

// Name is what os.Hostname returns on the host.
func (h *Host) Name() string { return h.name }

// Command returns a command that runs on the host: see [netspace.Space.Command].
func (h *Host) Command(program string, args ...string) *netspace.Cmd {
	return h.space.Command(program, args...)
}

// Prefix returns what to put before a command line so that it runs on the host, for
// commands that somebody else starts.
func (h *Host) Prefix(environ ...string) []string { return h.space.Prefix(environ...) }

// Received returns how many frames have come in at the host's first interface, and how
// many bytes those had with their Ethernet headers, as its kernel has counted.
func (h *Host) Received() (frames, bytes uint64, err error) {
	if len(h.cables) == 0 {
		return 0, 0, fmt.Errorf("host %d is on no network", h.number)
	}
	eth, err := h.kernel.LinkByIndex(h.cables[0].index)
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
	if err == nil {
		err = h.space.RaiseLoopback()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("host %d: %w", number, netspace.Explain(err)), h.close())
	}
	return h, nil
}

// withoutIPv6 keeps the kernel from sending what no program asked for. A kernel that has no IPv6
// sends nothing of the kind.
func withoutIPv6(s *netspace.Space) error {
	for _, name := range []string{"all", "default"} {
		err := s.Sysctl("net/ipv6/conf/"+name+"/disable_ipv6", "1")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// configure sets up the interface to a network, once it is there.
func (h *Host) configure(f *fabric, port int, name string) error {
	kernel := h.kernel
	eth, err := kernel.LinkByName(name)
	if err != nil {
		return err
	}
	h.cables = append(h.cables, cable{name, eth.Attrs().Index})
	own := address(f.number, h.number)
	h.addrs = append(h.addrs, own)
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: own.AsSlice(), Mask: net.CIDRMask(subnetBits, 32)}}
	if err := errors.Join(kernel.LinkSetHardwareAddr(eth, wire.HardwareAddr(port)), kernel.AddrAdd(eth, addr)); err != nil {
		return err
	}
	if err := h.space.Quick(func() error { return withoutOffloads(name) }); err != nil {
		return err
	}
	if err := kernel.LinkSetUp(eth); err != nil {
		return err
	}
	for other, host := range f.net.On {
		if other == port {
			continue
		}
		err := kernel.NeighSet(&netlink.Neigh{
			LinkIndex: eth.Attrs().Index, State: netlink.NUD_PERMANENT, IP: address(f.number, host).AsSlice(), HardwareAddr: wire.HardwareAddr(other),
		})
		if err != nil {
			return fmt.Errorf("neighbour %v: %w", address(f.number, host), err)
		}
	}
	return nil
}
