package strand

import (
	"context"
	"fmt"
	"reflect"

	"github.com/strandmp/strand/internal/given"
)

// The calls below are collective calls over the neighbours in a grid, in the order of [Cart.Neighbours]: each process
// exchanges a part with each of them (MPI 4.1, section 8.6). The part of one that is not there is neither sent nor touched.

// NeighborAllgather sends in to all neighbours, and puts what they send into out, which has a part for each (MPI_Neighbor_allgather).
func (g *Cart) NeighborAllgather(ctx context.Context, in, out []byte) error {
	return g.neighborAllgather(ctx, nil, in, out)
}

func (g *Cart) neighborAllgather(ctx context.Context, of reflect.Type, in, out []byte) error {
	given.Context(ctx)
	if g == nil {
		return ErrNilComm
	}
	if len(out) != 2*len(g.dims)*len(in) {
		return fmt.Errorf("NeighborAllgather: out has %d bytes: want %d for each of %d neighbours, as many as in", len(out), len(in), 2*len(g.dims))
	}
	what := call{name: "NeighborAllgather", of: of, bytes: len(in)}
	return g.exchange(ctx, what, func(int) []byte { return in }, partsOf(out, len(in)))
}

// NeighborAlltoall sends each neighbour its part of in, and puts what they send into out (MPI_Neighbor_alltoall). Both
// have a part for each neighbour.
func (g *Cart) NeighborAlltoall(ctx context.Context, in, out []byte) error {
	return g.neighborAlltoall(ctx, nil, in, out)
}

func (g *Cart) neighborAlltoall(ctx context.Context, of reflect.Type, in, out []byte) error {
	given.Context(ctx)
	if g == nil {
		return ErrNilComm
	}
	n := 2 * len(g.dims)
	if len(in) != len(out) || n == 0 && len(in) > 0 || n > 0 && len(in)%n != 0 {
		return fmt.Errorf("NeighborAlltoall: in has %d bytes and out %d: want as many in both, a part for each of %d neighbours", len(in), len(out), n)
	}
	size := 0
	if n > 0 {
		size = len(in) / n
	}
	what := call{name: "NeighborAlltoall", of: of, bytes: len(in)}
	return g.exchange(ctx, what, partsOf(in, size), partsOf(out, size))
}

func partsOf(b []byte, size int) func(int) []byte {
	return func(i int) []byte { return b[i*size : (i+1)*size] }
}

// exchange sends each neighbour a part and receives one. Where a neighbour is so on both sides, it sends backwards
// first: that comes in from the front. So receives begin there.
func (g *Cart) exchange(ctx context.Context, what call, in, out func(int) []byte) error {
	return g.carry(ctx, what, func(ctx context.Context, k *courier) error {
		return g.pass(ctx, k, in, out)
	})
}

func (g *Cart) pass(ctx context.Context, k *courier, in, out func(int) []byte) error {
	for dim := range g.dims {
		for _, side := range []int{1, 0} {
			if from := g.shifted(dim, 2*side-1); from != ProcNull {
				if err := k.Recv(out(2*dim+side), from); err != nil {
					return err
				}
			}
		}
	}
	for dim := range g.dims {
		for _, side := range []int{0, 1} {
			if to := g.shifted(dim, 2*side-1); to != ProcNull {
				if err := k.Send(in(2*dim+side), to); err != nil {
					return err
				}
			}
		}
	}
	return k.Wait(ctx)
}

// NeighborAllgather is [Cart.NeighborAllgather] of values.
func NeighborAllgather[T any](ctx context.Context, g *Cart, in, out []T) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return g.neighborAllgather(ctx, reflect.TypeFor[T](), i, o)
}

// NeighborAlltoall is [Cart.NeighborAlltoall] of values.
func NeighborAlltoall[T any](ctx context.Context, g *Cart, in, out []T) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return g.neighborAlltoall(ctx, reflect.TypeFor[T](), i, o)
}
