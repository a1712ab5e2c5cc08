//go:build linux

package situations_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/reach"
)

// on runs f on a host.
func on(t *testing.T, h *testnet.Host, f func() error) {
	t.Helper()
	require.NoError(t, h.Do(f))
}

// tunnel joins two hosts by TUN devices, between which this process carries the packets,
// as a program for private networks does, so that nobody sees what they run over.
func tunnel(t *testing.T, a, b *testnet.Host, name, here, there string) {
	t.Helper()
	err := unix.Access("/dev/net/tun", unix.R_OK|unix.W_OK)
	need.That(t, err == nil, "needs /dev/net/tun: %v for user %d", err, os.Geteuid())
	var ends [2]*os.File
	for i, h := range []*testnet.Host{a, b} {
		on(t, h, func() (err error) {
			ends[i], err = openTun(name, []string{here, there}[i])
			return err
		})
	}
	done := make(chan struct{}, 2)
	for i := range ends {
		go func() {
			carry(ends[i], ends[1-i])
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		for _, f := range ends {
			require.NoError(t, f.Close())
		}
		<-done
		<-done
	})
}

func carry(from, to *os.File) {
	packet := make([]byte, 1<<16)
	for {
		n, err := from.Read(packet)
		if err != nil {
			return
		}
		if _, err := to.Write(packet[:n]); errors.Is(err, os.ErrClosed) {
			return
		}
	}
}

func openTun(name, address string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	request, err := unix.NewIfreq(name)
	if err != nil {
		return nil, err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), raise(name, address)
}

// raise gives an interface an address and takes it up.
func raise(name, address string) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(address)
	if err != nil {
		return err
	}
	return errors.Join(netlink.AddrAdd(l, addr), netlink.LinkSetUp(l))
}

// overlay adds a VXLAN over a host's card, to the other end of its link.
func overlay(t *testing.T, card *testnet.NIC, peer netip.Addr, name, address string) {
	t.Helper()
	on(t, card.Host(), func() error {
		v := &netlink.Vxlan{LinkAttrs: netlink.LinkAttrs{Name: name, MTU: 1450}, VxlanId: 1, Port: 8472,
			VtepDevIndex: card.Index(), Group: net.IP(peer.AsSlice())}
		if err := netlink.LinkAdd(v); err != nil {
			return err
		}
		return raise(name, address)
	})
}

// switched joins the cards of two hosts, two of each, to one network. The addresses are
// those of a, then those of b.
func switched(t *testing.T, n *testnet.Net, a, b *testnet.Host, addresses ...string) {
	t.Helper()
	s := n.Host("switch")
	var ports []string
	for i, address := range addresses {
		h := []*testnet.Host{a, b}[i/2]
		ports = append(ports, n.Link(s, h, testnet.Ends("", address)).A.Name())
	}
	on(t, s, func() error {
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0"}}
		if err := netlink.LinkAdd(bridge); err != nil {
			return err
		}
		for _, port := range ports {
			l, err := netlink.LinkByName(port)
			if err != nil {
				return err
			}
			if err := netlink.LinkSetMaster(l, bridge); err != nil {
				return err
			}
		}
		return netlink.LinkSetUp(bridge)
	})
	// Each card answers for its own addresses alone.
	for _, h := range []*testnet.Host{a, b} {
		h.Sysctl("net/ipv4/conf/all/arp_ignore", "1")
		h.Sysctl("net/ipv4/conf/all/arp_announce", "2")
	}
}

// onLink has what is for a network leave by a card, without a gateway.
func onLink(t *testing.T, card *testnet.NIC, network string) {
	t.Helper()
	on(t, card.Host(), func() error {
		_, dst, err := net.ParseCIDR(network)
		if err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{LinkIndex: card.Index(), Dst: dst, Scope: netlink.SCOPE_LINK})
	})
}

// policyRoute has what comes from an interface's address leave by that interface.
func policyRoute(t *testing.T, h *testnet.Host, name, address, subnet string, table int) {
	t.Helper()
	on(t, h, func() error {
		l, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		_, dst, err := net.ParseCIDR(subnet)
		if err != nil {
			return err
		}
		if err := netlink.RouteAdd(&netlink.Route{LinkIndex: l.Attrs().Index, Dst: dst, Table: table, Scope: netlink.SCOPE_LINK}); err != nil {
			return err
		}
		rule := netlink.NewRule()
		rule.Table, rule.Src = table, &net.IPNet{IP: net.ParseIP(address).To4(), Mask: net.CIDRMask(32, 32)}
		return netlink.RuleAdd(rule)
	})
}

// peerAddress gives an interface an address for a line to exactly one other.
func peerAddress(t *testing.T, c *testnet.NIC, here, there string) {
	t.Helper()
	on(t, c.Host(), func() error {
		l, err := netlink.LinkByName(c.Name())
		if err != nil {
			return err
		}
		one := net.CIDRMask(32, 32)
		return netlink.AddrAdd(l, &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(here), Mask: one}, Peer: &net.IPNet{IP: net.ParseIP(there), Mask: one}})
	})
}

// manyVeths gives a host ends of links, as containers have them, with an address that
// leads to the container alone.
func manyVeths(t *testing.T, h *testnet.Host, many int) {
	t.Helper()
	on(t, h, func() error {
		for i := range many {
			name := fmt.Sprintf("cali%d", i)
			v := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: fmt.Sprintf("in%d", i)}
			if err := netlink.LinkAdd(v); err != nil {
				return err
			}
			if err := raise(name, fmt.Sprintf("10.200.%d.%d/32", i/250, 1+i%250)); err != nil {
				return err
			}
			if inside, err := netlink.LinkByName(v.PeerName); err != nil {
				return err
			} else if err := netlink.LinkSetUp(inside); err != nil {
				return err
			}
		}
		return nil
	})
}

// awaitLinkLocal waits until a host's card has the address that the kernel gives it.
func awaitLinkLocal(t *testing.T, h *testnet.Host) {
	t.Helper()
	require.Eventually(t, func() bool {
		has := false
		err := h.Do(func() error {
			side, err := reach.System()
			for _, a := range side.Addresses {
				has = has || a.Addr().IsLinkLocalUnicast()
			}
			return err
		})
		return err == nil && has
	}, time.Minute, 5*time.Millisecond, "host %s has no link-local address", h.Name())
}
