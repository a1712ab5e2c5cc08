//go:build linux

package recovery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/testnet"
)

// What ranks tell each other of themselves when they meet may be longer than what the way between them carries in one packet: each host has
// an interface for every container, say.
func TestTheyMeetOverANarrowWay(t *testing.T) {
	n := testnet.New(t)
	a, b := n.Host("a"), n.Host("b")
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.MTU(1300))
	for i := range 40 {
		for _, h := range []*testnet.Host{a, b} {
			name := fmt.Sprintf("container%05d", i)
			require.NoError(t, h.Command("ip", "link", "add", name, "type", "veth", "peer", "name", fmt.Sprintf("end%d", i)).Run())
			require.NoError(t, h.Command("ip", "addr", "add", fmt.Sprintf("172.16.%d.1/24", i), "dev", name).Run())
			require.NoError(t, h.Command("ip", "link", "set", name, "up").Run())
			require.NoError(t, h.Command("ip", "link", "set", fmt.Sprintf("end%d", i), "up").Run())
		}
	}
	job := nettest.Play("steady", []*testnet.Host{a, b}, traffic.For(1), "STRAND_BTL=udp,self")
	job.Timeout = time.Minute
	traffic.Require(t, job.Start(t))
}
