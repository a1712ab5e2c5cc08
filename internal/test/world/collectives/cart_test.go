package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// Neighbours get what is meant for them, where both are the same process and where one is the process
// itself too.
func TestNeighbours(t *testing.T) {
	const n = 6
	strandtest.Run(t, n, func(ctx context.Context, w *strand.World) error {
		for _, dims := range [][]int{{6}, {3, 2}, {2, 1, 2}, {1, 5}, {1}, {}} {
			for kind := range 3 {
				periodic := make([]bool, len(dims))
				for i := range periodic {
					periodic[i] = kind == 1 || kind == 2 && i%2 == 0
				}
				g, err := w.Comm().Cart(ctx, dims, periodic)
				if err != nil {
					return err
				}
				if g == nil {
					continue
				}
				if err := exchanges(ctx, t, g); err != nil {
					return fmt.Errorf("%v, %v: %w", dims, periodic, err)
				}
				if err := g.Free(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// exchanges tries the calls over neighbours in a grid.
func exchanges(ctx context.Context, t *testing.T, g *strand.Cart) error {
	around := g.Neighbours()
	in, out := make([]int, 2*len(around)), make([]int, 2*len(around))
	want, gathered, wanted := make([]int, len(out)), make([]int, len(around)), make([]int, len(around))
	for i, r := range around {
		in[2*i], in[2*i+1] = g.Rank(), i
		if r != strand.ProcNull {
			want[2*i], want[2*i+1] = r, i^1 // what it has sent the other way
			wanted[i] = r + 1
		}
	}
	if err := strand.NeighborAlltoall(ctx, g, in, out); err != nil {
		return err
	}
	assert.Equal(t, want, out)
	if err := strand.NeighborAllgather(ctx, g, []int{g.Rank() + 1}, gathered); err != nil {
		return err
	}
	assert.Equal(t, wanted, gathered)
	return otherForms(ctx, t, g, in, want, wanted)
}

// otherForms are those with v and those that go on by themselves.
func otherForms(ctx context.Context, t *testing.T, g *strand.Cart, in, want, wanted []int) error {
	out, gathered := make([]int, len(want)), make([]int, len(wanted))
	own := []int{g.Rank() + 1}
	var inPieces, outPieces, gatheredPieces [][]int
	for i := range wanted {
		inPieces, outPieces = append(inPieces, in[2*i:2*i+2]), append(outPieces, out[2*i:2*i+2])
		gatheredPieces = append(gatheredPieces, gathered[i:i+1])
	}
	wait := func(r strand.Request, err error) error {
		if err == nil {
			_, err = r.Wait(ctx)
		}
		return err
	}
	for i, call := range []func() error{ // in the same order everywhere
		func() error { return strand.NeighborAlltoallv(ctx, g, inPieces, outPieces) },
		func() error { return wait(strand.IneighborAlltoall(g, in, out)) },
		func() error { return wait(strand.IneighborAlltoallv(g, inPieces, outPieces)) },
		func() error { return wait(g.IneighborAlltoallView(views(inPieces), views(outPieces))) },
		func() error { return strand.NeighborAllgatherv(ctx, g, own, gatheredPieces) },
		func() error { return wait(strand.IneighborAllgather(g, own, gathered)) },
		func() error { return wait(strand.IneighborAllgatherv(g, own, gatheredPieces)) },
	} {
		clear(out)
		clear(gathered)
		if err := call(); err != nil {
			return err
		}
		if i < 4 {
			assert.Equal(t, want, out, "call %d", i)
		} else {
			assert.Equal(t, wanted, gathered, "call %d", i)
		}
	}
	return nil
}

func views(pieces [][]int) []strand.View {
	all := make([]strand.View, len(pieces))
	for i, p := range pieces {
		all[i] = strand.ViewOf(p)
	}
	return all
}

// A grid is divided into its rows, and those into places.
func TestCartSub(t *testing.T) {
	strandtest.Run(t, 6, func(ctx context.Context, w *strand.World) error {
		g, err := w.Comm().Cart(ctx, []int{2, 3}, []bool{false, true})
		if err != nil {
			return err
		}
		row, err := g.Sub(ctx, []bool{false, true})
		if err != nil {
			return err
		}
		assert.Equal(t, []int{3}, row.Dims())
		assert.Equal(t, []bool{true}, row.Periodic())
		assert.Equal(t, g.Rank()%3, row.Rank())
		column, err := g.Sub(ctx, []bool{true, false})
		if err != nil {
			return err
		}
		assert.Equal(t, []int{2}, column.Dims())
		assert.Equal(t, g.Rank()/3, column.Rank())
		world, known := row.Translate(0, w.Comm())
		assert.True(t, known)
		assert.Equal(t, g.Rank()/3*3, world)
		return nil
	})
}

// A grid that keeps all dimensions is there again, with messages of its own.
func TestCartAgain(t *testing.T) {
	strandtest.Run(t, 6, func(ctx context.Context, w *strand.World) error {
		g, err := w.Comm().Cart(ctx, []int{2, 3}, []bool{false, true})
		if err != nil {
			return err
		}
		again, err := g.Sub(ctx, []bool{true, true})
		if err != nil {
			return err
		}
		assert.Equal(t, g.Dims(), again.Dims())
		assert.Equal(t, g.Periodic(), again.Periodic())
		assert.Equal(t, g.Rank(), again.Rank())
		assert.Equal(t, g.Neighbours(), again.Neighbours())
		out, err := g.Isend([]byte{1}, g.Rank(), 1)
		if err != nil {
			return err
		}
		_, found, err := again.Iprobe(again.Rank(), 1)
		assert.False(t, found, "it was sent in the first grid")
		if err != nil {
			return err
		}
		if _, err := g.Recv(ctx, make([]byte, 1), g.Rank(), 1); err != nil {
			return err
		}
		_, err = out.Wait(ctx)
		return err
	})
}

// Ranks that keep different dimensions are in no grid together, however many would have room in it. Who finds its grid incomplete says so.
func TestCartSubThatDiffers(t *testing.T) {
	for _, check := range []string{"off", "on"} {
		ranks := world.Open(t, 4, strand.WithParam("coll_check", check))
		together(t, ranks, func(ctx context.Context, c *strand.Comm) error {
			g, err := c.Cart(ctx, []int{2, 2}, nil)
			if err != nil {
				return err
			}
			sub, err := g.Sub(ctx, []bool{c.Rank() != 3, c.Rank() == 3}) // by their places alone 1 and 3 would be a grid of two
			switch {
			case check == "on":
				assert.Error(t, err)
			case c.Rank()%2 == 0:
				assert.NoError(t, err)
				assert.Equal(t, 2, sub.Size())
			default:
				assert.ErrorContains(t, err, "all ranks have to keep the same dimensions", "rank %d", c.Rank())
			}
			return nil
		})
	}
}

// Grids that are none are refused before anybody is asked; ranks that give different ones all hear of it.
func TestCartRefuses(t *testing.T) {
	strandtest.Run(t, 4, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		for why, dims := range map[string][]int{"is 0": {2, 0}, "more places than": {5}, "has more": {1 << 30, 1 << 30}} {
			_, err := c.Cart(ctx, dims, nil)
			assert.ErrorContains(t, err, why)
		}
		_, err := c.Cart(ctx, []int{2}, []bool{true, true})
		assert.ErrorContains(t, err, "1 dimensions, and 2 values")
		dims := []int{2, 2}
		if c.Rank() == 3 {
			dims = []int{4}
		}
		_, err = c.Cart(ctx, dims, nil)
		assert.ErrorContains(t, err, "all have to")
		g, err := c.Cart(ctx, []int{2, 2}, nil)
		if err != nil {
			return err
		}
		_, err = g.Coords(4)
		assert.ErrorIs(t, err, strand.ErrRank)
		_, err = g.At(1)
		assert.ErrorContains(t, err, "1 coordinates in a grid of 2 dimensions")
		_, _, err = g.Shift(2, 1)
		assert.ErrorContains(t, err, "dimension 2")
		_, err = g.Sub(ctx, nil)
		assert.ErrorContains(t, err, "0 values")
		assert.ErrorContains(t, g.NeighborAllgather(ctx, make([]byte, 2), make([]byte, 2)), "NeighborAllgather: out has 2 bytes")
		assert.ErrorContains(t, g.NeighborAlltoall(ctx, make([]byte, 3), make([]byte, 3)), "NeighborAlltoall: in has 3 bytes")
		assert.ErrorContains(t, strand.NeighborAlltoall(ctx, g, make([]int32, 3), make([]int32, 3)), "NeighborAlltoall: in has 3 values of 4 bytes and out 3") // 6 or 3 for each
		return nil
	})
}
