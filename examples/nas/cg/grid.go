package cg

import (
	"context"
	"math/bits"

	"github.com/strandmp/strand"
)

// A grid is how the matrix is dealt out: ranks are in rows and columns, as many of these as of those or
// twice as many. Each has a block of the matrix, and of vectors the part that its columns multiply.
type grid struct {
	comm          *strand.Comm
	line          *strand.Comm // the ranks of the same row, which have the whole vector together
	rows, columns span
	own           span // of the block's rows: those whose sums end here
	transposed    int  // the rank that has what is own here as columns
	steps         []step
	buffer        []float64
}

// A step exchanges parts of a vector with a rank of the same row and adds what comes.
type step struct {
	peer int
	send span
}

// share is a part of n things, dealt out to as many parts; the first ones have one more where it does not divide.
func share(n, parts, i int) span {
	size, more := n/parts, n%parts
	lo := i*size + min(i, more)
	if i < more {
		size++
	}
	return span{lo, lo + size}
}

// half is the first half of a span, which is not the smaller one, or the second.
func half(s span, second bool) span {
	middle := s.lo + (s.size()+1)/2
	if second {
		return span{middle, s.hi}
	}
	return span{s.lo, middle}
}

func newGrid(ctx context.Context, c *strand.Comm, order int) (*grid, error) {
	me, log := c.Rank(), bits.TrailingZeros(uint(c.Size()))
	nrows, ncolumns := 1<<(log/2), 1<<((log+1)/2)
	row, column := me/ncolumns, me%ncolumns
	g := &grid{comm: c, rows: share(order, nrows, row)}
	g.own = span{0, g.rows.size()}
	if nrows == ncolumns {
		g.columns = share(order, ncolumns, column)
		g.transposed = column*nrows + row
	} else {
		g.columns = half(share(order, nrows, column/2), column%2 == 1)
		g.own = half(g.own, column%2 == 1)
		g.transposed = 2*(column/2*nrows+row) + column%2
	}
	for distance := 1; distance < ncolumns; distance *= 2 {
		s := step{row*ncolumns + (column ^ distance), g.own}
		if distance == 1 && nrows != ncolumns {
			s.send = half(span{0, g.rows.size()}, column%2 == 0) // the neighbour's half
		}
		g.steps = append(g.steps, s)
	}
	g.buffer = make([]float64, max(g.rows.size(), g.columns.size()))
	var err error
	g.line, err = c.Split(ctx, row, column)
	return g, err
}

// sum adds up values of the ranks of a row.
func (g *grid) sum(ctx context.Context, values []float64) error {
	return strand.Allreduce(ctx, g.line, strand.Sum[float64](), values, values)
}

// gather adds up products of all blocks of a row, w, which it changes, and gives each rank the part of
// the sum that its columns multiply.
func (g *grid) gather(ctx context.Context, w, out []float64) error {
	in := g.buffer[:g.own.size()]
	for i, s := range g.steps {
		if _, _, err := strand.Sendrecv(ctx, g.comm, w[s.send.lo:s.send.hi], s.peer, i, in, s.peer, i); err != nil {
			return err
		}
		for j, v := range in {
			w[g.own.lo+j] += v
		}
	}
	part := w[g.own.lo:g.own.hi]
	if g.transposed == g.comm.Rank() {
		copy(out, part)
		return nil
	}
	_, _, err := strand.Sendrecv(ctx, g.comm, part, g.transposed, len(g.steps), out, g.transposed, len(g.steps))
	return err
}
