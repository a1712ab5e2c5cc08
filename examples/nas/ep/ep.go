// Package ep is the kernel EP of the NAS parallel benchmarks, "embarrassingly parallel": pairs of
// Gaussian deviates from uniform random numbers, by the acceptance-rejection method, counted by
// square annuli. Ranks talk once, at the end.
package ep

import (
	"context"
	"fmt"
	"math"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

// Kernel is EP.
var Kernel = npb.Kernel{Name: "EP", Title: "random numbers, no communication to speak of", Permits: permits, Run: run}

const seed npb.Seed = 271828183

const (
	batchLog  = 16 // log₂ of the pairs in a batch
	annuli    = 10
	tolerance = 1e-8
)

// A problem is 2^log pairs and the published sums of their deviates.
type problem struct {
	log    int
	sx, sy float64
}

var problems = map[npb.Class]problem{
	npb.S: {24, -3.247834652034740e+3, -6.958407078382297e+3},
	npb.W: {25, -2.863319731645753e+3, -6.320053679109499e+3},
	npb.A: {28, -4.295875165629892e+3, -1.580732573678431e+4},
	npb.B: {30, 4.033815542441498e+4, -2.660669192809235e+4},
}

func (p problem) batches() int { return 1 << (p.log - batchLog) }

func permits(class npb.Class, ranks int) error {
	if most := problems[class].batches(); ranks > most {
		return fmt.Errorf("%d ranks: want at most %d, one for each batch of class %v", ranks, most, class)
	}
	return nil
}

// tally is what a rank has counted: the sums of both deviates, then how many pairs each annulus has.
type tally [2 + annuli]float64

func run(ctx context.Context, c *strand.Comm, class npb.Class) (*npb.Result, error) {
	p := problems[class]
	start, err := npb.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	var t tally
	uniform := make([]float64, 2<<batchLog)
	for batch := c.Rank() * p.batches() / c.Size(); batch < (c.Rank()+1)*p.batches()/c.Size(); batch++ {
		s := seed
		s.Skip(uint64(batch) * uint64(len(uniform)))
		s.Fill(uniform)
		t.add(uniform)
	}
	if err := strand.Allreduce(ctx, c, strand.Sum[float64](), t[:], t[:]); err != nil {
		return nil, err
	}
	seconds, err := npb.Seconds(ctx, c, start)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	numbers := float64(uint64(2) << p.log)
	return &npb.Result{
		Kernel: "EP", Class: class, Size: fmt.Sprintf("%.0f", numbers), Ranks: c.Size(), Seconds: seconds,
		Mops: numbers / seconds / 1e6, Operation: "Random numbers generated",
		Checks: []npb.Check{{Name: "sum of x", Got: t[0], Want: p.sx, Tolerance: tolerance}, {Name: "sum of y", Got: t[1], Want: p.sy, Tolerance: tolerance}},
	}, nil
}

// add makes deviates of uniform numbers and counts them.
func (t *tally) add(uniform []float64) {
	sx, sy := t[0], t[1]
	for ; len(uniform) >= 2; uniform = uniform[2:] {
		x, y := 2*uniform[0]-1, 2*uniform[1]-1
		square := x*x + y*y
		if square > 1 {
			continue
		}
		f := math.Sqrt(-2 * log(square) / square)
		x, y = x*f, y*f
		t[2+int(max(math.Abs(x), math.Abs(y)))]++
		sx, sy = sx+x, sy+y
	}
	t[0], t[1] = sx, sy
}
