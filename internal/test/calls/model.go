package calls

import (
	"context"
	"fmt"
	"slices"

	"github.com/strandmp/strand"
)

// guard is how many values around a result nothing may be written to.
const guard = 3

// memory is where a call puts its result.
type memory[T comparable] struct{ all, guards []T }

func (k *typed[T]) memory(n int) (m memory[T], values []T) {
	m.all = k.values(^uint64(0), 0, 0, n+2*guard)
	m.guards = slices.Clone(m.all)
	return m, m.all[guard : guard+n : guard+n]
}

func (m memory[T]) whole() bool {
	end := len(m.all) - guard
	return slices.Equal(m.all[:guard], m.guards[:guard]) && slices.Equal(m.all[end:], m.guards[end:])
}

// values are those that a process gives to another one, or to all.
func (k *typed[T]) values(seed uint64, from, to, n int) []T {
	values := make([]T, n)
	state := seed ^ uint64(from+1)*0x9E3779B97F4A7C15 ^ uint64(to+1)*0xC2B2AE3D27D4EB4F
	for i := range values { // splitmix64
		state += 0x9E3779B97F4A7C15
		z := (state ^ state>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		values[i] = k.value(z ^ z>>31)
	}
	return values
}

// folded is what ranks 0 to last have together.
func (k *typed[T]) folded(c Call, last, n int) []T {
	acc, model := k.values(c.Seed, 0, 0, n), k.by(c.By).model
	for rank := 1; rank <= last; rank++ {
		for i, v := range k.values(c.Seed, rank, 0, n) {
			acc[i] = model(acc[i], v)
		}
	}
	return acc
}

// uneven is how much a rank gives, or gets, where these lengths differ.
func (c Call) uneven(rank int) int { return c.Length * ((rank*7 + c.Root) % 4) / 2 }

// flow is a call on its way: how it is made, what it is to give and where.
type flow[T comparable] struct {
	begin     func() (strand.Request, error)
	block     func(context.Context) error
	want, got []T
	pieces    [][]T // or these
	want2     [][]T
	in, in2   []T // what was given, and has to stay
	memories  []memory[T]
	scattered []scattered[T]
}

func (k *typed[T]) begin(ctx context.Context, comm *strand.Comm, c Call) (strand.Request, func() error, error) {
	f := k.flow(comm, c)
	f.in2 = slices.Clone(f.in)
	var r strand.Request
	var err error
	if c.Alone {
		r, err = f.begin()
	} else {
		err = f.block(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%v: %w", c, err)
	}
	return r, func() error { return f.check(c, comm) }, err
}

func (f *flow[T]) check(c Call, comm *strand.Comm) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%v, rank %d of %d: %s", c, comm.Rank(), comm.Size(), fmt.Sprintf(format, args...))
	}
	for i := range f.want {
		if f.got[i] != f.want[i] {
			return wrong("value %d of %d is %v, the model has %v", i, len(f.want), f.got[i], f.want[i])
		}
	}
	for r := range f.want2 {
		if !slices.Equal(f.pieces[r], f.want2[r]) {
			return wrong("the piece of rank %d is %.100v, the model has %.100v", r, f.pieces[r], f.want2[r])
		}
	}
	if !slices.Equal(f.in, f.in2) {
		return wrong("what was given has changed")
	}
	for _, m := range f.memories {
		if !m.whole() {
			return wrong("what stands beside the result was written to")
		}
	}
	for _, s := range f.scattered {
		if i := differ(s.has, s.want); i >= 0 {
			return wrong("value %d of %d, in the memory of a view, is %v, the model has %v", i, len(s.want), s.has[i], s.want[i])
		}
	}
	return nil
}

// differ returns the first place where two slices differ, or −1.
func differ[T comparable](a, b []T) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// out is memory for a result of so many values. In place it has in to begin with.
func (k *typed[T]) out(f *flow[T], n int, inside bool, in []T) []T {
	m, values := k.memory(n)
	f.memories, f.got = append(f.memories, m), values
	if inside {
		copy(values, in)
	}
	return values
}

