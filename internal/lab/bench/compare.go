package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/strandmp/strand/param"
)

// A Comparison measures Strand and its peers in blocks that alternate.
type Comparison struct {
	Workload Workload
	Sizes    []int         // bytes
	Iters    int           // of a block: round trips or windows; 0: by size
	Warmup   int           // of a block; negative: as many as Iters, but at least minWarmup
	Window   int           // messages
	Pause    time.Duration // of computing, before each burst
	Blocks   int           // of each contender for each size
	Against  []string

	Settings []param.Setting // for Strand
	// Transports names the transports that the settings let Strand use, for people: tcp,self.
	// With Memory, Strand and the other libraries may use the host's shared memory; without it
	// all are kept to TCP.
	Transports string
	Memory     bool
	Params     *param.Values // what the settings make of Strand's TCP, for raw

	// Program and Arguments start a process that calls [Member] with one more
	// argument.
	Program   string
	Arguments []string

	// Progress, if not nil, is told how many of all blocks are done.
	Progress func(done, total int)
}

// MinBlocks is the least number of blocks that has quartiles worth the name.
const MinBlocks = 4

// blocksPerStart is how many blocks the same processes are measured for. How
// fast a pair is depends a little on where its memory happens to lie, so a
// comparison must not rest on one start.
const blocksPerStart = 12

// MaxSpread bounds raw's [Summary.Spread] in a valid comparison.
const MaxSpread = 0.30

// Criterion says when a comparison is valid.
const Criterion = "valid if raw's median is at most 30 % above its lower quartile, for each size"

// Compare runs a comparison.
func Compare(ctx context.Context, c Comparison) (r *Result, err error) {
	if c.Blocks < MinBlocks {
		return nil, fmt.Errorf("--blocks %d: want at least %d, better 20: the result is their lower quartile", c.Blocks, MinBlocks)
	}
	dir, err := os.MkdirTemp("", "strand-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	contenders, err := c.contenders(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := newSamples(len(contenders), len(c.Sizes))
	for done := 0; done < c.Blocks; done += blocksPerStart {
		if err := c.measure(ctx, contenders, min(blocksPerStart, c.Blocks-done), s); err != nil {
			return nil, err
		}
	}
	return c.result(contenders, s), nil
}

// measure starts all pairs and runs some blocks of each.
func (c *Comparison) measure(ctx context.Context, contenders []contender, blocks int, s *samples) (err error) {
	var pairs []pair
	defer func() {
		for _, p := range pairs {
			err = errors.Join(err, p.close())
		}
	}()
	for i := range contenders {
		p, err := contenders[i].start(ctx)
		if err != nil {
			return err
		}
		pairs = append(pairs, p)
	}
	for place, size := range c.Sizes {
		o := c.order(size)
		for block := range blocks {
			for turn := range pairs {
				i := (turn + block) % len(pairs)
				total, err := pairs[i].run(ctx, o)
				if err != nil {
					return err
				}
				s.add(i, place, o.perMessage(total))
				c.report(s.taken, len(contenders)*len(c.Sizes)*c.Blocks)
			}
		}
	}
	return nil
}

func (c *Comparison) report(done, total int) {
	if c.Progress != nil {
		c.Progress(done, total)
	}
}

// order is one block.
func (c *Comparison) order(size int) order {
	o := order{workload: c.Workload, size: size, iters: c.Iters, warmup: c.Warmup, window: c.Window, pause: int(c.Pause.Microseconds())}
	if o.workload == PingPong {
		o.window = 1
	}
	if o.iters == 0 {
		o.iters = blockIters(o)
	}
	if o.warmup < 0 && o.workload == Burst {
		o.warmup = 1 // a program that computes before each burst does not come to it warm
	}
	if o.warmup < 0 {
		o.warmup = max(o.iters, minWarmup)
	}
	return o
}

// minWarmup is enough for processes that rested while the others had their turn. When they wake
// up they may share a processor, and the caches hold the others' data.
const minWarmup = 60

// blockIters makes a block of a few milliseconds. That is about as long as a process keeps its
// processor when others want it too, so many blocks stay undisturbed on a machine that does other
// things. A block of bursts takes about 100 ms, most of it computing, or longer where two bursts
// do.
func blockIters(o order) int {
	if o.workload == Burst {
		return burstIters(time.Duration(o.pause)*time.Microsecond, 100*time.Millisecond)
	}
	const bytes = 4 << 20
	cheapest := 8 << 10 // a small message costs as much as one of 8 KB
	if o.window > 1 {
		cheapest = 1 << 10 // and less where they come together
	}
	perIteration := int64(o.window) * int64(max(o.size, cheapest))
	return max(4, int(bytes/perIteration))
}

// burstIters is how many bursts fit into the limit, from 2 to 20. A burst is taken to last its
// pause and one more millisecond.
func burstIters(pause, limit time.Duration) int {
	return min(max(2, int(limit/(pause+time.Millisecond))), 20)
}

// samples are the times of all blocks so far, in microseconds a message.
type samples struct {
	times [][][]float64 // of a contender, for a size
	taken int
}

func newSamples(contenders, sizes int) *samples {
	s := &samples{times: make([][][]float64, contenders)}
	for i := range s.times {
		s.times[i] = make([][]float64, sizes)
	}
	return s
}

func (s *samples) add(contender, size int, us float64) {
	s.times[contender][size] = append(s.times[contender][size], us)
	s.taken++
}
