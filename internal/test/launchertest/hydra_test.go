package launchertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/launch"
)

func TestHydra(t *testing.T) {
	t.Parallel()
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	for _, args := range [][]string{{"-n", "4"}, {"-launcher", "fork", "-hosts", "a:2,b:2", "-n", "4"}} {
		out, status := run(t, "exchange", nil, hydra, append(args, self(t))...)
		assert.Equal(t, 0, status, out)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		slices.Sort(lines)
		assert.Equal(t, allRanks(4, "hydra"), lines)
	}
}

// A job of Hydra's may be within one of strand run, whose variables it then has. strand run does not hear of its
// mistakes, so the ranks tell them.
func TestHydraWithinStrandRun(t *testing.T) {
	t.Parallel()
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	env := []string{launch.JobEnv + "=strand_outer", "STRAND_BTL=nosuch"}
	out, status := run(t, "exchange", env, hydra, "-n", "2", self(t))
	assert.Equal(t, 1, status, out)
	assert.Contains(t, out, `there is no transport "nosuch"`)
}

// What becomes of a job whose rank goes is Hydra's to say. It kills the others on the same host at once, but does not
// always wait for them. If it does, it ends all others too, and the status is that of who was killed, or 255 where Hydra
// has failed itself meanwhile. If not, it is the status of the rank that went, or, where there are ranks on other hosts,
// that of the one which misses it and ends the job. A rank that aborts the job says itself what the status is.
func TestHydraStatus(t *testing.T) {
	t.Parallel()
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	hosts := map[string][]string{"one host": nil, "two hosts": {"-launcher", "fork", "-hosts", "a:2,b:2"}}
	const missed = 1 // the status of a rank that ends the job for another one
	for _, c := range []struct {
		hosts, going string
		statuses     []int
	}{
		{"one host", "leave 7", []int{9, 7}},
		{"one host", "leave 0", []int{9, 0}},
		{"one host", "die", []int{9}},
		{"one host", "abort 7", []int{7}},
		{"one host", "give up", []int{1}},
		{"two hosts", "leave 7", []int{missed, 9, 255}},
		{"two hosts", "leave 0", []int{missed, 9, 255}},
		{"two hosts", "abort 7", []int{7}},
		{"two hosts", "give up", []int{1}},
	} {
		t.Run(c.going+", "+c.hosts, func(t *testing.T) {
			t.Parallel()
			for range need.Times(1, 100) {
				out, status := run(t, c.going, nil, hydra, append(hosts[c.hosts], "-n", "4", self(t))...)
				assert.Contains(t, c.statuses, status, out)
				said := strings.Count(out, "strand: rank 2 has gone, and rank 0 on ")
				if c.going == "abort 7" || c.going == "give up" {
					assert.Zero(t, said, out)
					continue
				}
				assert.Equal(t, status == missed, said == 1, "it is said once where a rank ends the job for another one: %d: %s", status, out)
				assert.NotContains(t, out, "aborts the job")
			}
		})
	}
}
