package calls

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/strandmp/strand"
)

// GridNames are those of the calls over the neighbours in a grid.
var GridNames = []string{"NeighborAllgather", "NeighborAllgatherv", "NeighborAlltoall", "NeighborAlltoallv", "NeighborAlltoallView"}

// DrawOverGrid draws a call over the neighbours in a grid, as [Draw] does.
func DrawOverGrid(r *rand.Rand, most int) Call {
	c := Draw(r, most)
	c.Name = GridNames[r.IntN(len(GridNames))]
	return c
}

// Over has a call made over a grid, if it is one of those.
func (c Call) Over(g *strand.Cart) Call {
	c.grid = g
	return c
}

// Neighbours are those of a rank in a grid, as [strand.Cart.Neighbours] has them: for each dimension the one before and
// the one behind.
func Neighbours(rank int, dims []int, periodic []bool) []int {
	all := make([]int, 2*len(dims))
	stride := 1
	for d := len(dims) - 1; d >= 0; d-- {
		x := rank / stride % dims[d]
		for side, to := range []int{x - 1, x + 1} {
			switch inside := to >= 0 && to < dims[d]; {
			case inside:
				all[2*d+side] = rank + (to-x)*stride
			case periodic[d]:
				all[2*d+side] = rank + ((to+dims[d])%dims[d]-x)*stride
			default:
				all[2*d+side] = strand.ProcNull
			}
		}
		stride *= dims[d]
	}
	return all
}

// gridFlow is that of a call over neighbours. What is sent to one side comes in from the other one.
func (k *typed[T]) gridFlow(f *flow[T], c Call, random *rand.Rand) {
	g := c.grid
	if g == nil {
		panic("calls: there is no call " + c.Name + " of a communicator")
	}
	rank, neighbours := g.Rank(), Neighbours(g.Rank(), g.Dims(), g.Periodic())
	n, length := len(neighbours), c.Length
	uneven := func(from, side int) int { return c.uneven(from + 3*side) }
	if c.Name == "NeighborAllgather" || c.Name == "NeighborAlltoall" {
		uneven = func(int, int) int { return length }
	}
	sent := func(from, side int) []T { return k.values(c.Seed, from, side, uneven(from, side)) }
	give, get := make([][]T, n), make([][]T, n) // nil: from nobody
	for i, from := range neighbours {
		give[i] = sent(rank, i)
		if from != strand.ProcNull {
			get[i] = sent(from, i^1)
		}
	}
	if c.Name == "NeighborAllgather" || c.Name == "NeighborAllgatherv" {
		f.in = sent(rank, 0)
		for i, from := range neighbours {
			if from != strand.ProcNull {
				get[i] = sent(from, 0)
			}
		}
	}
	switch c.Name {
	case "NeighborAllgather":
		out := k.parts(f, get, length)
		f.begin = func() (strand.Request, error) { return strand.IneighborAllgather(g, f.in, out) }
		f.block = func(ctx context.Context) error { return strand.NeighborAllgather(ctx, g, f.in, out) }
	case "NeighborAlltoall":
		f.in = slices.Concat(give...)
		out := k.parts(f, get, length)
		f.begin = func() (strand.Request, error) { return strand.IneighborAlltoall(g, f.in, out) }
		f.block = func(ctx context.Context) error { return strand.NeighborAlltoall(ctx, g, f.in, out) }
	case "NeighborAllgatherv":
		out := k.pieces(f, n, func(i int) int { return len(get[i]) })
		f.want2 = get
		f.begin = func() (strand.Request, error) { return strand.IneighborAllgatherv(g, f.in, out) }
		f.block = func(ctx context.Context) error { return strand.NeighborAllgatherv(ctx, g, f.in, out) }
	case "NeighborAlltoallv":
		out := k.pieces(f, n, func(i int) int { return len(get[i]) })
		f.want2 = get
		f.begin = func() (strand.Request, error) { return strand.IneighborAlltoallv(g, give, out) }
		f.block = func(ctx context.Context) error { return strand.NeighborAlltoallv(ctx, g, give, out) }
	case "NeighborAlltoallView":
		in, out := k.views(f, random, give, nil), k.views(f, random, nil, get)
		f.begin = func() (strand.Request, error) { return g.IneighborAlltoallView(in, out) }
		f.block = func(ctx context.Context) error { return g.NeighborAlltoallView(ctx, in, out) }
	default:
		panic("calls: there is no call " + c.Name)
	}
}

// parts is memory for parts of one length. Those that come from nobody stay as they are.
func (k *typed[T]) parts(f *flow[T], get [][]T, length int) []T {
	out := k.out(f, len(get)*length, false, nil)
	f.want = slices.Clone(out)
	for i, part := range get {
		copy(f.want[i*length:], part)
	}
	return out
}
