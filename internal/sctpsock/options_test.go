//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"encoding/binary"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// Every option is accepted, and reads back as it was set.
func TestKernelOptions(t *testing.T) {
	o := Options{
		SendBuffer: 1 << 20, ReceiveBuffer: 1 << 19, Streams: 11, InitAttempts: 3, InitTimeout: 500 * time.Millisecond,
		RTOInitial: 300 * time.Millisecond, RTOMin: 100 * time.Millisecond, RTOMax: 2 * time.Second,
		AssocMaxRetrans: 7, PathMaxRetrans: 2, Heartbeat: 700 * time.Millisecond, Autoclose: 1500 * time.Millisecond,
		FragmentInterleave: 1, Scheduler: RoundRobin, EncapPort: 9899,
		Events: []Kind{PartialDelivery, StreamReset, SendFailedEvent, RemoteError},
	}
	s := openEnd(t, o)
	read := func(name string, option, size int) []byte {
		b := make([]byte, size)
		n, err := s.get(name, option, b)
		require.NoError(t, err, name)
		require.Equal(t, size, n, name)
		return b
	}
	u32 := func(b []byte, at int) int { return int(binary.NativeEndian.Uint32(b[at:])) }
	u16 := func(b []byte, at int) int { return int(binary.NativeEndian.Uint16(b[at:])) }

	rto := read("SCTP_RTOINFO", optRTOInfo, 16)
	assert.Equal(t, []int{300, 2000, 100}, []int{u32(rto, 4), u32(rto, 8), u32(rto, 12)})
	init := read("SCTP_INITMSG", optInitMsg, 8)
	assert.Equal(t, []int{11, 11, 3, 500}, []int{u16(init, 0), u16(init, 2), u16(init, 4), u16(init, 6)})
	assert.Equal(t, 7, u16(read("SCTP_ASSOCINFO", optAssocInfo, 20), 4))
	path := read("SCTP_PEER_ADDR_PARAMS", optPeerAddrParams, 156)
	assert.Equal(t, []int{700, 2}, []int{u32(path, 132), u16(path, 136)})
	assert.Equal(t, 2, u32(read("SCTP_AUTOCLOSE", optAutoclose, 4), 0), "whole seconds, rounded up")
	assert.Equal(t, 1, u32(read("SCTP_FRAGMENT_INTERLEAVE", optFragmentInterleave, 4), 0))
	assert.Equal(t, int(RoundRobin), u32(read("SCTP_STREAM_SCHEDULER", optStreamScheduler, 8), 4))
	assert.Equal(t, 1, u32(read("SCTP_NODELAY", optNoDelay, 4), 0))
	encaps := read("SCTP_REMOTE_UDP_ENCAPS_PORT", optRemoteEncapsPort, 144)
	assert.Equal(t, uint16(9899), binary.BigEndian.Uint16(encaps[136:]))
	room, err := s.ReceiveBuffer()
	require.NoError(t, err)
	assert.Equal(t, 1<<20, room)
}

func TestKernelRefusedOptions(t *testing.T) {
	need.KernelMachine(t)
	_, err := Open(Options{RTOInitial: time.Second, RTOMin: 3 * time.Second, RTOMax: 2 * time.Second})
	assert.ErrorContains(t, err, "setsockopt SCTP_RTOINFO initial 1s, min 3s, max 2s: invalid argument (min ≤ initial ≤ max")
	assert.ErrorIs(t, err, syscall.EINVAL)
	_, err = Open(Options{FragmentInterleave: 2, Interleave: true})
	assert.ErrorContains(t, err, "net.sctp.intl_enable=1")
	assert.ErrorIs(t, err, syscall.EPERM)
	_, err = Open(Options{Scheduler: 77})
	assert.ErrorContains(t, err, "SCTP_STREAM_SCHEDULER 77")
}

func TestKernelInterleaving(t *testing.T) {
	need.KernelMachine(t)
	const name = "/proc/sys/net/sctp/intl_enable"
	require.NoError(t, os.WriteFile(name, []byte("1"), 0))
	t.Cleanup(func() { assert.NoError(t, os.WriteFile(name, []byte("0"), 0)) })
	o := Options{FragmentInterleave: 2, Interleave: true, Scheduler: Priority, Streams: 4}
	x, y := openEnd(t, o), openEnd(t, o)
	id, _ := associate(x, y)
	require.NoError(t, x.SetPriority(id, 3, 1))
	x.send(id, 3, "interleaved")
	_, b := y.message()
	assert.Equal(t, "interleaved", string(b))
}

// Several addresses of both families are one association's paths.
func TestKernelManyAddresses(t *testing.T) {
	here := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("::1")}
	there := []netip.Addr{netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.3"), netip.MustParseAddr("127.0.0.4")}
	x, y := openEnd(t, Options{Heartbeat: 50 * time.Millisecond}, here...), openEnd(t, Options{}, there...)
	own, err := x.LocalAddrs(0)
	require.NoError(t, err)
	assert.ElementsMatch(t, withPort(here, x.port), own)

	id, err := x.Connect(there, y.port)
	require.NoError(t, err)
	require.Equal(t, id, x.told(AssocChange, CommUp).Assoc)
	back := y.told(AssocChange, CommUp).Assoc
	paths, err := x.PeerAddrs(id)
	require.NoError(t, err)
	assert.ElementsMatch(t, withPort(there, y.port), paths)
	paths, err = y.PeerAddrs(back)
	require.NoError(t, err)
	assert.ElementsMatch(t, withPort(here, x.port), paths)
	for _, a := range withPort(there, y.port) {
		p, err := x.Path(id, a)
		require.NoError(t, err)
		assert.Equal(t, a, p.Addr)
		assert.Positive(t, p.RTO)
		assert.Positive(t, p.MTU)
	}
	status := mustStatus(t, x, id)
	assert.Equal(t, 4, status.State)
	assert.Contains(t, withPort(there, y.port), status.Primary.Addr)

	_, err = x.Connect(there, y.port)
	assert.ErrorIs(t, err, syscall.EISCONN)
	_, err = y.Connect(here[1:2], x.port)
	assert.ErrorIs(t, err, syscall.EISCONN)
}

func withPort(addrs []netip.Addr, port uint16) []netip.AddrPort {
	var all []netip.AddrPort
	for _, a := range addrs {
		all = append(all, netip.AddrPortFrom(a, port))
	}
	return all
}

func TestKernelBindErrors(t *testing.T) {
	x := openEnd(t, Options{})
	s, err := Open(Options{})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Bind(localhost, x.port)
	assert.ErrorIs(t, err, syscall.EADDRINUSE)
	_, err = s.Bind([]netip.Addr{netip.MustParseAddr("192.0.2.1")}, 0)
	assert.ErrorContains(t, err, "bindx [192.0.2.1] port 0")
	assert.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
}
