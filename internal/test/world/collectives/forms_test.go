package collectives_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// lengthOf is how much a rank gives where ranks give different lengths.
func lengthOf(rank int) int { return 100 * (rank * 3 % 4) }

// cutUp returns memory for pieces of so many values, by rank.
func cutUp(n int, length func(rank int) int) [][]int64 {
	pieces := make([][]int64, n)
	for r := range pieces {
		pieces[r] = make([]int64, length(r))
	}
	return pieces
}

// given are the pieces that all ranks give.
func given(n int) [][]int64 {
	pieces := make([][]int64, n)
	for r := range pieces {
		pieces[r] = of(r, lengthOf(r))
	}
	return pieces
}

// A form is a call that goes on by itself or a blocking one, and what it gives.
type form struct {
	begin func() (strand.Request, error)
	block func() error
	got   any
	want  any
	only  int // the rank that gets it; −1: all
}

// forms are all calls that take values, but for those that TestCollectives has, in both forms.
func forms(ctx context.Context, c *strand.Comm, n, root int) []form {
	const length = 300
	rank, sum := c.Rank(), strand.Sum[int64]()
	own, one := of(rank, length), func() []int64 { return make([]int64, length) }
	mine := of(rank, lengthOf(rank))
	counts, total := make([]int, n), 0
	for r := range counts {
		counts[r] = lengthOf(r)
		total += counts[r]
	}
	at := 0
	for r := range rank {
		at += counts[r]
	}
	var all []form
	add := func(got, want any, only int, begin func() (strand.Request, error), block func() error) {
		all = append(all, form{begin, block, got, want, only})
	}
	for range 2 { // memory of its own for each form
		reduced, scanned, before, gathered := one(), one(), one(), make([]int64, n*length)
		add(reduced, sums(n-1, length), root, func() (strand.Request, error) { return strand.Ireduce(c, sum, own, reduced, root) },
			func() error { return strand.Reduce(ctx, c, sum, own, reduced, root) })
		add(scanned, sums(rank, length), -1, func() (strand.Request, error) { return strand.Iscan(c, sum, own, scanned) },
			func() error { return strand.Scan(ctx, c, sum, own, scanned) })
		add(before, sums(rank-1, length), -1, func() (strand.Request, error) { return strand.Iexscan(c, sum, own, before) },
			func() error { return strand.Exscan(ctx, c, sum, own, before) })
		add(gathered, joined(n, length), root, func() (strand.Request, error) { return strand.Igather(c, own, gathered, root) },
			func() error { return strand.Gather(ctx, c, own, gathered, root) })
		everywhere, part, part2, copied := make([]int64, n*length), one(), one(), one()
		if rank == root {
			copy(copied, own)
		}
		add(everywhere, joined(n, length), -1, func() (strand.Request, error) { return strand.Iallgather(c, own, everywhere) },
			func() error { return strand.Allgather(ctx, c, own, everywhere) })
		add(part, own, -1, func() (strand.Request, error) { return strand.Iscatter(c, joined(n, length), part, root) },
			func() error { return strand.Scatter(ctx, c, joined(n, length), part, root) })
		add(copied, of(root, length), -1, func() (strand.Request, error) { return strand.Ibcast(c, copied, root) },
			func() error { return strand.Bcast(ctx, c, copied, root) })
		add(part2, sums(n-1, n*length)[rank*length:(rank+1)*length], -1,
			func() (strand.Request, error) { return strand.IreduceScatterBlock(c, sum, of(rank, n*length), part2) },
			func() error { return strand.ReduceScatterBlock(ctx, c, sum, of(rank, n*length), part2) })
		share := make([]int64, counts[rank])
		add(share, sums(n-1, total)[at:at+counts[rank]], -1,
			func() (strand.Request, error) { return strand.IreduceScatter(c, sum, of(rank, total), share, counts) },
			func() error { return strand.ReduceScatter(ctx, c, sum, of(rank, total), share, counts) })
		pieces, pieces2, piece := cutUp(n, lengthOf), cutUp(n, lengthOf), make([]int64, lengthOf(rank))
		add(pieces, given(n), root, func() (strand.Request, error) { return strand.Igatherv(c, mine, pieces, root) },
			func() error { return strand.Gatherv(ctx, c, mine, pieces, root) })
		add(pieces2, given(n), -1, func() (strand.Request, error) { return strand.Iallgatherv(c, mine, pieces2) },
			func() error { return strand.Allgatherv(ctx, c, mine, pieces2) })
		add(piece, mine, -1, func() (strand.Request, error) { return strand.Iscatterv(c, given(n), piece, root) },
			func() error { return strand.Scatterv(ctx, c, given(n), piece, root) })
		// Each sends as much as the receiver's rank says.
		out, in, want := cutUp(n, func(int) int { return lengthOf(rank) }), make([][]int64, n), make([][]int64, n)
		for r := range n {
			in[r], want[r] = of(rank, lengthOf(r)), of(r, lengthOf(rank))
		}
		add(out, want, -1, func() (strand.Request, error) { return strand.Ialltoallv(c, in, out) },
			func() error { return strand.Alltoallv(ctx, c, in, out) })
		swapped, whole := make([]int64, n*length), make([]int64, 0, n*length)
		for r := range n {
			whole = append(whole, of(r, length*n)[rank*length:(rank+1)*length]...)
		}
		add(swapped, whole, -1, func() (strand.Request, error) { return strand.Ialltoall(c, of(rank, n*length), swapped) },
			func() error { return strand.Alltoall(ctx, c, of(rank, n*length), swapped) })
	}
	return all
}

// All calls give the same whether they block or go on by themselves, several at a time.
func TestAllForms(t *testing.T) {
	for _, list := range over() {
		for _, n := range []int{1, 3, 4} {
			w := world.Open(t, n, strand.WithParam("btl", list))
			together(t, w, func(ctx context.Context, c *strand.Comm) error {
				all := forms(ctx, c, n, n/2)
				var requests []strand.Request
				for _, f := range all[:len(all)/2] {
					r, err := f.begin()
					if err != nil {
						return err
					}
					requests = append(requests, r)
				}
				for _, f := range all[len(all)/2:] {
					if err := f.block(); err != nil {
						return err
					}
				}
				if err := strand.WaitAll(ctx, requests, nil); err != nil {
					return err
				}
				for i, f := range all {
					if f.only < 0 || f.only == c.Rank() {
						assert.Equal(t, f.want, f.got, "form %d, rank %d of %d over %s", i, c.Rank(), n, list)
					}
				}
				return nil
			})
		}
	}
}
