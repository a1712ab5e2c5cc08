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

// What becomes of a job whose rank goes is Hydra's to say. Where all ranks are on its host it kills the others at once, and
// the status is that of who was killed; or the rank's own, since Hydra does not always wait for those that it kills.
// Elsewhere nobody is told: a rank that misses the one that has gone ends the job, and the status is that rank's. A
// rank that aborts the job says itself what the status is.
func TestHydraStatus(t *testing.T) {
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	hosts := map[string][]string{"one host": nil, "two hosts": {"-launcher", "fork", "-hosts", "a:2,b:2"}}
	for _, c := range []struct {
		hosts, going string
		statuses     []int
		told         int // how often by a rank that misses the other
	}{
		{"one host", "leave 7", []int{9, 7}, 0},
		{"one host", "leave 0", []int{9, 0}, 0},
		{"one host", "die", []int{9}, 0},
		{"one host", "abort 7", []int{7}, 0},
		{"one host", "give up", []int{1}, 0},
		{"two hosts", "leave 7", []int{1}, 1},
		{"two hosts", "leave 0", []int{1}, 1},
		{"two hosts", "abort 7", []int{7}, 0},
		{"two hosts", "give up", []int{1}, 0},
	} {
		t.Run(c.going+", "+c.hosts, func(t *testing.T) {
			t.Parallel()
			for range need.Times(1, 100) {
				out, status := run(t, c.going, nil, hydra, append(hosts[c.hosts], "-n", "4", self(t))...)
				assert.Contains(t, c.statuses, status, out)
				assert.Equal(t, c.told, strings.Count(out, "strand: rank 2 has gone, and rank 0 on "), out)
				if c.going != "abort 7" && c.going != "give up" {
					assert.NotContains(t, out, "aborts the job")
				}
			}
		})
	}
}
