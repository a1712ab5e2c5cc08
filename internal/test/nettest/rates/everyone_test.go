//go:build linux

package rates_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// everyone is what testdata/everyone.c is: every rank sends every other one 64 KB, twice, and
// tells how much memory it has. It says too how many connections there are over which transport.
func everyone(ctx context.Context, w *strand.World) error {
	const size, rounds = 64 << 10, 2
	c, in, out := w.Comm(), make([]byte, size), make([]byte, size)
	for round := range rounds {
		for i := 1; i < c.Size(); i++ {
			req, err := c.Irecv(in, (c.Rank()+c.Size()-i)%c.Size(), round)
			if err != nil {
				return err
			}
			if err := c.Send(ctx, out, (c.Rank()+i)%c.Size(), round); err != nil {
				return err
			}
			if _, err := req.Wait(ctx); err != nil {
				return err
			}
		}
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	rollup, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return err
	}
	_, after, _ := bytes.Cut(rollup, []byte("\nPss:"))
	var kb int
	if _, err := fmt.Sscan(string(after), &kb); err != nil {
		return err
	}
	over := 0
	for _, r := range w.Rails() {
		if r.Up && r.Component == "sm" {
			over++
		}
	}
	fmt.Printf("memory: %d KB\n", kb)
	fmt.Printf("shared: %d\n", over)
	return c.Barrier(ctx)
}

// weights are what the ranks have told, in order.
func weights(t *testing.T, output string, ranks int) []int {
	t.Helper()
	var all []int
	for line := range strings.Lines(output) {
		if _, text, found := strings.Cut(line, "memory: "); found {
			var kb int
			_, err := fmt.Sscanf(text, "%d KB", &kb)
			require.NoError(t, err, "%s", line)
			all = append(all, kb)
		}
	}
	require.Len(t, all, ranks, "%s", output)
	slices.Sort(all)
	return all
}

// Ranks of a host that all talk to all share memory, and take no more of it than btl_sm_fbox_size
// says. Open MPI is there for comparison; the long form has 64 ranks.
func TestMemoryOfAllToAll(t *testing.T) {
	ranks := need.Times(8, 64)
	_, a, _ := nettest.Hosts(t)
	r := nettest.Play("everyone", slices.Repeat([]*testnet.Host{a}, ranks)).Run(t)
	require.NoError(t, r.Wait())
	ours := weights(t, r.String(), ranks)
	for rank := range ranks {
		assert.Equal(t, fmt.Sprintf("shared: %d", ranks-1), r.Await(rank, "shared: ").Text)
	}
	t.Logf("Strand, %d ranks: %d KB of memory each (median of PSS), %d at most", ranks, ours[ranks/2], ours[ranks-1])
	theirs := openMPIWeights(t, ranks)
	t.Logf("Open MPI, %d ranks: %d KB (median), %d at most", ranks, theirs[ranks/2], theirs[ranks-1])
	const ring, itself = 256, 24 << 10 // KB: a ring, and what a process takes without any (TestMemoryDoesNotGrowWithTheWorld)
	assert.LessOrEqual(t, ours[ranks-1], itself+(ranks-1)*(ring+4), "KB")
}

func openMPIWeights(t *testing.T, ranks int) []int {
	t.Helper()
	program := filepath.Join(t.TempDir(), "everyone")
	out, err := exec.CommandContext(t.Context(), need.Program(t, "mpicc.openmpi", "libopenmpi-dev"), "-O2", "-o", program, "testdata/everyone.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), need.Program(t, "mpirun.openmpi", "openmpi-bin"), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
		"-np", fmt.Sprint(ranks), program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return weights(t, string(out), ranks)
}
