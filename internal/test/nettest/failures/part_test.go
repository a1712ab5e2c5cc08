//go:build linux

package failures_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/trials"
	"github.com/strandmp/strand/internal/test/programs"
	"github.com/strandmp/strand/internal/test/testnet"
)

// partVariable is the seed of what role part does.
const partVariable = "PART_SEED"

// part leaves in mid-transfer.
func part(ctx context.Context, w *strand.World) error {
	seed, err := strconv.ParseUint(os.Getenv(partVariable), 0, 64)
	if err != nil {
		return err
	}
	return programs.Part(ctx, w, seed)
}

// Processes close their worlds in mid-transfer, in either direction, and overwrite what they
// send as soon as they may. Everybody's sends and receives end, with what was sent or with
// the word that the other has closed, and each process ends with status 0.
func TestTrialsOfClosing(t *testing.T) {
	trials.Trials{Short: 3, Beside: 3, Took: "from the start of a job to its end", Run: tryClosing}.Try(t)
}

func tryClosing(t *testing.T, tr *trials.Trial) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	placement := []*testnet.Host{a, b, a, b}[:2+tr.Way(3)]
	job := nettest.Play("part", placement, fmt.Sprintf("%s=%#x", partVariable, tr.Seed), "STRAND_PML_CLOSE_TIMEOUT=1m")
	job.KeepGoing, job.Timeout = true, 2*time.Minute
	start := time.Now()
	r := tr.Start(t, job)
	err := r.Wait()
	tr.Done(time.Since(start))
	require.NoError(t, err)
	for rank := range placement {
		require.Equal(t, "exited with status 0", r.Status(rank))
	}
}
