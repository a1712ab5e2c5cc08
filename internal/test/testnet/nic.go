//go:build linux

package testnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// A NIC is a network interface of a host.
type NIC struct {
	host  *Host
	name  string
	index int
	speed int
	addrs []netip.Prefix
}

// Name is the interface's name on its host, and Index the kernel's number for
// it there.
func (c *NIC) Name() string { return c.name }

// Index is the kernel's number for the interface on its host.
func (c *NIC) Index() int { return c.index }

// Host is the host that has the interface.
func (c *NIC) Host() *Host { return c.host }

// Speed is what was given as [Rate], in Mbit/s, or what the driver of a veth
// says of itself.
func (c *NIC) Speed() int { return c.speed }

// Addrs returns the addresses with their subnets, in the order given.
func (c *NIC) Addrs() []netip.Prefix { return c.addrs }

// Addr returns one of the addresses.
func (c *NIC) Addr(i int) netip.Addr { return c.addrs[i].Addr() }

// AddAddr adds an address with its subnet: "10.1.0.7/24".
func (c *NIC) AddAddr(address string) {
	c.host.net.t.Helper()
	prefix, err := netip.ParsePrefix(address)
	c.host.net.must(err)
	c.host.net.must(c.addAddr(prefix))
}

func (c *NIC) addAddr(prefix netip.Prefix) error {
	a := &netlink.Addr{IPNet: ipNet(prefix)}
	if prefix.Addr().Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	if err := c.host.kernel.AddrAdd(c.link(), a); err != nil {
		return c.explain("address "+prefix.String(), err)
	}
	c.addrs = append(c.addrs, prefix)
	return nil
}

// RemoveAddr removes an address.
func (c *NIC) RemoveAddr(address netip.Prefix) {
	c.host.net.t.Helper()
	c.host.net.must(c.explain("address "+address.String(), c.host.kernel.AddrDel(c.link(), &netlink.Addr{IPNet: ipNet(address)})))
	c.addrs = slices.DeleteFunc(c.addrs, func(p netip.Prefix) bool { return p == address })
}

// Down takes the interface down, as an administrator does. The other end of its
// link loses the carrier.
func (c *NIC) Down() { c.host.net.should(c.down()) }

// Up takes it up again. On return packets flow, if the other end is up.
func (c *NIC) Up() { c.host.net.should(c.up()) }

func (c *NIC) down() error { return c.explain("down", c.host.kernel.LinkSetDown(c.link())) }

func (c *NIC) up() error {
	if err := c.host.kernel.LinkSetUp(c.link()); err != nil {
		return c.explain("up", err)
	}
	return c.host.reroute()
}

// settleTime is a watchdog: the kernel takes up to a second.
const settleTime = 30 * time.Second

// settle waits until the kernel has seen that the link is up, before which
// it has no IPv6 routes, and has given the routes again that go by it.
func (c *NIC) settle() error {
	deadline := time.Now().Add(settleTime)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		link, err := c.host.kernel.LinkByIndex(c.index)
		if err != nil {
			return c.explain("state", err)
		}
		if link.Attrs().OperState == netlink.OperUp {
			return c.host.reroute()
		}
		<-tick.C
	}
	return c.explain("up", fmt.Errorf("no carrier after %v", settleTime))
}

// link names the interface to the kernel.
func (c *NIC) link() netlink.Link {
	return &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: c.name, Index: c.index}}
}

func (c *NIC) explain(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s on host %s: %s: %w", c.name, c.host.name, what, err)
	}
	return nil
}

// remove also removes the other end of a veth.
func (c *NIC) remove() error {
	err := c.host.kernel.LinkDel(c.link())
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EINVAL) {
		return nil // gone with its other end
	}
	return c.explain("remove", err)
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
