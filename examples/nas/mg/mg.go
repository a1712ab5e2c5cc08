// Package mg is the kernel MG of the NAS parallel benchmarks, "multigrid": V cycles on the scalar
// Poisson equation in a periodic cube. Neighbours exchange faces of all sizes, from long ones of the finest grid to
// single values of the coarsest.
package mg

import (
	"context"
	"fmt"
	"math"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

// Kernel is MG.
var Kernel = npb.Kernel{Name: "MG", Title: "multigrid: neighbours, long and short messages", Permits: permits, Run: run}

const tolerance = 1e-8

// A problem is a cube of so many points in each dimension and the published norm of the last residual.
type problem struct {
	size, iterations int
	smoother         [3]float64
	norm             float64
}

var (
	smootherA = [3]float64{-3.0 / 8, 1.0 / 32, -1.0 / 64}
	smootherB = [3]float64{-3.0 / 17, 1.0 / 33, -1.0 / 61}

	problems = map[npb.Class]problem{
		npb.S: {32, 4, smootherA, 0.5307707005734e-4},
		npb.W: {128, 4, smootherA, 0.6467329375339e-5},
		npb.A: {256, 4, smootherA, 0.2433365309069e-5},
		npb.B: {256, 20, smootherB, 0.1800564401355e-5},
	}
)

func permits(class npb.Class, ranks int) error {
	if err := npb.PowerOfTwo(ranks); err != nil {
		return err
	}
	if size := problems[class].size; ranks > size*size*size/8 {
		return fmt.Errorf("%d ranks: want at most %d, two points of class %v in each dimension", ranks, size*size*size/8, class)
	}
	return nil
}

func run(ctx context.Context, c *strand.Comm, class npb.Class) (*npb.Result, error) {
	p := problems[class]
	s := newSolver(c, p)
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.iterate(ctx, 1); err != nil { // all memory is touched, and all connections are made, before it counts
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	start, err := npb.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := s.iterate(ctx, p.iterations); err != nil {
		return nil, err
	}
	norm, err := s.norm(ctx)
	if err != nil {
		return nil, err
	}
	seconds, err := npb.Seconds(ctx, c, start)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	points := float64(p.size * p.size * p.size)
	return &npb.Result{
		Kernel: "MG", Class: class, Size: fmt.Sprintf("%dx%dx%d", p.size, p.size, p.size), Iterations: p.iterations, Ranks: c.Size(), Seconds: seconds,
		Mops: 58 * float64(p.iterations) * points / seconds / 1e6, Operation: "floating point",
		Checks: []npb.Check{{Name: "the norm of the residual", Got: norm, Want: p.norm, Tolerance: tolerance}},
	}, nil
}

// A solver has a rank's part of all levels.
type solver struct {
	*exchanger
	problem
	levels         []*level // from coarse to fine
	u, r           []cube   // the solution and the residual of each
	v              cube     // the right hand side, of the finest
	near, diagonal []float64
}

func newSolver(c *strand.Comm, p problem) *solver {
	place := newPlace(c)
	s := &solver{problem: p, levels: place.levels(p.size)}
	for _, l := range s.levels {
		s.u, s.r = append(s.u, newCube(l.n)), append(s.r, newCube(l.n))
	}
	s.exchanger = newExchanger(place, s.finest())
	s.v = newCube(s.finest().n)
	s.near, s.diagonal = make([]float64, s.v.n[0]), make([]float64, s.v.n[0])
	return s
}

func (s *solver) finest() *level { return s.levels[len(s.levels)-1] }

// prepare sets the right hand side, and the solution to 0.
func (s *solver) prepare(ctx context.Context) error {
	clear(s.u[len(s.u)-1].v)
	return s.charge(ctx, &s.v)
}

// iterate makes so many V cycles.
func (s *solver) iterate(ctx context.Context, n int) error {
	top := len(s.levels) - 1
	if err := s.evaluate(ctx, top, &s.v); err != nil {
		return err
	}
	if _, err := s.norm(ctx); err != nil { // NPB times it
		return err
	}
	for i := range n {
		if err := s.cycle(ctx); err != nil {
			return fmt.Errorf("cycle %d: %w", i+1, err)
		}
		if err := s.evaluate(ctx, top, &s.v); err != nil {
			return err
		}
	}
	return nil
}

// cycle goes from the finest grid to the coarsest and back.
func (s *solver) cycle(ctx context.Context) error {
	top := len(s.levels) - 1
	for k := top; k > 0; k-- {
		s.restrict(&s.r[k], &s.r[k-1])
		if err := s.exchange(ctx, s.levels[k-1], &s.r[k-1]); err != nil {
			return err
		}
	}
	clear(s.u[0].v)
	if err := s.correct(ctx, 0); err != nil {
		return err
	}
	for k := 1; k <= top; k++ {
		right := &s.r[k]
		if k == top {
			right = &s.v
		} else {
			clear(s.u[k].v)
		}
		s.interpolate(&s.u[k-1], &s.u[k])
		if err := s.spread(ctx, s.levels[k], &s.u[k]); err != nil {
			return err
		}
		if err := s.evaluate(ctx, k, right); err != nil {
			return err
		}
		if err := s.correct(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// evaluate sets a level's residual.
func (s *solver) evaluate(ctx context.Context, k int, right *cube) error {
	s.residual(&s.u[k], right, &s.r[k])
	return s.exchange(ctx, s.levels[k], &s.r[k])
}

// correct smooths a level's solution.
func (s *solver) correct(ctx context.Context, k int) error {
	s.smooth(&s.r[k], &s.u[k])
	return s.exchange(ctx, s.levels[k], &s.u[k])
}

// norm is that of the finest residual: the root of the mean square. The greatest value is found too, since NPB times it.
func (s *solver) norm(ctx context.Context) (float64, error) {
	r := &s.r[len(s.r)-1]
	sum, most := []float64{0}, []float64{0}
	for k := 1; k < r.n[2]-1; k++ {
		for j := 1; j < r.n[1]-1; j++ {
			for _, x := range r.row(j, k)[1 : r.n[0]-1] {
				sum[0] += x * x
				most[0] = max(most[0], math.Abs(x))
			}
		}
	}
	if err := strand.Allreduce(ctx, s.comm, strand.Max[float64](), most, most); err != nil {
		return 0, err
	}
	err := strand.Allreduce(ctx, s.comm, strand.Sum[float64](), sum, sum)
	return math.Sqrt(sum[0] / float64(s.size*s.size*s.size)), err
}
