package collectives_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// A rank whose parameters make it take part in collective calls in another way than the others would wait for them until its context ends, and they for it.
// It is told as it comes, and names both.
func TestParametersThatRanksHaveAlike(t *testing.T) {
	leak.Check(t)
	for _, p := range []struct{ name, first, second string }{
		{"coll_shared_from", "128", "3"}, {"coll_check", "on", "off"}, {"coll_allreduce", "auto", "ring"}, {"coll_barrier", "tree", "dissemination"},
	} {
		t.Run(p.name, func(t *testing.T) {
			var all sync.WaitGroup
			ranks, errs := make([]*strand.World, 3), make([]error, 3)
			for rank, job := range strandtest.NewJobs(3) {
				text := p.first
				if rank == 1 {
					text = p.second
				}
				all.Go(func() {
					ranks[rank], errs[rank] = strand.Init(world.Context(t), strand.WithJob(job), world.FromEnvironment(), strand.WithParam(p.name, text))
				})
			}
			all.Wait()
			require.ErrorContains(t, errs[1], "rank 1: start-up: "+p.name+"="+p.second+" from ")
			require.ErrorContains(t, errs[1], ", but "+p.first+" on rank 0")
			require.NoError(t, errs[0])
			require.NoError(t, errs[2])
			world.Close(t, ranks[0], ranks[2])
		})
	}
}
