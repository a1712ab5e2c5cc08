//go:build linux

package failures_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Who waits for a rank that is stopped, or cut off, learns that it gives no sign of
// life.
func TestRankFallsSilent(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(*nettest.Run, *testnet.Link){
		"stopped": func(r *nettest.Run, _ *testnet.Link) { r.Signal(1, syscall.SIGSTOP) },
		// Nothing reaches a: rank 1, which hears all, does not end the job before rank 0.
		"cut off": func(_ *nettest.Run, link *testnet.Link) { link.A.Loss(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			r := nettest.Play("wait", []*testnet.Host{a, b}, "STRAND_PML_PEER_TIMEOUT=2s").Start(t)
			r.Await(0, "waiting")
			r.Await(1, "waiting")
			silence(r, link)
			require.Contains(t, r.Await(0, "waited: ").Text, "rank 1 on b has failed: no sign of life for 2s")
			link.A.Loss(0)
			require.Error(t, r.Wait())
		})
	}
}
