//go:build linux && (386 || amd64 || arm || arm64 || riscv64)

package rawio

import (
	"bytes"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/test/need"
)

// A socket without checksums can not have the kernel cut packets, as some devices can not. The packets
// go out all the same, and the next ones do not try again.
func TestPacketsThatTheKernelCanNotCut(t *testing.T) {
	from, to, there := sockets(t, "127.0.0.1:0")
	p, a := NewPackets(from), joining(to)
	need.That(t, p.Way == Segmented, "a kernel with UDP_SEGMENT: Linux 4.18")
	require.NoError(t, unix.SetsockoptInt(from, unix.SOL_SOCKET, unix.SO_NO_CHECK, 1))
	for range 2 {
		p.Reset(&there, 1000)
		for n := range 5 {
			for _, piece := range packet(n, 1000) {
				p.Add(piece)
			}
		}
		sent, errno := p.Send(from)
		require.Zero(t, errno)
		require.Equal(t, 5, sent)
		receiveAll(t, to, a, LocalAddr(from), 1000, 1000, 5)
		assert.Equal(t, ManyCalls, p.Way)
	}
}

// What has refused a way may pass: a firewall that drops some packets, a route over a device that can not cut them. So that way is tried again, now and then.
func TestAWayIsTriedAgain(t *testing.T) {
	from, to, there := sockets(t, "127.0.0.1:0")
	p, a := NewPackets(from), joining(to)
	need.That(t, p.Way == Segmented, "a kernel with UDP_SEGMENT: Linux 4.18")
	send := func() Way {
		p.Reset(&there, 10)
		for n := range 2 {
			p.Add(packet(n, 10)[0])
		}
		sent, errno := p.Send(from)
		require.Zero(t, errno)
		require.Equal(t, 2, sent)
		receiveAll(t, to, a, LocalAddr(from), 10, 10, 2)
		return p.Way
	}
	require.NoError(t, unix.SetsockoptInt(from, unix.SOL_SOCKET, unix.SO_NO_CHECK, 1))
	require.Equal(t, ManyCalls, send())
	require.Equal(t, 0, p.slowly)
	p.slowly = tryAgain - 1
	require.Equal(t, ManyCalls, send(), "it is refused still")
	require.NoError(t, unix.SetsockoptInt(from, unix.SOL_SOCKET, unix.SO_NO_CHECK, 0))
	require.Equal(t, ManyCalls, send(), "it was tried just now")
	p.slowly = tryAgain - 1
	require.Equal(t, Segmented, send())
}

// What is refused one by one too, as by a firewall, is refused for where it goes to. That says nothing of a way, and packets to others go
// out as before.
func TestPacketsThatAreRefusedInEachWay(t *testing.T) {
	from, _, there := sockets(t, "127.0.0.1:0")
	nowhere := NewDestination(netip.MustParseAddrPort("127.0.0.1:0"))
	p := NewPackets(from)
	for way := range p.Way + 1 {
		p.Way = way
		for _, to := range []*Destination{&nowhere, &there} {
			p.Reset(to, 100)
			for range 3 {
				p.Add(make([]byte, 100))
			}
			sent, errno := p.Send(from)
			if to == &nowhere {
				require.Equal(t, syscall.EINVAL, errno)
			} else {
				require.Equal(t, 3, sent)
			}
			assert.Equal(t, way, p.Way)
		}
	}
}

// Packets that lie behind each other are one piece for the system, and arrive as what they are.
func TestPacketsInOnePiece(t *testing.T) {
	const size, last, count = 1000, 500, 5
	from, to, there := sockets(t, "127.0.0.1:0")
	p, a := NewPackets(from), joining(to)
	var all []byte
	for n := range count {
		all = append(all, bytes.Join(packet(n, size), nil)...)
	}
	all = all[:(count-1)*size+last]
	p.Reset(&there, size)
	for left := all; len(left) > 0; left = left[min(size, len(left)):] {
		p.Add(left[:7])
		p.Add(left[7:min(size, len(left))])
	}
	assert.Len(t, p.join(), 1)
	sent, errno := p.Send(from)
	require.Zero(t, errno)
	require.Equal(t, count, sent)
	receiveAll(t, to, a, LocalAddr(from), size, last, count)
	apart := [][]byte{all[:size], all[2*size : 3*size]}
	p.Reset(&there, size)
	for _, b := range apart {
		p.Add(b)
	}
	assert.Len(t, p.join(), 2)
}

// A piece may end where its memory ends. What lies behind is nobody's, and no pointer may say that it is there: with the race
// detector the runtime notices.
func TestPacketsThatEndWithTheirMemory(t *testing.T) {
	p := &Packets{}
	p.Reset(nil, 4<<10)
	a, b := make([]byte, 4<<10), make([]byte, 8<<10)
	p.Add(a)
	p.Add(b[4<<10:])
	p.Add(make([]byte, 1))
	p.Add(b[:1<<10])
	p.Add(b[1<<10 : 2<<10])
	joined := p.join()
	require.Equal(t, uint64(2<<10), uint64(joined[len(joined)-1].Len))
	require.GreaterOrEqual(t, p.pieces-1, len(joined))
}
