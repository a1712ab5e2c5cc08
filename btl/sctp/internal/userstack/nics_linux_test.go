package userstack

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// What is known of interfaces is asked for once, and not for each address: with 200 of them on a host of containers a rank took
// seconds to begin. What grows with the square is seen by what is allocated for it.
func TestManyAddresses(t *testing.T) {
	need.Root(t)
	const many = 60
	grown := func(n int) (mallocs uint64) {
		require.NoError(t, netspace.OnThread(func() error {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return err
			}
			addresses, err := loopbacks(n)
			if err != nil {
				return err
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := Open(stack.Config{Loop: new(btltest.Loop), Local: addresses, Warn: func(netip.AddrPort, error) {}})
			runtime.ReadMemStats(&after)
			if err != nil {
				return err
			}
			so := s.sockets[n-1]
			assert.Equal(t, netip.PrefixFrom(addresses[n-1], 32), so.network)
			mallocs = after.Mallocs - before.Mallocs
			return s.Close()
		}))
		return mallocs
	}
	few := grown(many)
	t.Logf("%d addresses: %d, %d addresses: %d", many, few, 3*many, grown(3*many))
	assert.Less(t, grown(3*many), 5*few)
}

// loopbacks gives the loopback device of the thread's network so many addresses.
func loopbacks(n int) (all []netip.Addr, err error) {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return nil, err
	}
	for i := range n {
		ip := netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})
		err = errors.Join(err, netlink.AddrAdd(lo, &netlink.Addr{IPNet: &net.IPNet{IP: ip.AsSlice(), Mask: net.CIDRMask(32, 32)}}))
		all = append(all, ip)
	}
	return all, errors.Join(err, netlink.LinkSetUp(lo))
}

// An interface that does not carry packets in which an association can begin is left out at once, and where there is no other one
// the stack says so.
func TestInterfaceOfShortPackets(t *testing.T) {
	need.Root(t)
	local := addresses("127.0.0.1")
	var refused error
	require.NoError(t, testnet.OnLoopback(68, func() error {
		_, refused = Open(stack.Config{Loop: new(btltest.Loop), Local: local, Warn: func(netip.AddrPort, error) {}})
		return nil
	}))
	var unavailable *btl.UnavailableError
	require.ErrorAs(t, refused, &unavailable)
	assert.Contains(t, unavailable.Reason, "68 bytes at most (its MTU), 540 are needed")

	var told []string
	var used []netip.Addr
	require.NoError(t, testnet.OnLoopback(1500, func() error {
		if err := veth("narrow0", "fe80::1/64", 1280); err != nil { // the least for IPv6
			return err
		}
		if err := errors.Join(veth("narrow1", "10.0.0.1/24", 296), veth("wide0", "fe80::1/64", 9000)); err != nil {
			return err
		}
		local := addresses("10.0.0.1", "127.0.0.1", "fe80::1%narrow0", "fe80::1%wide0")
		s, err := Open(stack.Config{Loop: new(btltest.Loop), Local: local, Warn: func(_ netip.AddrPort, err error) { told = append(told, err.Error()) }})
		if err != nil {
			return err
		}
		used = s.Local()
		assert.NotContains(t, s.protocol().Addresses, local[0], "peers are not told of it")
		assert.Equal(t, 1280-48, s.sockets[1].nic)
		assert.Equal(t, 9000-48, s.sockets[2].nic)
		return s.Close()
	}))
	assert.Equal(t, addresses("127.0.0.1", "fe80::1%narrow0", "fe80::1%wide0"), used)
	require.NotEmpty(t, told)
	assert.Contains(t, told[0], "not using 10.0.0.1: its interface carries packets of 296 bytes at most (its MTU), 540 are needed")
}

// veth makes an interface with an address.
func veth(name, address string, mtu int) error {
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name, MTU: mtu}, PeerName: name + "p"}); err != nil {
		return err
	}
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(address)
	if err != nil {
		return err
	}
	if addr.IP.To4() == nil {
		addr.Flags = unix.IFA_F_NODAD
	}
	return errors.Join(netlink.AddrAdd(l, addr), netlink.LinkSetUp(l))
}
