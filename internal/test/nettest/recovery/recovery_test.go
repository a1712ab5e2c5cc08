//go:build linux

package recovery_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Every connection is reset again and again, and nothing is lost, doubled or
// reordered.
func TestConnectionsAreReset(t *testing.T) {
	t.Parallel()
	for _, links := range []int{1, 2} {
		t.Run(fmt.Sprint(links, " links"), func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			for i := range links {
				n.Link(a, b, testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", i+1)))
			}
			r := traffic.Start(t, a, b, need.Times(traffic.UntilItIsEnough, 60))
			ticker := time.NewTicker(100 * time.Millisecond)
			defer ticker.Stop()
			resets := 0
			for range need.Times(30, 600) {
				<-ticker.C
				resets += a.ResetConnections()
			}
			traffic.End(r)
			traffic.Require(t, r)
			assert.Positive(t, resets)
		})
	}
}

// One of two networks is cut off without a word to the hosts, and comes back:
// nothing is lost, and the traffic goes on meanwhile.
func TestLinkIsCutAndComesBack(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		cut, mend func(first, second *testnet.Link)
	}{
		"the first network's frames are lost": {func(first, _ *testnet.Link) { first.A.Loss(1) }, func(first, _ *testnet.Link) { first.A.Loss(0) }},
		"the second link is down":             {func(_, second *testnet.Link) { second.Down() }, func(_, second *testnet.Link) { second.Up() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			first := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			second := n.Link(a, b, testnet.Subnet("10.2.0.0/24"))
			r := traffic.Start(t, a, b, need.Times(traffic.UntilItIsEnough, 60))
			r.Await(0, "round 8")
			way.cut(first, second)
			goesOn := traffic.GoesOn(r, "")
			way.mend(first, second)
			require.True(t, goesOn, "over the other network")
			require.True(t, traffic.RailsAreUp(r, "10.1.", "10.2."), "both networks lead to the peer again")
			require.True(t, traffic.GoesOn(r, ""), "with both networks")
			traffic.End(r)
			traffic.Require(t, r)
		})
	}
}

// The only address of a host is exchanged for another one of its subnet, as when a lease is renewed. That host connects from the new one, whether
// or not it had made the connection before, and traffic goes on.
func TestAddressIsExchanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		subnet string
		end    func(l *testnet.Link) *testnet.NIC
	}{
		"of who connected":   {"10.1.0.%d/24", func(l *testnet.Link) *testnet.NIC { return l.A }},
		"of the other, IPv6": {"fd00:1::%d/64", func(l *testnet.Link) *testnet.NIC { return l.B }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			link := n.Link(a, b, testnet.Ends(fmt.Sprintf(c.subnet, 1), fmt.Sprintf(c.subnet, 2)))
			r := traffic.Start(t, a, b, traffic.UntilItIsEnough)
			r.Await(0, "round 8")
			nic, after := c.end(link), netip.MustParsePrefix(fmt.Sprintf(c.subnet, 9))
			nic.RemoveAddr(nic.Addrs()[0])
			nic.AddAddr(after.String())
			nic.Host().ResetConnections() // or the ranks find out after some seconds
			require.True(t, traffic.GoesOn(r, after.Addr().String()))
			traffic.End(r)
			traffic.Require(t, r)
		})
	}
}
