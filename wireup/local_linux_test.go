package wireup

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
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

// One of two interfaces was made anew, with a carrier: peers that are met later are reached by both, whether or not it had one before.
func TestOneOfTwoAddressesHasMoved(t *testing.T) {
	need.Root(t)
	for name, before := range map[string]reach.Flags{"it had a carrier": 0, "it had none": reach.NoCarrier} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, netspace.OnThread(func() error { return meetByTwo(t, before) }))
		})
	}
}

// meetByTwo meets peers by two interfaces, before and after the first one, of these flags, is made anew.
func meetByTwo(t *testing.T, before reach.Flags) error {
	if err := errors.Join(unix.Unshare(unix.CLONE_NEWNET), card("eth0", "10.1.0.1/24"), card("eth1", "10.2.0.1/24")); err != nil {
		return err
	}
	system, err := reach.System()
	if err != nil {
		return err
	}
	cards := slices.DeleteFunc(system.Addresses, func(a reach.Address) bool { return !a.Addr().Is4() })
	l := NewLocal(new(still), "tcp", &Settings{Policy: reach.RoutePolicy(nil)}, system, cards)
	l.publish(1, l.Interfaces)
	meet := func(host int) (met []string) {
		peer := &Address{Port: 2, Network: reach.Network{2}}
		for i := range 2 {
			peer.Interfaces = append(peer.Interfaces, reach.Address{Prefix: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.%d/24", i+1, host)), Index: 7 + i, Interface: fmt.Sprintf("eth%d", i)})
		}
		pairs, _, err := l.Pairs(1, peer)
		assert.NoError(t, err)
		for _, p := range pairs {
			met = append(met, p.Local.String())
		}
		return met
	}
	both := []string{"10.1.0.1 (eth0)", "10.2.0.1 (eth1)"}
	assert.Equal(t, both, meet(2))
	old, err := netlink.LinkByName("eth0")
	if err != nil {
		return err
	}
	if err := errors.Join(netlink.LinkDel(old), card("eth0", "10.1.0.1/24")); err != nil {
		return err
	}
	l.side.Addresses[0].Flags |= before
	l.Doubt()
	assert.Equal(t, both, meet(3))
	assert.Equal(t, both, meet(2))
	return nil
}

// An address that was exchanged for another one of its subnet, as when a lease is renewed: peers that are met later are connected to from
// the new one.
func TestAddressThatWasExchanged(t *testing.T) {
	need.Root(t)
	require.NoError(t, netspace.OnThread(func() error {
		if err := errors.Join(unix.Unshare(unix.CLONE_NEWNET), card("eth0", "10.1.0.1/24"), card("eth1", "10.1.0.8/24")); err != nil {
			return err
		}
		system, err := reach.System()
		if err != nil {
			return err
		}
		first := system.Addresses[0]
		l := NewLocal(new(still), "tcp", &Settings{Policy: reach.RoutePolicy(nil)}, system, system.Addresses[:1])
		l.publish(1, l.Interfaces)
		_, there := l.Successor(first)
		assert.False(t, there, "it has no need of one")
		eth0, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		before, err := netlink.ParseAddr("10.1.0.1/24")
		if err != nil {
			return err
		}
		if err := netlink.AddrDel(eth0, before); err != nil {
			return err
		}
		_, there = l.Successor(first)
		assert.False(t, there, "nothing is in its place")
		for _, text := range []string{"10.2.0.1/24", "10.1.0.9/24"} {
			after, err := netlink.ParseAddr(text)
			if err != nil {
				return err
			}
			if err := netlink.AddrAdd(eth0, after); err != nil {
				return err
			}
		}
		now, _ := l.Successor(first)
		assert.Equal(t, "10.1.0.9 (eth0)", now.String())
		return errors.Join(netlink.LinkDel(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: "eth1"}}), l.meetFrom(t, "10.1.0.9"))
	}))
}

// meetFrom meets a peer, and expects that it is connected to from an address.
func (l *Local) meetFrom(t *testing.T, from string) error {
	pairs, _, err := l.Pairs(1, &Address{Port: 2, Network: reach.Network{2}, Interfaces: []reach.Address{{Prefix: netip.MustParsePrefix("10.1.0.2/24"), Index: 7, Interface: "eth0"}}})
	if assert.Len(t, pairs, 1) {
		assert.Equal(t, from, pairs[0].Source().String())
	}
	return err
}
