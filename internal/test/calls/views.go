package calls

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/strandmp/strand"
)

// scattered is memory of a view: what it holds in the end, and is to hold.
type scattered[T comparable] struct{ has, want []T }

// view places values by a random layout. What stands between them is guarded, as what is given is if want is nil.
func (k *typed[T]) view(f *flow[T], r *rand.Rand, given, want []T) strand.View {
	n := max(len(given), len(want))
	l, blocks, length := DrawLayout[T](r, n)
	s := scattered[T]{has: k.values(^uint64(0), 0, 0, length)}
	Scatter(s.has, blocks, given)
	s.want = slices.Clone(s.has)
	Scatter(s.want, blocks, want)
	f.scattered = append(f.scattered, s)
	return l.Of(s.has)
}

// views are those of some messages that are given, or wanted.
func (k *typed[T]) views(f *flow[T], r *rand.Rand, given, want [][]T) []strand.View {
	all := make([]strand.View, max(len(given), len(want)))
	for i := range all {
		if want == nil {
			all[i] = k.view(f, r, given[i], nil)
		} else {
			all[i] = k.view(f, r, nil, want[i])
		}
	}
	return all
}

// viewFlow is that of a call of what layouts pick.
func (k *typed[T]) viewFlow(f *flow[T], comm *strand.Comm, c Call) {
	n, rank, root := comm.Size(), comm.Rank(), c.Root%comm.Size()
	random := rand.New(rand.NewPCG(c.Seed, uint64(rank)))
	own, all := k.values(c.Seed, rank, 0, c.uneven(rank)), make([][]T, n)
	for r := range all {
		all[r] = k.values(c.Seed, r, 0, c.uneven(r))
	}
	switch c.Name {
	case "BcastView":
		given := k.values(c.Seed, root, 0, c.Length)
		var v strand.View
		if rank == root {
			v = k.view(f, random, given, nil)
		} else {
			v = k.view(f, random, nil, given)
		}
		f.begin = func() (strand.Request, error) { return comm.IbcastView(v, root) }
		f.block = func(ctx context.Context) error { return comm.BcastView(ctx, v, root) }
	case "GatherView":
		in, out := k.view(f, random, own, nil), []strand.View(nil)
		if rank == root {
			out = k.views(f, random, nil, all)
		}
		f.begin = func() (strand.Request, error) { return comm.IgatherView(in, out, root) }
		f.block = func(ctx context.Context) error { return comm.GatherView(ctx, in, out, root) }
	case "ScatterView":
		in, out := []strand.View(nil), k.view(f, random, nil, own)
		if rank == root {
			in = k.views(f, random, all, nil)
		}
		f.begin = func() (strand.Request, error) { return comm.IscatterView(in, out, root) }
		f.block = func(ctx context.Context) error { return comm.ScatterView(ctx, in, out, root) }
	case "AllgatherView":
		in, out := k.view(f, random, own, nil), k.views(f, random, nil, all)
		f.begin = func() (strand.Request, error) { return comm.IallgatherView(in, out) }
		f.block = func(ctx context.Context) error { return comm.AllgatherView(ctx, in, out) }
	case "AlltoallView":
		give, get := make([][]T, n), make([][]T, n)
		for r := range n {
			give[r] = k.values(c.Seed, rank, r, c.uneven(rank+3*r))
			get[r] = k.values(c.Seed, r, rank, c.uneven(r+3*rank))
		}
		in, out := k.views(f, random, give, nil), k.views(f, random, nil, get)
		f.begin = func() (strand.Request, error) { return comm.IalltoallView(in, out) }
		f.block = func(ctx context.Context) error { return comm.AlltoallView(ctx, in, out) }
	default:
		k.gridFlow(f, c, random)
	}
}
