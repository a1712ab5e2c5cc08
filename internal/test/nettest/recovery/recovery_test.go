//go:build linux

package recovery_test

import (
	"fmt"
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
