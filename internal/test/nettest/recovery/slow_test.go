//go:build linux

package recovery_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// oneLong has rank 0 send rank 1 a message of 1 MB.
func oneLong(ctx context.Context, w *strand.World) error {
	b := make([]byte, 1<<20)
	if w.Rank() == 0 {
		return w.Comm().Send(ctx, b, 1, 0)
	}
	if _, err := w.Comm().Recv(ctx, b, 0, 0); err != nil {
		return err
	}
	fmt.Printf("done: %d frames sent again\n", w.Stats().Replayed)
	return nil
}

// Over the only way, a slow one, one frame takes longer than a peer may be silent: its bytes are signs of life too.
func TestFrameThatTakesLongerThanSilenceMay(t *testing.T) {
	t.Parallel()
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(1))
	job := nettest.Play("long", []*testnet.Host{a, b})
	job.Timeout = time.Minute
	job.Env = append(job.Env, "STRAND_BTL=tcp,self", "STRAND_PML_PEER_TIMEOUT=3s")
	r := job.Start(t)
	require.NoError(t, r.Wait())
	t.Log(r.Await(1, "done").Text)
}
