package mg

import (
	"context"
	"math/bits"

	"github.com/strandmp/strand"
)

// A level is a rank's part of a grid. On coarse grids there are fewer points than ranks in a dimension; then
// some ranks have none.
type level struct {
	n          [3]int // points of this rank with the layers around them: 2 where it has none
	neighbours [3][2]int
	idle       bool

	// Between this level and the next coarser one, where some ranks have no points: gives to those
	// of the neighbours that have none there, or takes from those that have.
	gives, takes [3]bool
}

// A place is a rank's in the arrangement of all of them.
type place struct {
	comm  *strand.Comm
	ranks [3]int // in each dimension
	at    [3]int
}

func newPlace(c *strand.Comm) place {
	p, log, rank := place{comm: c}, bits.TrailingZeros(uint(c.Size())), c.Rank()
	p.ranks[0] = 1 << (log / 3)
	p.ranks[1] = 1 << ((log - log/3) / 2)
	p.ranks[2] = c.Size() / (p.ranks[0] * p.ranks[1])
	for d, n := range p.ranks {
		p.at[d] = rank % n
		rank /= n
	}
	return p
}

// rank is that of a place, as if the ends were joined.
func (p place) rank(at [3]int) int {
	for d, n := range p.ranks {
		at[d] = (at[d]%n + n) % n
	}
	return at[0] + p.ranks[0]*(at[1]+p.ranks[1]*at[2])
}

// first is the first point of a rank in a dimension of so many points.
func (p place) first(d, at, points int) int { return at * points / p.ranks[d] }

// levels are those of a grid with size points in each dimension, from coarse to fine: of 2 points, 4, …
func (p place) levels(size int) []*level {
	all := make([]*level, bits.TrailingZeros(uint(size)))
	next := [3]int{1, 1, 1} // how far the next rank with points is
	for k := len(all) - 1; k >= 0; k-- {
		l, points := new(level), size>>(len(all)-1-k)
		for d := range 3 {
			own := p.first(d, p.at[d]+1, points) - p.first(d, p.at[d], points)
			theirs := p.first(d, next[d]+p.at[d]+1, points) - p.first(d, next[d]+p.at[d], points)
			l.n[d] = own + 2
			l.idle = l.idle || own == 0
			if own == 0 || theirs == 0 {
				next[d] *= 2
			}
			if k+1 < len(all) {
				all[k+1].gives[d] = own == 1 && theirs == 0
				all[k+1].takes[d] = own == 0 && theirs == 1
			}
			for side, step := range [2]int{-next[d], next[d]} {
				at := p.at
				at[d] += step
				l.neighbours[d][side] = p.rank(at)
			}
		}
		all[k] = l
	}
	return all
}

// exchanger brings the layers around cubes from the neighbours.
type exchanger struct {
	place
	out, in  [2][]float64
	requests []strand.Request
}

func newExchanger(p place, finest *level) *exchanger {
	n := finest.n
	most := 2 * max(n[0]*n[1], n[1]*n[2], n[0]*n[2])
	e := &exchanger{place: p}
	for side := range 2 {
		e.out[side], e.in[side] = make([]float64, most), make([]float64, most)
	}
	return e
}

// The sides of a cube in a dimension.
const (
	below = iota
	above
)

// exchange fills the layers around a cube: dimension by dimension, so that edges and corners come along.
func (e *exchanger) exchange(ctx context.Context, l *level, c *cube) error {
	if l.idle {
		clear(c.v)
		return nil
	}
	for d := range 3 {
		face := func(at int) box { return l.face(d, at, at+1, true) }
		last := l.n[d] - 1
		if l.neighbours[d] == [2]int{e.comm.Rank(), e.comm.Rank()} { // it is its own neighbour
			c.unpack(face(last), c.pack(face(1), e.out[below]))
			c.unpack(face(0), c.pack(face(last-1), e.out[above]))
			continue
		}
		if err := e.begin(l, d, face(last), face(0)); err != nil {
			return err
		}
		if err := e.give(l, d, c, face(1), face(last-1)); err != nil {
			return err
		}
		if err := e.end(ctx, c, face(last), face(0)); err != nil {
			return err
		}
	}
	return nil
}

// spread brings values to the ranks that had no points on the next coarser level, from those that had.
func (e *exchanger) spread(ctx context.Context, l *level, c *cube) error {
	for d := range 3 {
		face := func(lo, hi int) box { return l.face(d, lo, hi, false) }
		last := l.n[d] - 1
		if l.takes[d] {
			if err := e.begin(l, d, face(last, last+1), face(0, 2)); err != nil {
				return err
			}
			if err := e.end(ctx, c, face(last, last+1), face(0, 2)); err != nil {
				return err
			}
		}
		if l.gives[d] {
			if err := e.give(l, d, c, face(1, 2), face(last-1, last+1)); err != nil {
				return err
			}
			if err := e.end(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// face is the box from lo to below hi in a dimension. In the others it is as large as the cube, or, if
// it is inner, without the layers of the dimensions that have not been exchanged yet.
func (l *level) face(d, lo, hi int, inner bool) box {
	b := box{hi: l.n}
	b.lo[d], b.hi[d] = lo, hi
	for later := d + 1; inner && later < 3; later++ {
		b.lo[later]++
		b.hi[later]--
	}
	return b
}

// begin posts the receives of what goes down, from above, and of what goes up.
func (e *exchanger) begin(l *level, d int, boxes ...box) error {
	for way, b := range boxes {
		r, err := strand.Irecv(e.comm, e.in[way][:b.size()], l.neighbours[d][1-way], 2*d+way)
		if err != nil {
			return err
		}
		e.requests = append(e.requests, r)
	}
	return nil
}

// give sends what goes down, and what goes up.
func (e *exchanger) give(l *level, d int, c *cube, boxes ...box) error {
	for way, b := range boxes {
		r, err := strand.Isend(e.comm, c.pack(b, e.out[way]), l.neighbours[d][way], 2*d+way)
		if err != nil {
			return err
		}
		e.requests = append(e.requests, r)
	}
	return nil
}

// end waits for all that was begun and given, and puts what has come where it belongs.
func (e *exchanger) end(ctx context.Context, c *cube, boxes ...box) error {
	err := strand.WaitAll(ctx, e.requests, nil)
	e.requests = e.requests[:0]
	if err != nil {
		return err
	}
	for way, b := range boxes {
		c.unpack(b, e.in[way])
	}
	return nil
}
