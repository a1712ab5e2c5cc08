//go:build !race

package collectives_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
)

// blocking are all blocking calls, with memory that is there.
func blocking(c *strand.Comm, n int) map[string]func(context.Context) error {
	in, out, all, more := make([]float64, n), make([]float64, n), make([]float64, n*c.Size()), make([]float64, n*c.Size())
	sum, ordered := strand.Sum[float64](), strand.NewOp(func(a, b float64) float64 { return a + b }, false)
	var pieces, others [][]float64
	var bytes, counts = make([][]byte, c.Size()), make([]int, c.Size())
	for r := range c.Size() {
		pieces, others = append(pieces, all[r*n:(r+1)*n]), append(others, more[r*n:(r+1)*n])
		bytes[r], counts[r] = make([]byte, n), n
	}
	every, wide := strand.Vector[float64](n, 1, 2), make([]float64, 2*n)
	views, moreViews := make([]strand.View, c.Size()), make([]strand.View, c.Size())
	for r := range c.Size() {
		views[r], moreViews[r] = every.Of(make([]float64, 2*n)), every.Of(make([]float64, 2*n))
	}
	return map[string]func(context.Context) error{
		"Barrier":            c.Barrier,
		"Bcast":              func(ctx context.Context) error { return strand.Bcast(ctx, c, in, 0) },
		"Reduce":             func(ctx context.Context) error { return strand.Reduce(ctx, c, sum, in, out, 0) },
		"Reduce in order":    func(ctx context.Context) error { return strand.Reduce(ctx, c, ordered, in, out, 1) },
		"Allreduce":          func(ctx context.Context) error { return strand.Allreduce(ctx, c, sum, in, out) },
		"Allreduce in order": func(ctx context.Context) error { return strand.Allreduce(ctx, c, ordered, in, out) },
		"Gather":             func(ctx context.Context) error { return strand.Gather(ctx, c, in, all, 0) },
		"Gatherv":            func(ctx context.Context) error { return strand.Gatherv(ctx, c, in, pieces, 0) },
		"Gatherv of bytes":   func(ctx context.Context) error { return c.Gatherv(ctx, bytes[0], bytes, 0) },
		"Scatter":            func(ctx context.Context) error { return strand.Scatter(ctx, c, all, out, 0) },
		"Scatterv":           func(ctx context.Context) error { return strand.Scatterv(ctx, c, pieces, out, 0) },
		"Allgather":          func(ctx context.Context) error { return strand.Allgather(ctx, c, in, all) },
		"Allgatherv":         func(ctx context.Context) error { return strand.Allgatherv(ctx, c, in, pieces) },
		"Alltoall":           func(ctx context.Context) error { return strand.Alltoall(ctx, c, all, more) },
		"Alltoall in place":  func(ctx context.Context) error { return strand.Alltoall(ctx, c, all, all) },
		"Alltoallv":          func(ctx context.Context) error { return strand.Alltoallv(ctx, c, pieces, others) },
		"Alltoallv of bytes": func(ctx context.Context) error { return c.Alltoallv(ctx, bytes, bytes) },
		"Scan":               func(ctx context.Context) error { return strand.Scan(ctx, c, sum, in, out) },
		"Exscan":             func(ctx context.Context) error { return strand.Exscan(ctx, c, sum, in, out) },
		"ReduceScatter":      func(ctx context.Context) error { return strand.ReduceScatter(ctx, c, sum, all, out, counts) },
		"ReduceScatter in order": func(ctx context.Context) error {
			return strand.ReduceScatter(ctx, c, ordered, all, out, counts)
		},
		"AlltoallView":       func(ctx context.Context) error { return c.AlltoallView(ctx, views, moreViews) },
		"AllgatherView":      func(ctx context.Context) error { return c.AllgatherView(ctx, every.Of(wide), moreViews) },
		"GatherView":         func(ctx context.Context) error { return c.GatherView(ctx, every.Of(wide), moreViews, 0) },
		"ScatterView":        func(ctx context.Context) error { return c.ScatterView(ctx, views, every.Of(wide), 0) },
		"BcastView":          func(ctx context.Context) error { return c.BcastView(ctx, every.Of(wide), 0) },
		"ReduceScatterBlock": func(ctx context.Context) error { return strand.ReduceScatterBlock(ctx, c, sum, all, out) },
	}
}

// In the steady state no blocking call allocates. The race detector does so by itself.
func TestCollectivesAllocateNothing(t *testing.T) {
	need.CI(t, "counts of allocations need a quiet process")
	lists := []string{"tcp,self"}
	if runtime.GOOS == "linux" {
		lists = append(lists, "sm,self")
	}
	for _, list := range lists {
		for _, n := range []int{64, 8192} {
			w := world.Open(t, 3, strand.WithParam("btl", list))
			for _, name := range slices.Sorted(maps.Keys(blocking(w[0].Comm(), 0))) {
				t.Run(fmt.Sprintf("%s, %s, %d values", name, list, n), func(t *testing.T) { allocatesNothing(t, w, name, n) })
			}
		}
	}
}

// allocatesNothing counts the allocations of all ranks, which share a process.
func allocatesNothing(t *testing.T, w []*strand.World, name string, n int) {
	const runs, series = 100, 5 // in one of them more may be under way than ever before
	together(t, w, func(_ context.Context, c *strand.Comm) (err error) {
		ctx := context.Background() // to heed one that may end allocates, where a rank has to wait for long
		call := blocking(c, n)[name]
		make := func() {
			if e := call(ctx); e != nil {
				err = e
			}
			if e := c.Barrier(ctx); e != nil { // or ranks that give run ahead of those that take
				err = e
			}
		}
		for range 300 { // until as many frames have been under way as ever are: nobody answers in calls that go by memory
			make()
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		if c.Rank() == 0 {
			least := math.Inf(1)
			for range series {
				least = min(least, testing.AllocsPerRun(runs, make))
			}
			assert.Zero(t, least)
			return err
		}
		for range series * (runs + 1) {
			make()
		}
		return err
	})
}
