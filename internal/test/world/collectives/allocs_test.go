//go:build !race

package collectives_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
)

// The race detector allocates by itself.
func TestCollectivesAllocateNothing(t *testing.T) {
	need.CI(t, "counts of allocations need a quiet process")
	w := world.Open(t, 2, strand.WithParam("btl", "tcp,self"))
	sum := strand.Sum[float64]()
	const runs = 200
	together(t, w, func(ctx context.Context, c *strand.Comm) error {
		in, out := make([]float64, 512), make([]float64, 512)
		for range runs {
			if err := strand.Allreduce(ctx, c, sum, in, out); err != nil {
				return err
			}
		}
		if c.Rank() == 1 {
			for range runs + 1 {
				if err := strand.Allreduce(ctx, c, sum, in, out); err != nil {
					return err
				}
			}
			return nil
		}
		var err error
		got := testing.AllocsPerRun(runs, func() { err = errors.Join(err, strand.Allreduce(ctx, c, sum, in, out)) })
		assert.Zero(t, got)
		return err
	})
}
