//go:build unix

package rawio

import (
	"bytes"
	"fmt"
	"net/netip"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// sockets are two for datagrams, and where the second is.
func sockets(t testing.TB, at string) (from, to int, there Destination) {
	t.Helper()
	for _, fd := range []*int{&from, &to} {
		var err error
		*fd, err = Datagrams(netip.MustParseAddrPort(at), 1<<20, 1<<20)
		require.NoError(t, err)
		t.Cleanup(func() { Close(*fd) })
	}
	return from, to, NewDestination(LocalAddr(to))
}

// Asked for no size, a socket has what the system gives any. Linux takes a size of 0 for the smallest that it allows.
func TestDatagramsOfTheSystemsSizes(t *testing.T) {
	plain, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { Close(plain) })
	fd, err := Datagrams(netip.MustParseAddrPort("127.0.0.1:0"), 0, 0)
	require.NoError(t, err)
	t.Cleanup(func() { Close(fd) })
	for _, size := range []func(int) (int, error){SendBuffer, ReceiveBuffer} {
		want, err := size(plain)
		require.NoError(t, err)
		got, err := size(fd)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// joining receives packets that the kernel may have joined.
func joining(fd int) *Arrived {
	JoinPackets(fd)
	return NewArrived(4, 64<<10)
}

// packet is the content of the n-th of them, in pieces.
func packet(n, size int) [][]byte {
	b := bytes.Repeat([]byte{byte(n + 1)}, size)
	if size < 20 {
		return [][]byte{b}
	}
	return [][]byte{b[:7], b[7:19], b[19:]}
}

// receiveAll receives so many packets, and checks that they are whole, and in order.
func receiveAll(t testing.TB, fd int, a *Arrived, from netip.AddrPort, size, last, count int) {
	for n := 0; n < count; {
		k, errno := a.Receive(fd)
		if errno == syscall.EAGAIN {
			runtime.Gosched()
			continue
		}
		require.Zero(t, errno)
		for i := range k {
			b, segment, origin, whole := a.Datagram(i)
			require.True(t, whole)
			require.Equal(t, from, origin.AddrPort())
			for len(b) > 0 {
				want := size
				if n == count-1 {
					want = last
				}
				require.Equal(t, bytes.Join(packet(n, want), nil), b[:min(segment, len(b))], "packet %d", n)
				b = b[min(segment, len(b)):]
				n++
			}
		}
	}
}

func TestPackets(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		from, to, there := sockets(t, at)
		p, a := NewPackets(from), joining(to)
		best := p.Way
		for way := OneByOne; way <= best; way++ {
			for _, count := range []int{1, 2, 3, MaxSegments} {
				for _, size := range []int{1, 19, 1000, 1400} {
					if size*count > MaxSegmentsBytes {
						count = MaxSegmentsBytes / size
					}
					last := (size + 1) / 2
					t.Run(fmt.Sprintf("%s/%v/%d of %d", at, way, count, size), func(t *testing.T) {
						p.Way = way
						p.Reset(&there, size)
						for n := range count {
							content := packet(n, size)
							if n == count-1 {
								content = packet(n, last)
							}
							require.True(t, p.Room(len(content)))
							for _, piece := range content {
								p.Add(piece)
							}
						}
						require.Equal(t, count, p.Len())
						sent, errno := p.Send(from)
						require.Zero(t, errno)
						require.Equal(t, count, sent)
						assert.Equal(t, way, p.Way, "it was refused")
						receiveAll(t, to, a, LocalAddr(from), size, last, count)
					})
				}
			}
		}
	}
}

// More than the kernel takes at once is not let in.
func TestPacketsAreBounded(t *testing.T) {
	from, _, there := sockets(t, "127.0.0.1:0")
	for size, count := range map[int]int{1: MaxSegments, 1400: MaxSegmentsBytes / 1400, MaxSegmentsBytes: 1} {
		p := NewPackets(from)
		p.Reset(&there, size)
		n := 0
		for content := make([]byte, size); p.Room(1); n++ {
			p.Add(content)
		}
		assert.Equal(t, count, n, "of %d bytes", size)
	}
}

// What is lost for want of room is said.
func TestPacketsWithoutRoom(t *testing.T) {
	from, _, _ := sockets(t, "127.0.0.1:0")
	nowhere := NewDestination(netip.MustParseAddrPort("255.255.255.255:9")) // not without SO_BROADCAST
	p := NewPackets(from)
	for _, count := range []int{1, 3} {
		p.Reset(&nowhere, 100)
		for range count {
			p.Add(make([]byte, 100))
		}
		sent, errno := p.Send(from)
		assert.Zero(t, sent)
		assert.Equal(t, syscall.EACCES, errno)
	}
}

func BenchmarkPackets(b *testing.B) {
	const size = 1400
	from, to, there := sockets(b, "127.0.0.1:0")
	p, a := NewPackets(from), joining(to)
	content := make([]byte, size)
	for way := range p.Way + 1 {
		b.Run(way.String(), func(b *testing.B) {
			const count = 40
			b.SetBytes(count * size)
			b.ReportAllocs()
			for b.Loop() {
				p.Way = way
				p.Reset(&there, size)
				for range count {
					p.Add(content)
				}
				if sent, errno := p.Send(from); sent != count {
					b.Fatal(sent, errno)
				}
				for bytes := 0; bytes < count*size; {
					k, _ := a.Receive(to)
					for i := range k {
						got, _, _, _ := a.Datagram(i)
						bytes += len(got)
					}
				}
			}
		})
	}
}
