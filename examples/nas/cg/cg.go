// Package cg is the kernel CG of the NAS parallel benchmarks, "conjugate gradient": the smallest
// eigenvalue of a large sparse matrix by inverse iteration, with 25 steps of the conjugate gradient method each. Short sums and
// medium messages in turn: latency decides.
package cg

import (
	"context"
	"fmt"
	"math"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

// Kernel is CG.
var Kernel = npb.Kernel{Name: "CG", Title: "conjugate gradient: irregular access, short sums", Permits: permits, Run: run}

const (
	steps     = 25 // of the conjugate gradient method in an iteration
	tolerance = 1e-10
)

// A problem is a matrix and the published estimate of its eigenvalue.
type problem struct {
	order, nonzeros, iterations int
	shift, zeta                 float64
}

var problems = map[npb.Class]problem{
	npb.S: {1400, 7, 15, 10, 8.5971775078648},
	npb.W: {7000, 8, 15, 12, 10.362595087124},
	npb.A: {14000, 11, 15, 20, 17.130235054029},
	npb.B: {75000, 13, 75, 60, 22.712745482631},
}

func permits(_ npb.Class, ranks int) error { return npb.PowerOfTwo(ranks) }

func run(ctx context.Context, c *strand.Comm, class npb.Class) (*npb.Result, error) {
	p := problems[class]
	s, err := newSolver(ctx, c, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.line.Free() }()         // it was made here; a failed Free leaves nothing to do
	if _, err := s.iterate(ctx, 1); err != nil { // all memory is touched, and all connections are made, before it counts
		return nil, err
	}
	start, err := npb.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	zeta, err := s.iterate(ctx, p.iterations)
	if err != nil {
		return nil, err
	}
	seconds, err := npb.Seconds(ctx, c, start)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	row := float64(p.nonzeros * (p.nonzeros + 1))
	return &npb.Result{
		Kernel: "CG", Class: class, Size: fmt.Sprint(p.order), Iterations: p.iterations, Ranks: c.Size(), Seconds: seconds,
		Mops:      float64(2*p.iterations*p.order) * (3 + row + steps*(5+row) + 3) / seconds / 1e6,
		Operation: "floating point", Checks: []npb.Check{{Name: "zeta", Got: zeta, Want: p.zeta, Tolerance: tolerance}},
	}, nil
}

// A solver has a rank's part of the matrix and of all vectors.
type solver struct {
	*grid
	problem
	a             *matrix
	x, z, p, q, r []float64
	w             []float64 // the block times a vector: part of a sum
}

func newSolver(ctx context.Context, c *strand.Comm, p problem) (*solver, error) {
	g, err := newGrid(ctx, c, p.order)
	if err != nil {
		return nil, err
	}
	s := &solver{grid: g, problem: p, a: newMatrix(p, g.rows, g.columns), w: make([]float64, g.rows.size())}
	for _, v := range []*[]float64{&s.x, &s.z, &s.p, &s.q, &s.r} {
		*v = make([]float64, g.columns.size())
	}
	return s, nil
}

// iterate makes iterations of the inverse power method and returns the last estimate.
func (s *solver) iterate(ctx context.Context, n int) (zeta float64, err error) {
	for i := range s.x {
		s.x[i] = 1
	}
	for i := range n {
		if _, err := s.conjugateGradient(ctx); err != nil {
			return 0, fmt.Errorf("iteration %d: %w", i+1, err)
		}
		products := []float64{dot(s.x, s.z), dot(s.z, s.z)}
		if err := s.sum(ctx, products); err != nil {
			return 0, err
		}
		zeta = s.shift + 1/products[0]
		norm := 1 / math.Sqrt(products[1])
		for j, z := range s.z {
			s.x[j] = norm * z
		}
	}
	return zeta, nil
}

// conjugateGradient solves A·z = x, roughly, and returns the norm of the residual.
func (s *solver) conjugateGradient(ctx context.Context) (norm float64, err error) {
	clear(s.z)
	copy(s.r, s.x)
	copy(s.p, s.x)
	rho := []float64{dot(s.r, s.r)}
	if err := s.sum(ctx, rho); err != nil {
		return 0, err
	}
	for range steps {
		if err := s.multiply(ctx, s.p, s.q); err != nil {
			return 0, err
		}
		d := []float64{dot(s.p, s.q)}
		if err := s.sum(ctx, d); err != nil {
			return 0, err
		}
		before := rho[0]
		rho[0] = advance(before/d[0], s.z, s.p, s.r, s.q)
		if err := s.sum(ctx, rho); err != nil {
			return 0, err
		}
		combine(s.r, rho[0]/before, s.p)
	}
	if err := s.multiply(ctx, s.z, s.q); err != nil {
		return 0, err
	}
	difference := []float64{0}
	for i, x := range s.x {
		d := x - s.q[i]
		difference[0] += d * d
	}
	err = s.sum(ctx, difference)
	return math.Sqrt(difference[0]), err
}

// multiply sets y to the whole matrix times x.
func (s *solver) multiply(ctx context.Context, x, y []float64) error {
	s.a.times(x, s.w)
	return s.gather(ctx, s.w, y)
}

func dot(x, y []float64) (sum float64) {
	y = y[:len(x)]
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// advance adds α·p to z, takes α·q from r and returns r·r.
func advance(alpha float64, z, p, r, q []float64) (sum float64) {
	p, r, q = p[:len(z)], r[:len(z)], q[:len(z)]
	for i := range z {
		z[i] += alpha * p[i]
		r[i] -= alpha * q[i]
		sum += r[i] * r[i]
	}
	return sum
}

// combine sets p to r + β·p.
func combine(r []float64, beta float64, p []float64) {
	p = p[:len(r)]
	for i := range r {
		p[i] = r[i] + beta*p[i]
	}
}
