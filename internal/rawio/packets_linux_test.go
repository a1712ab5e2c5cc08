package rawio

import (
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
