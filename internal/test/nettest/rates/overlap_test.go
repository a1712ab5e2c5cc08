//go:build linux

package rates_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/stats"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// overlaps is what rank 0 finds out, in milliseconds: how long a reduction takes, how long computing as much as takes about that
// long, and how long the one takes during the other.
type overlaps struct{ Reducing, Computing, Both []float64 }

// hidden is the part of the shorter one that the other hides, in the median.
func (o *overlaps) hidden() float64 {
	r, c, b := stats.Median(o.Reducing), stats.Median(o.Computing), stats.Median(o.Both)
	return (r + c - b) / min(r, c)
}

// Variables tell overlapping how many rounds to make, and how many bytes to reduce.
const (
	overlapVariable = "OVERLAP_ROUNDS"
	reducedVariable = "OVERLAP_BYTES"
)

// A reduction is what all ranks do at a time: one alone, work alone, or work during one.
type reduction struct {
	comm    *strand.Comm
	in, out []float64
	sum     strand.Op[float64]
}

func (r *reduction) timed(ctx context.Context, during func()) (time.Duration, error) {
	if err := r.comm.Barrier(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	req, err := strand.Iallreduce(r.comm, r.sum, r.in, r.out)
	if err != nil {
		return 0, err
	}
	during()
	_, err = req.Wait(ctx)
	took := time.Since(began)
	if want := float64(r.comm.Size()); err == nil && slices.ContainsFunc(r.out, func(x float64) bool { return x != want }) {
		err = fmt.Errorf("the sum is not %v everywhere", want)
	}
	clear(r.out)
	return took, err
}

// work computes for so many steps. It makes no calls, and its amount is fixed: what the library takes of the processor
// meanwhile makes it longer.
//
//go:noinline
func work(steps int) (x float64) {
	x = 1
	for range steps {
		x = x*0.999999 + 1e-9
	}
	return x
}

// errNoWork keeps the compiler from leaving the work out.
var errNoWork = errors.New("work came to nothing")

// overlapping measures reductions beside work.
func overlapping(ctx context.Context, w *strand.World) error {
	var rounds, reduced int
	if _, err := fmt.Sscan(os.Getenv(overlapVariable)+" "+os.Getenv(reducedVariable), &rounds, &reduced); err != nil {
		return err
	}
	r := &reduction{comm: w.Comm(), in: slices.Repeat([]float64{1}, reduced/8), out: make([]float64, reduced/8), sum: strand.Sum[float64]()}
	for range 3 { // the connection is made, and its window grows
		if _, err := r.timed(ctx, func() {}); err != nil {
			return err
		}
	}
	steps, err := r.calibrate(ctx)
	if err != nil {
		return err
	}
	var told overlaps
	sink := 0.0
	for range rounds {
		alone, err := r.timed(ctx, func() {})
		if err != nil {
			return err
		}
		if err := r.comm.Barrier(ctx); err != nil {
			return err
		}
		began := time.Now()
		sink += work(steps)
		computing := time.Since(began)
		both, err := r.timed(ctx, func() { sink += work(steps) })
		if err != nil {
			return err
		}
		for to, took := range map[*[]float64]time.Duration{&told.Reducing: alone, &told.Computing: computing, &told.Both: both} {
			*to = append(*to, float64(took)/float64(time.Millisecond))
		}
	}
	if sink == 0 {
		return errNoWork
	}
	if r.comm.Rank() > 0 {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

// calibrate returns how many steps take about as long as a reduction, the same number everywhere.
func (r *reduction) calibrate(ctx context.Context) (int, error) {
	const trial = 1 << 22
	took, err := r.timed(ctx, func() {})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if work(trial) == 0 {
		return 0, errNoWork
	}
	steps := []int{int(trial * float64(took) / float64(time.Since(began)))}
	return steps[0], strand.Bcast(ctx, r.comm, steps, 0)
}

// A reduction of some MB that goes on by itself is hidden by computing: the ranks compute meanwhile and make no calls. Over the loopback, where it needs the
// processors that compute, both together take at least no longer than one after the other. Over a link both directions are in use all
// the time, whichever rank begins: as much goes each way as is reduced. The links are the kernel's, which take next to nothing of the processors that compute.
func TestReductionsGoOnMeanwhile(t *testing.T) {
	rounds := 1
	if need.Soaking() {
		rounds = 21
	}
	for _, c := range []struct {
		name  string
		bytes int
		mbits int // of the link; 0: the loopback
		btl   string
		aim   float64 // of what is hidden; packets of udp need the processor each time, and come when computing lets them
	}{
		{"tcp, 100 Mbit/s", 1 << 20, 100, "tcp,self", 0.8},
		{"tcp, 100 Mbit/s, 4 MB", 4 << 20, 100, "tcp,self", 0.8},
		{"tcp, 1 Gbit/s, 4 MB", 4 << 20, 1000, "tcp,self", 0},
		{"udp, 100 Mbit/s", 1 << 20, 100, "udp,self", 0.5},
		{"tcp, loopback", 1 << 20, 0, "tcp,self", 0},
		{"sm, loopback", 1 << 20, 0, "sm,self", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			prefixes := make([][]string, 2) // of this host
			if c.mbits > 0 {
				n := testnet.New(t)
				a, b := n.Host("a"), n.Host("b")
				n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(c.mbits))
				prefixes = [][]string{a.Prefix(), b.Prefix()}
			}
			r := nettest.Job{Prefixes: prefixes}.Playing("overlapping", "STRAND_BTL="+c.btl, fmt.Sprintf("%s=%d", overlapVariable, rounds),
				fmt.Sprintf("%s=%d", reducedVariable, c.bytes)).Run(t)
			require.NoError(t, r.Wait(), "%s", r)
			var told overlaps
			require.NoError(t, json.Unmarshal([]byte(r.Await(0, "Reducing").Text), &told))
			require.Len(t, told.Both, rounds)
			hidden := told.hidden()
			t.Logf("%s: reducing %.2f ms, computing %.2f ms, both %.2f ms: %.2f of the shorter one is hidden (longest both: %.2f ms)", c.name,
				stats.Median(told.Reducing), stats.Median(told.Computing), stats.Median(told.Both), hidden, slices.Max(told.Both))
			if need.Soaking() { // else how fast it is is not looked at
				assert.GreaterOrEqual(t, hidden, c.aim)
				if c.mbits > 0 && c.btl == "tcp,self" {
					least := float64(c.bytes) * 8e-3 / float64(c.mbits) // of the reduction, without headers, in ms; in turns it takes 1.75 times that
					slices.Sort(told.Reducing)
					assert.Less(t, stats.Quantile(told.Reducing, 0.75), 1.35*least, "a direction stands idle: %.1f", told.Reducing)
				}
			}
		})
	}
}
