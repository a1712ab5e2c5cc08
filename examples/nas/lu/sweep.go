package lu

import "context"

const omega = 1.2 // over-relaxation

// factors are those of the Jacobians in a time step, by direction: of flow and of viscosity.
type factors struct {
	flow, viscous, diffuse [3]float64

	// Of the diagonal block.
	unit   float64    // 1 and all diffusion
	moment [3]float64 // viscosity, on momentum
	heat   float64    // conduction
}

func (d *domain) factors() factors {
	inverse := float64(d.size - 1)
	f := factors{unit: 1}
	for dim, diffuse := range diffusion {
		f.flow[dim] = d.step * inverse / 2
		f.viscous[dim] = d.step * inverse * inverse
		f.diffuse[dim] = diffuse
		f.unit += 2 * f.viscous[dim] * diffuse
		f.heat += 2 * f.viscous[dim] * c1345
		for m := range f.moment {
			if m == dim {
				f.moment[m] += 2 * f.viscous[dim] * c34 * r43
			} else {
				f.moment[m] += 2 * f.viscous[dim] * c34
			}
		}
	}
	return f
}

// times adds to sum the Jacobian of the flux in a direction at a point, u, times w. Flow is negative for neighbours
// with lesser coordinates. The Jacobian is never there as a matrix: most of it are products that rows share, or 0.
func times(sum, u, w *state, n, a, b int, flow, viscous, diffuse float64) {
	n, a, b = n&3, a&3, b&3 // they are 1, 2 and 3, which the compiler needs to know
	t := 1 / u[0]
	vn, va, vb, e := t*u[n], t*u[a], t*u[b], t*u[4]
	w0, wn, wa, wb, w4 := w[0], w[n], w[a], w[b], w[4]
	across, acrossW := va*va+vb*vb, va*wa+vb*wb
	k := 0.5 * (vn*vn + across)
	friction, spread := viscous*t*c34, viscous*diffuse

	sum[0] += flow*wn - spread*w0
	sum[n] += flow*((c2*k-vn*vn)*w0+(2-c2)*vn*wn+c2*(w4-acrossW)) - friction*r43*(wn-vn*w0) - spread*wn
	sum[a] += flow*(vn*wa+va*(wn-vn*w0)) - friction*(wa-va*w0) - spread*wa
	sum[b] += flow*(vn*wb+vb*(wn-vn*w0)) - friction*(wb-vb*w0) - spread*wb
	sum[4] += flow*((2*c2*k-c1*e)*vn*w0-c2*vn*acrossW+(c1*e-c2*(k+vn*vn))*wn+c1*vn*w4) -
		viscous*t*((r43*c34-c1345)*vn*(wn-vn*w0)+(c34-c1345)*(acrossW-across*w0)+c1345*(w4-e*w0)) - spread*w4
}

// solve replaces x by the solution y of D·y = x, with the diagonal block of a point, u, which is lower triangular.
func (f *factors) solve(u, x *state) {
	t := 1 / u[0]
	x[0] /= f.unit
	rest := x[4]
	var squares float64
	for m := range 3 {
		v, moment := t*u[m+1], t*f.moment[m]
		x[m+1] = (x[m+1] + moment*v*x[0]) / (f.unit + moment)
		moment -= t * f.heat
		rest -= moment * v * x[m+1]
		squares += moment * v * v
	}
	rest += (squares + t*f.heat*t*u[4]) * x[0]
	x[4] = rest / (f.unit + t*f.heat)
}

// sweeps solve the lower triangular system, from one corner of the grid to the opposite one, and the
// upper one on the way back. A rank begins with a plane when its neighbours have ended with it: many short
// messages.
func (d *domain) sweeps(ctx context.Context) error {
	f := d.factors()
	for k := 1; k < d.size-1; k++ {
		if err := d.receive(ctx, k, tagUp, d.north, -1, d.west, -1); err != nil {
			return err
		}
		d.lower(&f, k)
		if err := d.send(ctx, k, tagUp, d.south, d.nx-1, d.east, d.ny-1); err != nil {
			return err
		}
	}
	for k := d.size - 2; k > 0; k-- {
		if err := d.receive(ctx, k, tagDown, d.south, d.nx, d.east, d.ny); err != nil {
			return err
		}
		d.upper(&f, k)
		if err := d.send(ctx, k, tagDown, d.north, 0, d.west, 0); err != nil {
			return err
		}
	}
	return nil
}

func (d *domain) lower(f *factors, k int) {
	row, plane := d.nx+2*halo, d.at(0, 0, 1)-d.at(0, 0, 0)
	for j := d.j.lo; j < d.j.hi; j++ {
		for i, at := d.i.lo, d.at(d.i.lo, j, k); i < d.i.hi; i, at = i+1, at+1 {
			var sum state
			f.add(&sum, d.u, d.rsd, [3]int{at - 1, at - row, at - plane}, -1)
			x := &d.rsd[at]
			for m := range x {
				x[m] -= omega * sum[m]
			}
			f.solve(&d.u[at], x)
		}
	}
}

func (d *domain) upper(f *factors, k int) {
	row, plane := d.nx+2*halo, d.at(0, 0, 1)-d.at(0, 0, 0)
	for j := d.j.hi - 1; j >= d.j.lo; j-- {
		for i, at := d.i.hi-1, d.at(d.i.hi-1, j, k); i >= d.i.lo; i, at = i-1, at-1 {
			var sum state
			f.add(&sum, d.u, d.rsd, [3]int{at + 1, at + row, at + plane}, 1)
			f.solve(&d.u[at], &sum)
			x := &d.rsd[at]
			for m := range x {
				x[m] -= omega * sum[m]
			}
		}
	}
}

// add adds up the products of a point's neighbours in three directions.
func (f *factors) add(sum *state, u, w []state, at [3]int, sign float64) {
	times(sum, &u[at[2]], &w[at[2]], 3, 1, 2, sign*f.flow[2], f.viscous[2], f.diffuse[2])
	times(sum, &u[at[1]], &w[at[1]], 2, 1, 3, sign*f.flow[1], f.viscous[1], f.diffuse[1])
	times(sum, &u[at[0]], &w[at[0]], 1, 2, 3, sign*f.flow[0], f.viscous[0], f.diffuse[0])
}
