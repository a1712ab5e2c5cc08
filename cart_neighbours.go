package strand

import (
	"context"
	"fmt"
	"reflect"

	"github.com/strandmp/strand/internal/given"
)

// The calls below are collective calls over the neighbours in a grid, in the order of [Cart.Neighbours]: each process
// exchanges a part with each of them (MPI 4.1, section 8.6). The part of one that is not there is neither sent nor touched.
// Those whose names begin with I return at once, as other collective calls do.

// NeighborAllgather sends in to all neighbours, and puts what they send into out, which has a part for each (MPI_Neighbor_allgather).
func (g *Cart) NeighborAllgather(ctx context.Context, in, out []byte) error {
	return g.make(ctx, g.neighborAllgather("NeighborAllgather", nil, in, out))
}

// IneighborAllgather is [Cart.NeighborAllgather] that goes on by itself.
func (g *Cart) IneighborAllgather(in, out []byte) (Request, error) {
	return g.start(g.neighborAllgather("IneighborAllgather", nil, in, out))
}

// NeighborAllgatherv is NeighborAllgather into pieces: that of the i'th neighbour goes into pieces[i], which has its length
// (MPI_Neighbor_allgatherv).
func (g *Cart) NeighborAllgatherv(ctx context.Context, in []byte, pieces [][]byte) error {
	return g.make(ctx, g.neighborAllgatherv("NeighborAllgatherv", nil, in, pieces))
}

// IneighborAllgatherv is [Cart.NeighborAllgatherv] that goes on by itself. The slice pieces is the library's too until it is complete.
func (g *Cart) IneighborAllgatherv(in []byte, pieces [][]byte) (Request, error) {
	return g.start(g.neighborAllgatherv("IneighborAllgatherv", nil, in, pieces))
}

// NeighborAlltoall sends each neighbour its part of in, and puts what they send into out (MPI_Neighbor_alltoall). Both
// have a part for each neighbour.
func (g *Cart) NeighborAlltoall(ctx context.Context, in, out []byte) error {
	return g.make(ctx, g.neighborAlltoall("NeighborAlltoall", nil, in, out))
}

// IneighborAlltoall is [Cart.NeighborAlltoall] that goes on by itself.
func (g *Cart) IneighborAlltoall(in, out []byte) (Request, error) {
	return g.start(g.neighborAlltoall("IneighborAlltoall", nil, in, out))
}

// NeighborAlltoallv sends the i'th neighbour in[i], and puts what it sends into out[i], which has its length
// (MPI_Neighbor_alltoallv).
func (g *Cart) NeighborAlltoallv(ctx context.Context, in, out [][]byte) error {
	return g.make(ctx, g.neighborAlltoallv("NeighborAlltoallv", nil, in, out))
}

// IneighborAlltoallv is [Cart.NeighborAlltoallv] that goes on by itself. The slices in and out are the library's too until it is complete.
func (g *Cart) IneighborAlltoallv(in, out [][]byte) (Request, error) {
	return g.start(g.neighborAlltoallv("IneighborAlltoallv", nil, in, out))
}

// NeighborAlltoallView sends the i'th neighbour what in[i] picks, and puts what it sends where out[i] does, which has its length
// (MPI_Neighbor_alltoallw): the halos of a grid, without packing. Views of neighbours that are not there do not count.
func (g *Cart) NeighborAlltoallView(ctx context.Context, in, out []View) error {
	return g.make(ctx, g.neighborAlltoallView("NeighborAlltoallView", in, out))
}

// IneighborAlltoallView is [Cart.NeighborAlltoallView] that goes on by itself. The slices in and out are the library's too until it is
// complete.
func (g *Cart) IneighborAlltoallView(in, out []View) (Request, error) {
	return g.start(g.neighborAlltoallView("IneighborAlltoallView", in, out))
}

// neighborly is a call over the neighbours, or why it can not be made.
type neighborly struct {
	what call
	do   func(ctx context.Context, k *courier) error
	err  error
}

func (g *Cart) make(ctx context.Context, n neighborly) error {
	given.Context(ctx)
	if n.err != nil {
		return n.err
	}
	return g.carry(ctx, n.what, n.do)
}

func (g *Cart) start(n neighborly) (Request, error) {
	if n.err != nil {
		return Request{}, n.err
	}
	return g.begin(n.what, n.do)
}

