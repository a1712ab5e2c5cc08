package lu

import "context"

// Constants of the equations: the ratio of specific heats and what follows from it; conductivity and
// viscosity; dissipation.
const (
	c1, c2      = 1.4, 0.4
	c34         = 0.1 * 1.0
	c15         = c1 * 1.4
	c1345       = c15 * c34
	r43         = 4.0 / 3
	dissipation = 1.0 / 4
)

// diffusion is that of each direction.
var diffusion = [3]float64{0.75, 0.75, 1}

// residual sets the residual of the points that are computed: of the steady state, less the forcing term.
// Directions are independent of each other, and lines of points too.
func (d *domain) residual(ctx context.Context) error {
	for at, f := range d.frct {
		for m := range f {
			d.rsd[at][m] = -f[m]
		}
	}
	if err := d.exchangeX(ctx); err != nil {
		return err
	}
	for k := 1; k < d.size-1; k++ {
		for j := d.j.lo; j < d.j.hi; j++ {
			d.along(0, d.at(0, j, k), 1, d.nx, d.i)
		}
	}
	if err := d.exchangeY(ctx); err != nil {
		return err
	}
	for k := 1; k < d.size-1; k++ {
		for i := d.i.lo; i < d.i.hi; i++ {
			d.along(1, d.at(i, 0, k), d.nx+2*halo, d.ny, d.j)
		}
	}
	for j := d.j.lo; j < d.j.hi; j++ {
		for i := d.i.lo; i < d.i.hi; i++ {
			d.along(2, d.at(i, j, 0), d.at(0, 0, 1)-d.at(0, 0, 0), d.size, span{1, d.size - 1})
		}
	}
	return nil
}

// A line has the points of one, those of the neighbours included: point i is at i + halo. Momentum in
// the direction of the line comes first.
type line struct {
	u, flux, viscous []state
}

func newLine(points int) line {
	n := points + 2*halo
	return line{make([]state, n), make([]state, n), make([]state, n)}
}

// along adds the contributions of one direction to the residual of a line of so many points: those in
// the span. The line begins at a place in memory.
func (d *domain) along(direction, start, stride, points int, s span) {
	normal := direction + 1
	from, to := max(s.lo-halo, -halo), min(s.hi+halo, points+halo)
	if s.lo == 1 {
		from = 0
	}
	if s.hi == points-1 {
		to = points
	}
	for i, at := from, start+from*stride; i < to; i, at = i+1, at+stride {
		u := &d.u[at]
		p := &d.line.u[i+halo]
		*p = *u
		p[1], p[normal] = u[normal], u[1]
	}
	inverse := float64(d.size - 1) // of the distance of two points
	d.line.fluxes(s, inverse)
	u, flux, viscous := d.line.u, d.line.flux, d.line.viscous
	t2, t3, diffuse := inverse/2, inverse*c34, diffusion[direction]*inverse*inverse
	for i := s.lo; i < s.hi; i++ {
		n := i + halo
		var sum state
		before, here, after := &u[n-1], &u[n], &u[n+1]
		f0, f1, v0, v1 := &flux[n-1], &flux[n+1], &viscous[n], &viscous[n+1]
		for m := range sum {
			sum[m] = t3*(v1[m]-v0[m]) - t2*(f1[m]-f0[m]) + diffuse*(before[m]-2*here[m]+after[m])
		}
		d.line.dissipate(&sum, n, s.lo == 1 && i <= 2, i == 1 && s.lo == 1, s.hi == points-1 && i >= points-3, i == points-2 && s.hi == points-1)
		r := &d.rsd[start+i*stride]
		sum[1], sum[normal] = sum[normal], sum[1]
		for m := range r {
			r[m] += sum[m]
		}
	}
}

// fluxes computes what flows through each point of a line, and what viscosity carries from the point before.
func (l *line) fluxes(s span, inverse float64) {
	lo, hi := s.lo-1+halo, s.hi+1+halo
	var before struct{ n, a, b, square, e float64 }
	for i := lo; i < hi; i++ {
		u, f, v := &l.u[i], &l.flux[i], &l.viscous[i]
		t := 1 / u[0]
		n, a, b, e := t*u[1], t*u[2], t*u[3], t*u[4]
		square := n*n + a*a + b*b
		q := 0.5 * u[0] * square
		f[0] = u[1]
		f[1] = u[1]*n + c2*(u[4]-q)
		f[2] = u[2] * n
		f[3] = u[3] * n
		f[4] = (c1*u[4] - c2*q) * n
		v[1] = r43 * inverse * (n - before.n)
		v[2] = inverse * (a - before.a)
		v[3] = inverse * (b - before.b)
		v[4] = inverse * (0.5*(1-c15)*(square-before.square) + (n*n-before.n*before.n)/6 + c15*(e-before.e))
		before.n, before.a, before.b, before.square, before.e = n, a, b, square, e
	}
}

// dissipate takes the fourth differences from a sum. Next to the boundary of the grid they lack what would be beyond it.
func (l *line) dissipate(sum *state, n int, low, lowest, high, highest bool) {
	here, before, after := &l.u[n], &l.u[n-1], &l.u[n+1]
	centre := 6.0
	if lowest || highest {
		centre = 5
	}
	for m := range sum {
		sum[m] -= dissipation * centre * here[m]
	}
	if !lowest {
		for m := range sum {
			sum[m] += dissipation * 4 * before[m]
		}
	}
	if !highest {
		for m := range sum {
			sum[m] += dissipation * 4 * after[m]
		}
	}
	if !low {
		for m, v := range l.u[n-2] {
			sum[m] -= dissipation * v
		}
	}
	if !high {
		for m, v := range l.u[n+2] {
			sum[m] -= dissipation * v
		}
	}
}
