//go:build linux

package recovery_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Behind a router the way is narrower than our interface. A packet that may be cut gets through, one that may not does not.
func TestPacketsThatMayBeCut(t *testing.T) {
	for _, subnets := range [][2]string{{"10.1.0.0/24", "10.2.0.0/24"}, {"fd00:1::/64", "fd00:2::/64"}} {
		n := testnet.New(t)
		a, r, b := n.Host("a"), n.Host("r"), n.Host("b")
		near := n.Link(a, r, testnet.Subnet(subnets[0]))
		far := n.Link(r, b, testnet.Subnet(subnets[1]), testnet.MTU(1300))
		r.Forward()
		a.Route(subnets[1], near.B.Addr(0))
		b.Route(subnets[0], far.A.Addr(0))
		var there *net.UDPConn
		require.NoError(t, b.Do(func() (err error) {
			there, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(far.B.Addr(0), 0)))
			return err
		}))
		defer there.Close()
		var here *datagram.Socket
		require.NoError(t, a.Do(func() (err error) {
			here, err = datagram.Open(netip.AddrPortFrom(near.A.Addr(0), 0), 0, 0)
			return err
		}))
		defer here.Close()
		to := rawio.NewDestination(netip.MustParseAddrPort(there.LocalAddr().String()))
		whole, cut := make([]byte, 1401), make([]byte, 1400)
		got := make([]byte, 2000)
		for range 3 {
			for size, tries := 0, 0; size != len(cut); tries++ { // the first ones may be the last before a router says how long they may be
				here.Send(whole, &to)
				here.SendCut(cut, &to)
				require.NoError(t, there.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
				size, _ = there.Read(got)
				require.NotEqual(t, len(whole), size)
				require.Less(t, tries, 50)
			}
		}
	}
}