func (g *Cart) neighborAllgather(name string, of reflect.Type, in, out []byte) neighborly {
	switch {
	case g == nil:
		return neighborly{err: ErrNilComm}
	case int64(len(out)) != 2*int64(len(g.dims))*int64(len(in)):
		return neighborly{err: fmt.Errorf("%s: out has %d %s: want %d for each of %d neighbours, as many as in", name, len(out)/unit(of), units(of), len(in)/unit(of), 2*len(g.dims))}
	}
	return exchanging(g, call{name: "NeighborAllgather", of: of, bytes: len(in)}, func(int) []byte { return in }, partsOf(out, len(in)))
}

func (g *Cart) neighborAllgatherv(name string, of reflect.Type, in []byte, pieces [][]byte) neighborly {
	if err := g.checkEach(name, len(pieces)); err != nil {
		return neighborly{err: err}
	}
	return exchanging(g, call{name: "NeighborAllgatherv", of: of, uneven: true}, func(int) []byte { return in }, func(i int) []byte { return pieces[i] })
}

func (g *Cart) neighborAlltoall(name string, of reflect.Type, in, out []byte) neighborly {
	if g == nil {
		return neighborly{err: ErrNilComm}
	}
	n := 2 * len(g.dims)
	if len(in) != len(out) || n == 0 && len(in) > 0 || n > 0 && !divides(n, in, of) {
		return neighborly{err: fmt.Errorf("%s: in has %d %s and out %d: want as many in both, and for each of %d neighbours as many", name, len(in)/unit(of), units(of), len(out)/unit(of), n)}
	}
	size := 0
	if n > 0 {
		size = len(in) / n
	}
	return exchanging(g, call{name: "NeighborAlltoall", of: of, bytes: len(in)}, partsOf(in, size), partsOf(out, size))
}

func (g *Cart) neighborAlltoallv(name string, of reflect.Type, in, out [][]byte) neighborly {
	if err := g.checkEach(name, len(in), len(out)); err != nil {
		return neighborly{err: err}
	}
	what := call{name: "NeighborAlltoallv", of: of, uneven: true}
	return exchanging(g, what, func(i int) []byte { return in[i] }, func(i int) []byte { return out[i] })
}

func (g *Cart) neighborAlltoallView(name string, in, out []View) neighborly {
	if err := g.checkEach(name, len(in), len(out)); err != nil {
		return neighborly{err: err}
	}
	for i := range in {
		if g.shifted(i/2, i%2*2-1) == ProcNull {
			continue
		}
		err := in[i].sendable(name)
		if err == nil {
			err = out[i].receivable(name)
		}
		if err != nil {
			return neighborly{err: fmt.Errorf("%w (neighbour %d of %d)", err, i, len(in))}
		}
	}
	return neighborly{what: call{name: "NeighborAlltoallView", uneven: true}, do: func(ctx context.Context, k *courier) error {
		return passParts(ctx, g, viewCourier{k}, func(i int) View { return in[i] }, func(i int) View { return out[i] })
	}}
}

// checkEach checks that there is a part for each neighbour, wherever parts are given.
func (g *Cart) checkEach(name string, parts ...int) error {
	if g == nil {
		return ErrNilComm
	}
	for _, n := range parts {
		if n != 2*len(g.dims) {
			return fmt.Errorf("%s: %d parts: want one for each of %d neighbours", name, n, 2*len(g.dims))
		}
	}
	return nil
}

func partsOf(b []byte, size int) func(int) []byte {
	return func(i int) []byte { return b[i*size : (i+1)*size] }
}

func exchanging(g *Cart, what call, in, out func(int) []byte) neighborly {
	return neighborly{what: what, do: func(ctx context.Context, k *courier) error { return passParts(ctx, g, k, in, out) }}
}

// partCourier passes parts of any kind.
type partCourier[P any] interface {
	Send(part P, to int) error
	Recv(part P, from int) error
	Wait(ctx context.Context) error
}

// passParts sends each neighbour a part and receives one. Where a neighbour is so on both sides, it sends backwards
// first: that comes in from the front. So receives begin there.
func passParts[P any, C partCourier[P]](ctx context.Context, g *Cart, k C, in, out func(int) P) error {
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
