package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strandmp/strand/param"
)

// A Setup says who takes part in measurements, and how.
type Setup struct {
	Against  []string
	Settings []param.Setting // for Strand
	// Dir has what is compiled, and sockets: a folder of [NewFolder].
	Dir string
	// With Memory, Strand and the other libraries may use the host's shared memory; without it
	// all are kept to TCP.
	Memory bool
	Params *param.Values // what the settings make of Strand's TCP, for raw

	// Program and Arguments start a process that calls [Member] with one more
	// argument.
	Program   string
	Arguments []string
}

// A Comparison measures Strand and its peers in blocks that alternate.
type Comparison struct {
	Setup
	Cells  []Cell // of one workload
	Iters  int    // of a block: round trips or windows; 0: by size
	Warmup int    // of a block; negative: as many as suit the size
	Blocks int    // of each contender for each cell
	// Timeout is how long a contender may take for a block; 0: for ever.
	Timeout time.Duration

	// Transports names the transports that the settings let Strand use, for people: tcp,self.
	Transports string

	// Progress, if not nil, is told how many of all blocks are done.
	Progress func(done, total int)
}

// MinBlocks is the least number of blocks that has quartiles worth the name.
const MinBlocks = 4

// blocksPerStart is how many blocks the same processes are measured for. How
// fast processes are depends a little on where their memory happens to lie, so a
// comparison must not rest on one start.
const blocksPerStart = 12

// MaxSpread bounds raw's [Summary.Spread] in a valid comparison.
const MaxSpread = 0.30

// MaxWidth bounds how many times its beginning the end of a ratio's interval may be in a valid comparison. A wider one says that
// Strand is ahead as well as that it is behind.
const MaxWidth = 2

// Criterion says when a comparison is valid.
const Criterion = "valid if raw's median is at most 30 % above its lower quartile, and no ratio's interval ends above twice its beginning, for each size"

// Compare runs a comparison.
func Compare(ctx context.Context, c Comparison) (*Result, error) {
	if c.Blocks < MinBlocks {
		return nil, fmt.Errorf("--blocks %d: want at least %d, better 20: the result is their lower quartile", c.Blocks, MinBlocks)
	}
	contenders, err := c.contenders(ctx, c.Cells[0].Workload, c.Dir)
	if err != nil {
		return nil, err
	}
	s := newSamples(len(contenders), len(c.Cells))
	for first := 0; first < len(c.Cells); {
		end := first + 1
		for end < len(c.Cells) && c.Cells[end].Processes() == c.Cells[first].Processes() {
			end++
		}
		for done := 0; done < c.Blocks; done += blocksPerStart {
			if err := c.measure(ctx, contenders, first, end, min(blocksPerStart, c.Blocks-done), s); err != nil {
				return nil, err
			}
		}
		first = end
	}
	return c.result(contenders, s), nil
}

// measure starts all contenders and has each run some blocks of the cells from the first to before
// the end, which have as many ranks.
func (c *Comparison) measure(ctx context.Context, contenders []Contender, first, end, blocks int, s *samples) (err error) {
	var jobs []Job
	defer func() {
		for _, j := range jobs {
			err = errors.Join(err, j.Close())
		}
	}()
	for i := range contenders {
		j, err := contenders[i].Start(ctx, c.Cells[first].Processes())
		if err != nil {
			return err
		}
		jobs = append(jobs, j)
	}
	for place := first; place < end; place++ {
		o := c.order(c.Cells[place])
		for round := range blocks {
			for turn := range jobs {
				i := (turn + round) % len(jobs)
				got, err := c.block(ctx, &contenders[i], jobs[i], o)
				if err != nil {
					return err
				}
				s.add(i, place, block{o.PerMessage(got.Took), o.PerMessage(got.Processor)})
				c.report(s.taken, len(contenders)*len(c.Cells)*c.Blocks)
			}
		}
	}
	return nil
}

// block has a contender carry out an order, in the time that there is for it.
func (c *Comparison) block(ctx context.Context, who *Contender, j Job, o Order) (Outcome, error) {
	if c.Timeout == 0 {
		return j.Run(ctx, o)
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%s: %s: a block has not ended within --timeout %v",
		strings.TrimSpace(who.Name+" "+who.Variant), o.describe(), c.Timeout))
	defer cancel()
	return j.Run(limited, o)
}

func (c *Comparison) report(done, total int) {
	if c.Progress != nil {
		c.Progress(done, total)
	}
}

// order is one block.
func (c *Comparison) order(cell Cell) Order {
	o := cell.Block()
	if c.Iters > 0 {
		if o.Iters = c.Iters; cell.Workload != Burst && cell.Workload != Coll {
			o.Warmup = max(c.Iters, minWarmup)
		}
	}
	if c.Warmup >= 0 {
		o.Warmup = c.Warmup
	}
	return o
}

// A block is what a message took in it, in microseconds, and what processor time all processes.
type block struct{ time, processor float64 }

// samples are all blocks so far.
type samples struct {
	blocks [][][]block // of a contender, for a cell
	taken  int
}

func newSamples(contenders, cells int) *samples {
	s := &samples{blocks: make([][][]block, contenders)}
	for i := range s.blocks {
		s.blocks[i] = make([][]block, cells)
	}
	return s
}

func (s *samples) add(contender, cell int, b block) {
	s.blocks[contender][cell] = append(s.blocks[contender][cell], b)
	s.taken++
}
