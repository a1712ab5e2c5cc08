// Package lu is the kernel LU of the NAS parallel benchmarks: the compressible Navier–Stokes equations in
// three dimensions by symmetric successive over-relaxation. Sweeps go through the grid like a wave, plane by plane: short messages,
// for each of which a neighbour waits.
package lu

import (
	"context"
	"fmt"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

// Kernel is LU.
var Kernel = npb.Kernel{Name: "LU", Title: "a wave of short messages", Permits: permits, Run: run}

const tolerance = 1e-8

// A problem is a cube of so many points in each dimension, with the published norms and surface integral.
type problem struct {
	size, steps int
	step        float64 // of time
	residuals   state
	errors      state
	surface     float64
}

func permits(class npb.Class, ranks int) error {
	x, y := arrange(ranks)
	if size := problems[class].size; size/x < 3 || size/y < 3 {
		return fmt.Errorf("%d ranks, as %d × %d: want at least 3 of the %d points of class %v for each", ranks, x, y, size, class)
	}
	return nil
}

func run(ctx context.Context, c *strand.Comm, class npb.Class) (*npb.Result, error) {
	p := problems[class]
	d := newDomain(c, p)
	if err := d.force(ctx); err != nil {
		return nil, err
	}
	d.begin()
	if err := d.relax(ctx, 1); err != nil { // all memory is touched, and all connections are made, before it counts
		return nil, err
	}
	d.begin()
	start, err := npb.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := d.relax(ctx, p.steps); err != nil {
		return nil, err
	}
	residual, err := d.residualNorms(ctx)
	if err != nil {
		return nil, err
	}
	seconds, err := npb.Seconds(ctx, c, start)
	if err != nil {
		return nil, err
	}
	errs, err := d.errorNorms(ctx)
	if err != nil {
		return nil, err
	}
	surface, err := d.surface(ctx)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	return &npb.Result{
		Kernel: "LU", Class: class, Size: fmt.Sprintf("%dx%dx%d", p.size, p.size, p.size), Iterations: p.steps, Ranks: c.Size(), Seconds: seconds,
		Mops: p.operations() / seconds / 1e6, Operation: "floating point", Checks: p.checks(residual, errs, surface),
	}, nil
}

// operations is how NPB counts them.
func (p problem) operations() float64 {
	n := float64(p.size)
	return float64(p.steps) * (1984.77*n*n*n - 10923.3*n*n + 27770.9*n - 144010)
}

// relax makes so many time steps.
func (d *domain) relax(ctx context.Context, steps int) error {
	if err := d.residual(ctx); err != nil {
		return err
	}
	for step := range steps {
		if err := d.relaxOnce(ctx); err != nil {
			return fmt.Errorf("time step %d: %w", step+1, err)
		}
	}
	return nil
}

func (d *domain) relaxOnce(ctx context.Context) error {
	d.update(d.rsd, d.rsd, d.step-1)
	if err := d.sweeps(ctx); err != nil {
		return err
	}
	d.update(d.u, d.rsd, 1/(omega*(2-omega)))
	return d.residual(ctx)
}

// update adds a multiple of w to v at the points that are computed.
func (d *domain) update(v, w []state, factor float64) {
	for k := 1; k < d.size-1; k++ {
		for j := d.j.lo; j < d.j.hi; j++ {
			lo, hi := d.at(d.i.lo, j, k), d.at(d.i.hi, j, k)
			vs, ws := v[lo:hi], w[lo:hi]
			for i := range vs {
				for m := range vs[i] {
					vs[i][m] += factor * ws[i][m]
				}
			}
		}
	}
}
