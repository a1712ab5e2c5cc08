// Package ft is the kernel FT of the NAS parallel benchmarks, "Fourier transform": a diffusion equation
// in three dimensions by Fourier transforms. All ranks exchange their whole memory in each of them.
package ft

import (
	"context"
	"fmt"
	"math"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

// Kernel is FT.
var Kernel = npb.Kernel{Name: "FT", Title: "Fourier transforms: long messages, all to all", Permits: permits, Run: run}

const tolerance = 1e-12

// A problem is a box of so many points and the published checksum of each time step.
type problem struct {
	nx, ny, nz int
	sums       []complex128
}

func (p problem) points() int { return p.nx * p.ny * p.nz }

// permits as many ranks as there are planes. NPB's programs go on from there with rods.
func permits(class npb.Class, ranks int) error {
	if err := npb.PowerOfTwo(ranks); err != nil {
		return err
	}
	if most := problems[class].nz; ranks > most {
		return fmt.Errorf("%d ranks: want at most %d, one for each plane of class %v", ranks, most, class)
	}
	return nil
}

func run(ctx context.Context, c *strand.Comm, class npb.Class) (*npb.Result, error) {
	p := problems[class]
	f := newField(c, p)
	if err := f.begin(ctx); err != nil { // all memory is touched, and all connections are made, before it counts
		return nil, err
	}
	start, err := npb.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	var checks []npb.Check
	for t, want := range p.sums {
		if err := f.evolveToSpace(ctx); err != nil {
			return nil, fmt.Errorf("time step %d: %w", t+1, err)
		}
		sum, err := f.checksum(ctx)
		if err != nil {
			return nil, fmt.Errorf("time step %d: %w", t+1, err)
		}
		checks = append(checks, check(t, sum, want))
	}
	seconds, err := npb.Seconds(ctx, c, start)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	points := float64(p.points())
	log, steps := math.Log(points), float64(len(p.sums))
	return &npb.Result{
		Kernel: "FT", Class: class, Size: fmt.Sprintf("%dx%dx%d", p.nx, p.ny, p.nz), Iterations: len(p.sums), Ranks: c.Size(), Seconds: seconds,
		Mops:      points * (14.8157 + 7.19641*log + (5.23518+7.21113*log)*steps) / seconds / 1e6,
		Operation: "floating point", Checks: checks,
	}, nil
}

// begin makes the field and its waves.
func (f *field) begin(ctx context.Context) error {
	f.plan()
	f.fill()
	return f.toWaves(ctx)
}

// check compares complex numbers, as NPB does: by the absolute value of their difference, here put as
// a real number beside its published one.
func check(step int, got, want complex128) npb.Check {
	quotient := (got - want) / want
	return npb.Check{Name: fmt.Sprintf("checksum %d, relative to the published one,", step+1), Got: 1 + math.Hypot(real(quotient), imag(quotient)), Want: 1, Tolerance: tolerance}
}
