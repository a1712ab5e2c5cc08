package collectives_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// Where MPI has MPI_IN_PLACE a rank gives its part where it lies in the whole, or has it stay there: by messages, and by memory that all
// have in common.
func TestPartsInPlace(t *testing.T) {
	const n, root, calls = 4, 2, 40 // more than are made before there is such memory
	for _, list := range over() {
		for _, length := range []int{1, 700, 20_000} {
			t.Run(fmt.Sprintf("%s, %d values", list, length), func(t *testing.T) {
				w := world.Open(t, n, strand.WithParam("btl", list))
				together(t, w, func(ctx context.Context, c *strand.Comm) error {
					for range calls {
						if err := c.Barrier(ctx); err != nil {
							return err
						}
					}
					return partsInPlace(ctx, t, c, root, length)
				})
			})
		}
	}
}

func partsInPlace(ctx context.Context, t *testing.T, c *strand.Comm, root, length int) error {
	n, rank := c.Size(), c.Rank()
	whole, all := make([]int64, n*length), joined(n, length)
	pieces := make([][]int64, n)
	for r := range n {
		pieces[r] = whole[r*length : (r+1)*length]
	}
	own, sum := pieces[rank], strand.Sum[int64]()
	counts := slices.Repeat([]int{length}, n)
	steps := []struct {
		name       string
		given, got []int64 // what whole is before, and what part of it is to be
		want       []int64
		call       func() error
	}{
		{"Allgather", nil, whole, all, func() error { return strand.Allgather(ctx, c, own, whole) }},
		{"Allgatherv", nil, whole, all, func() error { return strand.Allgatherv(ctx, c, own, pieces) }},
		{"Gather", nil, atRoot(c, root, whole), all, func() error { return strand.Gather(ctx, c, own, whole, root) }},
		{"Gatherv", nil, atRoot(c, root, whole), all, func() error { return strand.Gatherv(ctx, c, own, pieces, root) }},
		{"Scatter", atRoot(c, root, all), own, of(rank, length), func() error { return strand.Scatter(ctx, c, whole, own, root) }},
		{"Scatterv", atRoot(c, root, all), own, of(rank, length), func() error { return strand.Scatterv(ctx, c, pieces, own, root) }},
		{"ReduceScatter", all, whole[:length], times(n, of(rank, length)), func() error { return strand.ReduceScatter(ctx, c, sum, whole, whole[:length], counts) }},
		{"ReduceScatterBlock", all, whole[:length], times(n, of(rank, length)), func() error { return strand.ReduceScatterBlock(ctx, c, sum, whole, whole[:length]) }},
	}
	for _, s := range steps {
		clear(whole)
		copy(own, of(rank, length))
		if s.given != nil {
			copy(whole, s.given)
		}
		if err := s.call(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if s.got != nil {
			assert.True(t, slices.Equal(s.want, s.got), "%s, rank %d", s.name, rank)
		}
	}
	return nil
}

// atRoot is the values where the root is, and none elsewhere.
func atRoot(c *strand.Comm, root int, values []int64) []int64 {
	if c.Rank() != root {
		return nil
	}
	return values
}

func times(n int, values []int64) []int64 {
	for i := range values {
		values[i] *= int64(n)
	}
	return values
}
