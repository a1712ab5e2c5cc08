package workload

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand"
)

// sink keeps the compiler from leaving out work whose result nobody needs.
var sink atomic.Uint64

// unitSteps is the length of a unit of work: about a microsecond.
const unitSteps = 1000

// work keeps a processor busy for so many units: a chain of multiplications, which depends on
// nothing but the processor's clock.
func work(units int) {
	x := sink.Load() | 1
	for range units * unitSteps {
		x = x*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
	}
	sink.Store(x)
}

// Bounds of the calibration. It tries a few times and takes the fastest, since other work of the
// machine only makes it slower.
const (
	trials     = 10
	trialUnits = 500
)

// calibrate returns how many units of work take so long on an idle processor.
func calibrate(span time.Duration) int {
	if span <= 0 {
		return 0
	}
	best := time.Duration(1 << 62)
	for range trials {
		start := time.Now()
		work(trialUnits)
		best = min(best, time.Since(start))
	}
	return max(1, int(float64(span)/float64(best)*trialUnits))
}

// agreeOnWork has rank 0 find out how much work so long a computation is, while the
// others wait, and returns it on all.
func agreeOnWork(ctx context.Context, c *strand.Comm, span time.Duration) (int, error) {
	var units [8]byte
	if c.Rank() != 0 {
		st, err := c.Recv(ctx, units[:], 0, workTag)
		if err == nil && st.Count != len(units) {
			err = fmt.Errorf("%d bytes came from rank 0: want %d", st.Count, len(units))
		}
		return int(binary.LittleEndian.Uint64(units[:])), err
	}
	n := calibrate(span)
	binary.LittleEndian.PutUint64(units[:], uint64(n))
	for rank := 1; rank < c.Size(); rank++ {
		if err := c.Send(ctx, units[:], rank, workTag); err != nil {
			return 0, err
		}
	}
	return n, nil
}

const workTag = 1
