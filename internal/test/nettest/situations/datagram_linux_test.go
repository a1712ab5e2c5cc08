package situations_test

import (
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/test/testnet"
)

// What the network says of packets to one peer, that they are too long for example, says nothing of those to another one, though one socket is
// for both.
func TestWhatIsSaidOfAnothersPackets(t *testing.T) {
	t.Parallel()
	n := testnet.New(t)
	a, r, b := n.Host("a"), n.Host("r"), n.Host("b")
	near := n.Link(a, r, testnet.Subnet("10.1.0.0/24"))
	far := n.Link(r, b, testnet.Subnet("10.2.0.0/24"), testnet.MTU(1300))
	r.Forward()
	a.Route("10.2.0.0/24", near.B.Addr(0))
	var s *datagram.Socket
	require.NoError(t, a.Do(func() (err error) {
		s, err = datagram.Open(netip.AddrPortFrom(near.A.Addr(0), 0), 1<<20, 1<<20)
		return err
	}))
	defer s.Close()
	const size = 1400
	send := func(to netip.Addr) (int, syscall.Errno) {
		there := rawio.NewDestination(netip.AddrPortFrom(to, 9))
		s.Packets.Reset(&there, size)
		s.Packets.Add(make([]byte, size))
		return s.SendBatch()
	}
	sent, errno := send(far.B.Addr(0))
	require.Equal(t, 1, sent, errno)
	datagram.Wait(10_000, s) // until the router has answered
	sent, errno = send(near.B.Addr(0))
	assert.Equal(t, 1, sent, errno)
}
