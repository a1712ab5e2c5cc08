package launchertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/need"
)

func TestHydra(t *testing.T) {
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	for _, args := range [][]string{{"-n", "4"}, {"-launcher", "fork", "-hosts", "a:2,b:2", "-n", "4"}} {
		out, status := run(t, "exchange", nil, hydra, append(args, self(t))...)
		assert.Equal(t, 0, status, out)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		slices.Sort(lines)
		assert.Equal(t, allRanks(4, "hydra"), lines)
	}
}

// A rank that exits without leaving its world ends the job by Hydra's own rules: the others
// do not abort it first, with a status of theirs.
func TestHydraRankLeaves(t *testing.T) {
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	for range need.Times(3, 200) {
		out, status := run(t, "leave 7", nil, hydra, "-n", "4", self(t))
		assert.Contains(t, []int{7, 9}, status, "its own, or that of those whom Hydra kills for it: %s", out)
		assert.LessOrEqual(t, strings.Count(out, "has gone"), 1, out)
		assert.NotContains(t, out, "aborts the job")
	}
}
