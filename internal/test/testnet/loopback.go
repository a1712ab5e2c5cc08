//go:build linux

package testnet

import (
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
)

// OnLoopback calls f on a thread whose network is of its own, and has nothing but a loopback device that carries packets of at most
// mtu bytes. It needs root. The network ends with f.
func OnLoopback(mtu int, f func() error) error {
	return netspace.OnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetMTU(lo, mtu)
		}
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err != nil {
			return err
		}
		return f()
	})
}
