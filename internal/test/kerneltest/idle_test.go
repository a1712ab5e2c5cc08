//go:build linux

package kerneltest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/testnet"
)

// idleRounds of idle.
const idleRounds = 3

// idle has two ranks exchange a message, wait until their association has been
// closed for being idle, and so on. Now the one begins, now the other.
func idle(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	peer := 1 - c.Rank()
	for round := range idleRounds {
		buf := make([]byte, 1)
		if round%2 == c.Rank() {
			if err := c.Send(ctx, buf, peer, round); err != nil {
				return err
			}
		}
		if _, err := c.Recv(ctx, buf, peer, round); err != nil {
			return err
		}
		if round%2 != c.Rank() {
			if err := c.Send(ctx, buf, peer, round); err != nil {
				return err
			}
		}
		if err := awaitNoAssociation(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("%d frames sent again\n", w.Stats().Replayed)
	return nil
}

// awaitNoAssociation waits until the host has none.
func awaitNoAssociation(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		all, err := table("/proc/self/net/sctp/assocs", "INODE")
		if err != nil || len(all) == 0 {
			return err
		}
		<-tick.C
	}
	return context.Cause(ctx)
}

// An association that nothing has used for a while is closed, and comes back with
// the next message, whoever sends it.
func TestKernelIdle(t *testing.T) {
	host := testnet.New(t).Host("a")
	r := play(t, "idle", []*testnet.Host{host, host}, "STRAND_BTL_SCTP_AUTOCLOSE=1s", "STRAND_VERBOSE=1").Run(t)
	require.NoError(t, r.Wait())
	// Who did not make the first association, most often rank 1, begins by finding that it is gone.
	both := r.Await(0, "frames sent again").Text + ", " + r.Await(1, "frames sent again").Text
	var first, second int
	_, err := fmt.Sscanf(both, "%d frames sent again, %d frames sent again", &first, &second)
	require.NoError(t, err, both)
	assert.LessOrEqual(t, first+second, 1)
	r.Await(0, "the association was idle and is closed")
}
