package lu

import (
	"context"
	"math"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

// A state is the five unknowns of a point: density, momentum in three directions, energy.
type state [5]float64

// halo is how many layers around a rank's points belong to its neighbours, in x and y.
const halo = 2

// A domain is a rank's part of the grid: all of z, and a rectangle of x and y. North and south are
// its neighbours in x, west and east in y.
type domain struct {
	problem
	comm                     *strand.Comm
	north, south, west, east int // or strand.ProcNull
	nx, ny                   int
	x0, y0                   int // of the whole grid's points, the first one here
	i, j                     span
	u, rsd, frct             []state // the solution, the residual, the forcing term
	line                     line
	out, in                  [2][]state
	edge                     []state
}

// A span is the points whose values are computed, from lo to below hi: all but those on the boundary of
// the grid.
type span struct{ lo, hi int }

// arrange is how ranks are arranged in x and y: as near to a square as can be.
func arrange(ranks int) (x, y int) {
	for y = int(math.Sqrt(float64(ranks))); ranks%y != 0; y-- {
	}
	return ranks / y, y
}

// share is the first point of a part of n points, and how many it has. The first parts have one more where it does not divide.
func share(n, parts, part int) (first, size int) {
	first, size = part*(n/parts)+min(part, n%parts), n/parts
	if part < n%parts {
		size++
	}
	return first, size
}

func newDomain(c *strand.Comm, p problem) *domain {
	d := &domain{problem: p, comm: c, north: strand.ProcNull, south: strand.ProcNull, west: strand.ProcNull, east: strand.ProcNull}
	me := c.Rank()
	xs, ys := arrange(c.Size())
	d.x0, d.nx = share(p.size, xs, me%xs)
	d.y0, d.ny = share(p.size, ys, me/xs)
	d.i, d.j = span{0, d.nx}, span{0, d.ny}
	if me%xs > 0 {
		d.north = me - 1
	} else {
		d.i.lo = 1
	}
	if me%xs < xs-1 {
		d.south = me + 1
	} else {
		d.i.hi--
	}
	if me/xs > 0 {
		d.west = me - xs
	} else {
		d.j.lo = 1
	}
	if me/xs < ys-1 {
		d.east = me + xs
	} else {
		d.j.hi--
	}
	for _, a := range []*[]state{&d.u, &d.rsd, &d.frct} {
		*a = make([]state, d.at(-halo, -halo, p.size))
	}
	d.line = newLine(max(p.size, d.nx, d.ny))
	for way := range 2 {
		d.out[way], d.in[way] = make([]state, halo*max(d.nx, d.ny)*p.size), make([]state, halo*max(d.nx, d.ny)*p.size)
	}
	d.edge = make([]state, d.ny)
	return d
}

// at is the place of a point in memory.
func (d *domain) at(i, j, k int) int { return (k*(d.ny+2*halo)+j+halo)*(d.nx+2*halo) + i + halo }

// boundary reports whether a point of the whole grid is on its boundary.
func (d *domain) boundary(x, y, z int) bool {
	last := d.size - 1
	return x == 0 || y == 0 || z == 0 || x == last || y == last || z == last
}

// exact is the solution, at a point of the whole grid, that the forcing term is made for.
func (d *domain) exact(x, y, z int) (s state) {
	at := [3]float64{d.unit(x), d.unit(y), d.unit(z)}
	for m := range s {
		c := &exactCoefficients[m]
		s[m] = c[0]
		for dim, t := range at {
			s[m] += t * (c[1+dim] + t*(c[4+dim]+t*(c[7+dim]+t*c[10+dim])))
		}
	}
	return s
}

// unit is a coordinate between 0 and 1.
func (d *domain) unit(x int) float64 { return float64(x) / float64(d.size-1) }

// each calls f for the points that are computed, in all planes of z but the first and the last.
func (d *domain) each(f func(i, j, k, at int)) {
	for k := 1; k < d.size-1; k++ {
		for j := d.j.lo; j < d.j.hi; j++ {
			for i := d.i.lo; i < d.i.hi; i++ {
				f(i, j, k, d.at(i, j, k))
			}
		}
	}
}

// begin sets the solution to the exact one on the boundary, and to what interpolates that elsewhere.
func (d *domain) begin() {
	for k := range d.size {
		for j := range d.ny {
			for i := range d.nx {
				x, y := d.x0+i, d.y0+j
				if d.boundary(x, y, k) {
					d.u[d.at(i, j, k)] = d.exact(x, y, k)
				} else {
					d.u[d.at(i, j, k)] = d.between(x, y, k)
				}
			}
		}
	}
}

func (d *domain) between(x, y, z int) (s state) {
	last := d.size - 1
	x0, x1 := d.exact(0, y, z), d.exact(last, y, z)
	y0, y1 := d.exact(x, 0, z), d.exact(x, last, z)
	z0, z1 := d.exact(x, y, 0), d.exact(x, y, last)
	xi, eta, zeta := d.unit(x), d.unit(y), d.unit(z)
	for m := range s {
		a := (1-xi)*x0[m] + xi*x1[m]
		b := (1-eta)*y0[m] + eta*y1[m]
		c := (1-zeta)*z0[m] + zeta*z1[m]
		s[m] = a + b + c - a*b - b*c - c*a + a*b*c
	}
	return s
}

// force sets the forcing term such that the exact solution is one: it is what the residual would be without it.
func (d *domain) force(ctx context.Context) error {
	for k := range d.size {
		for j := range d.ny {
			for i := range d.nx {
				d.u[d.at(i, j, k)] = d.exact(d.x0+i, d.y0+j, k)
			}
		}
	}
	clear(d.frct)
	if err := d.residual(ctx); err != nil {
		return err
	}
	d.each(func(_, _, _, at int) { d.frct[at] = d.rsd[at] })
	return nil
}

// norms are the roots of the mean squares of values at all points of the grid that are computed.
func (d *domain) norms(ctx context.Context, value func(i, j, k, at int) state) (state, error) {
	var sum state
	d.each(func(i, j, k, at int) {
		for m, v := range value(i, j, k, at) {
			sum[m] += v * v
		}
	})
	err := strand.Allreduce(ctx, d.comm, strand.Sum[float64](), sum[:], sum[:])
	points := float64((d.size - 2) * (d.size - 2) * (d.size - 2))
	for m := range sum {
		sum[m] = math.Sqrt(sum[m] / points)
	}
	return sum, err
}

func (d *domain) residualNorms(ctx context.Context) (state, error) {
	return d.norms(ctx, func(_, _, _, at int) state { return d.rsd[at] })
}

// errorNorms are those of the difference to the exact solution.
func (d *domain) errorNorms(ctx context.Context) (state, error) {
	return d.norms(ctx, func(i, j, k, at int) state {
		e := d.exact(d.x0+i, d.y0+j, k)
		for m, u := range d.u[at] {
			e[m] -= u
		}
		return e
	})
}

// surface is the integral of the pressure over the faces of a box, by the trapezoidal rule: a point on an
// edge of its face counts half as much as one inside.
func (d *domain) surface(ctx context.Context) (float64, error) {
	lo, hi := [3]int{1, 1, 2}, [3]int{d.size - 2, d.size - 3, d.size - 2}
	sum := []float64{0}
	d.each(func(i, j, k, at int) {
		p := [3]int{d.x0 + i, d.y0 + j, k}
		var weight [3]float64
		faces := 0.0
		for dim := range p {
			switch {
			case p[dim] < lo[dim] || p[dim] > hi[dim]:
				return
			case p[dim] == lo[dim] || p[dim] == hi[dim]:
				weight[dim] = 1
			default:
				weight[dim] = 2
			}
		}
		for dim := range p {
			if weight[dim] == 1 {
				faces += weight[(dim+1)%3] * weight[(dim+2)%3]
			}
		}
		u := &d.u[at]
		sum[0] += faces * c2 * (u[4] - 0.5*(u[1]*u[1]+u[2]*u[2]+u[3]*u[3])/u[0])
	})
	err := strand.Allreduce(ctx, d.comm, strand.Sum[float64](), sum, sum)
	return 0.25 * d.unit(1) * d.unit(1) * sum[0], err
}

// checks compare what has been computed with what was published.
func (p problem) checks(residual, errs state, surface float64) (all []npb.Check) {
	for m := range residual {
		all = append(all, npb.Check{Name: "the norm of residual " + string(rune('1'+m)), Got: residual[m], Want: p.residuals[m], Tolerance: tolerance})
	}
	for m := range errs {
		all = append(all, npb.Check{Name: "the norm of error " + string(rune('1'+m)), Got: errs[m], Want: p.errors[m], Tolerance: tolerance})
	}
	return append(all, npb.Check{Name: "the surface integral", Got: surface, Want: p.surface, Tolerance: tolerance})
}
