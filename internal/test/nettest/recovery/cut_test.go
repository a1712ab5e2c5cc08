//go:build linux

package recovery_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
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
		defer func() { _ = there.Close() }()
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
				_ = here.Send(whole, &to)
				_ = here.SendCut(cut, &to)
				require.NoError(t, there.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
				size, _ = there.Read(got)
				require.NotEqual(t, len(whole), size)
				require.Less(t, tries, 50)
			}
		}
	}
}

// The way between two ranks comes to be narrower while they send each other much. What was under way then is as long as before, and
// gets through all the same.
func TestAWayThatBecomesNarrower(t *testing.T) {
	for _, btl := range []string{"sctp", "udp"} {
		n := testnet.New(t)
		a, r, s, b := n.Host("a"), n.Host("r"), n.Host("s"), n.Host("b")
		near, way, far := n.Link(a, r, testnet.Subnet("10.1.0.0/24")), n.Link(r, s, testnet.Subnet("10.2.0.0/24")), n.Link(s, b, testnet.Subnet("10.3.0.0/24"))
		r.Forward()
		s.Forward()
		a.Route("10.3.0.0/24", near.B.Addr(0))
		r.Route("10.3.0.0/24", way.B.Addr(0))
		s.Route("10.1.0.0/24", way.A.Addr(0))
		b.Route("10.1.0.0/24", far.A.Addr(0))
		job := nettest.Play("steady", []*testnet.Host{a, b}, traffic.For(1), "STRAND_BTL="+btl+",self", "STRAND_BTL_SCTP_STACK=user")
		job.Timeout = time.Minute
		run := job.Start(t)
		run.Await(0, "steady")
		run.Await(1, "steady")
		for host, nic := range map[*testnet.Host]*testnet.NIC{r: way.A, s: way.B} {
			require.NoError(t, host.Command("ip", "link", "set", nic.Name(), "mtu", "1300").Run())
		}
		traffic.Require(t, run)
		for rank := range 2 {
			assert.Contains(t, run.Await(rank, "done: ").Text, ", 0 frames sent again", btl)
		}
	}
}
