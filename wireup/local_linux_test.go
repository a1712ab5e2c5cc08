package wireup

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/reach"
)

// card makes an interface that is up, with an address.
func card(name, address string) error {
	v := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "p"}
	if err := netlink.LinkAdd(v); err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(address)
	if err != nil {
		return err
	}
	made, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	far, err := netlink.LinkByName(v.PeerName)
	if err != nil {
		return err
	}
	return errors.Join(netlink.AddrAdd(made, addr), netlink.LinkSetUp(made), netlink.LinkSetUp(far))
}

// An address may move to another interface after the start, or its interface may be made anew, as by a driver that is loaded again.
// Peers that are met later are reached from there.
func TestAddressThatHasMoved(t *testing.T) {
	need.Root(t)
	for name, to := range map[string]string{"to another interface": "eth1", "to an interface of that name": "eth0"} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, netspace.OnThread(func() error {
				if err := errors.Join(unix.Unshare(unix.CLONE_NEWNET), card("eth0", "10.1.0.1/24")); err != nil {
					return err
				}
				system, err := reach.System()
				if err != nil {
					return err
				}
				l := NewLocal(new(still), "tcp", &Settings{Policy: reach.RoutePolicy(nil)}, system, system.Addresses[:1])
				l.publish(1, l.Interfaces)
				peer := &Address{Port: 2, Network: reach.Network{2}, Interfaces: []reach.Address{{Prefix: netip.MustParsePrefix("10.1.0.2/24"), Index: 7, Interface: "eth0"}}}
				if _, _, err := l.Pairs(1, peer); err != nil {
					return err
				}
				old, err := netlink.LinkByName("eth0")
				if err != nil {
					return err
				}
				if err := errors.Join(netlink.LinkDel(old), card(to, "10.1.0.1/24")); err != nil {
					return err
				}
				l.Doubt()
				pairs, _, err := l.Pairs(1, peer)
				if assert.Len(t, pairs, 1) {
					assert.Equal(t, to, pairs[0].Local.Interface)
					assert.NotEqual(t, old.Attrs().Index, pairs[0].Local.Index)
				}
				return err
			}))
		})
	}
}

// Peers that are met at an address that others were met at before are reached from there too: what the kernel has said of its route leads by
// the old interface.
func TestAddressThatHasMovedSincePeersWereMet(t *testing.T) {
	need.Root(t)
	require.NoError(t, netspace.OnThread(func() error {
		if err := errors.Join(unix.Unshare(unix.CLONE_NEWNET), card("eth0", "10.1.0.1/24")); err != nil {
			return err
		}
		system, err := reach.System()
		if err != nil {
			return err
		}
		l := NewLocal(new(still), "tcp", &Settings{Policy: reach.RoutePolicy(nil)}, system, system.Addresses[:1])
		l.publish(1, l.Interfaces)
		meet := func(at string) error {
			_, _, err := l.Pairs(1, &Address{Port: 2, Network: reach.Network{2}, Interfaces: []reach.Address{{Prefix: netip.MustParsePrefix(at), Index: 7, Interface: "eth0"}}})
			return err
		}
		if err := meet("10.1.0.2/24"); err != nil {
			return err
		}
		old, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		if err := errors.Join(netlink.LinkDel(old), card("eth1", "10.1.0.1/24")); err != nil {
			return err
		}
		return errors.Join(meet("10.1.0.3/24"), meet("10.1.0.2/24"))
	}))
}