// pieces is memory for one of each rank.
func (k *typed[T]) pieces(f *flow[T], n int, length func(rank int) int) [][]T {
	f.pieces = make([][]T, n)
	for r := range n {
		var m memory[T]
		m, f.pieces[r] = k.memory(length(r))
		f.memories = append(f.memories, m)
	}
	return f.pieces
}

func (k *typed[T]) flow(comm *strand.Comm, c Call) *flow[T] {
	n, rank, root, length := comm.Size(), comm.Rank(), c.Root%comm.Size(), c.Length
	op, atRoot, f := k.by(c.By).op, rank == root, new(flow[T])
	given := func(from int) []T { return k.values(c.Seed, from, 0, length) }
	joined := func(all func(rank int) []T) (whole []T) {
		for r := range n {
			whole = append(whole, all(r)...)
		}
		return whole
	}
	own := given(rank)
	// operands are those of a call that gives as much as it takes.
	operands := func() (in, out []T) {
		out = k.out(f, length, c.Inside, own)
		if f.in = own; c.Inside {
			f.in = nil
			return out, out
		}
		return own, out
	}
	switch c.Name {
	case "Barrier":
		f.begin, f.block = comm.Ibarrier, comm.Barrier
	case "Bcast":
		out := k.out(f, length, atRoot, own)
		f.want = given(root)
		f.begin = func() (strand.Request, error) { return strand.Ibcast(comm, out, root) }
		f.block = func(ctx context.Context) error { return strand.Bcast(ctx, comm, out, root) }
	case "Reduce":
		c.Inside = c.Inside && atRoot // elsewhere out counts for nothing
		in, out := operands()
		if atRoot {
			f.want = k.folded(c, n-1, length)
		}
		f.begin = func() (strand.Request, error) { return strand.Ireduce(comm, op, in, out, root) }
		f.block = func(ctx context.Context) error { return strand.Reduce(ctx, comm, op, in, out, root) }
	case "Allreduce":
		in, out := operands()
		f.want = k.folded(c, n-1, length)
		f.begin = func() (strand.Request, error) { return strand.Iallreduce(comm, op, in, out) }
		f.block = func(ctx context.Context) error { return strand.Allreduce(ctx, comm, op, in, out) }
	case "Scan":
		in, out := operands()
		f.want = k.folded(c, rank, length)
		f.begin = func() (strand.Request, error) { return strand.Iscan(comm, op, in, out) }
		f.block = func(ctx context.Context) error { return strand.Scan(ctx, comm, op, in, out) }
	case "Exscan":
		in, out := operands()
		if rank > 0 {
			f.want = k.folded(c, rank-1, length)
		} else {
			f.want = slices.Clone(out)
		}
		f.begin = func() (strand.Request, error) { return strand.Iexscan(comm, op, in, out) }
		f.block = func(ctx context.Context) error { return strand.Exscan(ctx, comm, op, in, out) }
	case "Gather":
		in, whole := own, []T(nil)
		if atRoot {
			whole = k.out(f, n*length, false, nil)
			f.want = joined(given)
			if c.Inside {
				in = whole[rank*length : (rank+1)*length]
				copy(in, own)
			}
		}
		f.begin = func() (strand.Request, error) { return strand.Igather(comm, in, whole, root) }
		f.block = func(ctx context.Context) error { return strand.Gather(ctx, comm, in, whole, root) }
	case "Allgather":
		in, whole := own, k.out(f, n*length, false, nil)
		f.want = joined(given)
		if c.Inside {
			in = whole[rank*length : (rank+1)*length]
			copy(in, own)
		}
		f.begin = func() (strand.Request, error) { return strand.Iallgather(comm, in, whole) }
		f.block = func(ctx context.Context) error { return strand.Allgather(ctx, comm, in, whole) }
	case "Scatter":
		var whole []T
		out := k.out(f, length, false, nil)
		if atRoot {
			whole = joined(given)
			if f.in = whole; c.Inside {
				out = whole[rank*length : (rank+1)*length]
			}
		}
		f.want, f.got = own, out
		f.begin = func() (strand.Request, error) { return strand.Iscatter(comm, whole, out, root) }
		f.block = func(ctx context.Context) error { return strand.Scatter(ctx, comm, whole, out, root) }
	case "Alltoall":
		in := joined(func(to int) []T { return k.values(c.Seed, rank, to, length) })
		out := k.out(f, n*length, c.Inside, in)
		if f.in = in; c.Inside {
			in = out
		}
		f.want = joined(func(from int) []T { return k.values(c.Seed, from, rank, length) })
		f.begin = func() (strand.Request, error) { return strand.Ialltoall(comm, in, out) }
		f.block = func(ctx context.Context) error { return strand.Alltoall(ctx, comm, in, out) }
	case "ReduceScatterBlock":
		in, whole := k.values(c.Seed, rank, 0, n*length), k.folded(c, n-1, n*length)
		out := k.out(f, length, false, nil)
		if f.in = in; c.Inside {
			out, f.in = in[:length], nil
		}
		f.want, f.got = whole[rank*length:(rank+1)*length], out
		f.begin = func() (strand.Request, error) { return strand.IreduceScatterBlock(comm, op, in, out) }
		f.block = func(ctx context.Context) error { return strand.ReduceScatterBlock(ctx, comm, op, in, out) }
	default:
		k.unevenFlow(f, comm, c, op)
	}
	return f
}

// unevenFlow is that of a call in which ranks give, or get, different lengths.
func (k *typed[T]) unevenFlow(f *flow[T], comm *strand.Comm, c Call, op strand.Op[T]) {
	n, rank, root := comm.Size(), comm.Rank(), c.Root%comm.Size()
	given := func(from int) []T { return k.values(c.Seed, from, 0, c.uneven(from)) }
	all := make([][]T, n)
	for r := range all {
		all[r] = given(r)
	}
	switch c.Name {
	case "Gatherv":
		var pieces [][]T
		if f.in = given(rank); rank == root {
			pieces, f.want2 = k.pieces(f, n, c.uneven), all
		}
		f.begin = func() (strand.Request, error) { return strand.Igatherv(comm, f.in, pieces, root) }
		f.block = func(ctx context.Context) error { return strand.Gatherv(ctx, comm, f.in, pieces, root) }
	case "Allgatherv":
		pieces := k.pieces(f, n, c.uneven)
		f.in, f.want2 = given(rank), all
		f.begin = func() (strand.Request, error) { return strand.Iallgatherv(comm, f.in, pieces) }
		f.block = func(ctx context.Context) error { return strand.Allgatherv(ctx, comm, f.in, pieces) }
	case "Scatterv":
		out := k.out(f, c.uneven(rank), false, nil)
		f.want = given(rank)
		f.begin = func() (strand.Request, error) { return strand.Iscatterv(comm, all, out, root) }
		f.block = func(ctx context.Context) error { return strand.Scatterv(ctx, comm, all, out, root) }
	case "Alltoallv":
		length := func(from, to int) int { return c.uneven(from + 3*to) }
		if c.Inside {
			length = func(from, to int) int { return c.uneven(from + to) }
		}
		in := make([][]T, n)
		f.want2 = make([][]T, n)
		for r := range n {
			in[r] = k.values(c.Seed, rank, r, length(rank, r))
			f.want2[r] = k.values(c.Seed, r, rank, length(r, rank))
		}
		out := k.pieces(f, n, func(from int) int { return length(from, rank) })
		if c.Inside {
			for r := range in {
				in[r] = out[r][:copy(out[r], in[r])]
			}
		}
		f.begin = func() (strand.Request, error) { return strand.Ialltoallv(comm, in, out) }
		f.block = func(ctx context.Context) error { return strand.Alltoallv(ctx, comm, in, out) }
	case "ReduceScatter":
		counts, from, total := make([]int, n), 0, 0
		for r := range counts {
			counts[r] = c.uneven(r)
			if total += counts[r]; r < rank {
				from += counts[r]
			}
		}
		in, out := k.values(c.Seed, rank, 0, total), k.out(f, counts[rank], false, nil)
		f.in, f.want = in, k.folded(c, n-1, total)[from:from+counts[rank]]
		f.begin = func() (strand.Request, error) { return strand.IreduceScatter(comm, op, in, out, counts) }
		f.block = func(ctx context.Context) error { return strand.ReduceScatter(ctx, comm, op, in, out, counts) }
	default:
		k.viewFlow(f, comm, c)
	}
}
