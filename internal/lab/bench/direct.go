package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/launch"
)

// A Direct measures between the ranks of a job: between its two, with [Pairs] between each of its
// first half and one of the other half, and collective calls of all.
type Direct struct {
	Cells  []Cell // of one workload
	Iters  int    // round trips or windows; 0: by size
	Warmup int    // the same; negative: by size
}

// A Row is the outcome for one cell.
type Row struct {
	Call     Call    `json:"call,omitempty"`
	Ranks    int     `json:"ranks,omitempty"`
	Pairs    int     `json:"pairs,omitempty"`
	Window   int     `json:"window"`
	Size     int     `json:"size"`
	Time     float64 `json:"us"` // of a message; of all pairs together
	Megabyte float64 `json:"mb_per_s"`
	Messages float64 `json:"messages_per_s"`
	// Processor is the processor time that all ranks took for a message, in microseconds.
	Processor float64 `json:"processor_us"`
	// Beside is the processor time that the library took while the program computed before a
	// burst, in percent of the computing.
	Beside float64 `json:"beside_percent,omitempty"`
}

// Launched reports whether a launcher has started this process. One that offers
// no way to join its job is an error.
func Launched(ctx context.Context) (bool, error) {
	for _, name := range []string{"PMI_FD", "PMI_PORT"} {
		if _, found := os.LookupEnv(name); found {
			return true, nil
		}
	}
	alone, err := launch.FromEnvironment(ctx)
	if err != nil {
		return false, err
	}
	return false, alone.Close()
}

// Run measures all cells. Rank 0 has the result of each passed to report.
func (d *Direct) Run(ctx context.Context, w *strand.World, report func(Row) error) error {
	if err := d.fits(w.Size()); err != nil {
		return err
	}
	t := newStrandTraffic(w.Comm())
	for _, cell := range d.Cells {
		if cell.Workload == Coll {
			cell.Ranks = w.Size()
		} else {
			cell.Pairs = w.Size() / 2
		}
		o := d.order(cell)
		s, err := t.run(ctx, o)
		if err == nil && (o.Workload == Pairs || o.Workload == Coll) {
			// Rank 0 can not know by its own clock when those on other hosts have ended.
			err = w.Comm().Barrier(ctx)
			s.exchange = now() - s.began
		}
		var processor time.Duration
		if err == nil {
			processor, err = sum(ctx, w.Comm(), s.processor)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.describe(), err)
		}
		if w.Rank() != 0 {
			continue
		}
		row := rowOf(o, s.exchange)
		row.Beside, row.Processor = s.share(), o.PerMessage(processor)
		if err := report(row); err != nil {
			return err
		}
	}
	return nil
}

// fits says whether a job of so many ranks can do the workload.
func (d *Direct) fits(ranks int) error {
	switch {
	case d.Cells[0].Workload == Coll:
		return nil
	case d.Cells[0].Workload != Pairs && ranks != 2:
		return fmt.Errorf("strand bench measures between 2 ranks and this job has %d: start it with 2, or without a launcher", ranks)
	case ranks < 2 || ranks%2 != 0:
		return fmt.Errorf("strand bench pairs measures pairs of ranks and this job has %d: start it with an even number, or without a launcher", ranks)
	}
	return nil
}

// sum returns to rank 0 what the ranks' times are together.
func sum(ctx context.Context, c *strand.Comm, own time.Duration) (time.Duration, error) {
	var b [8]byte
	if c.Rank() != 0 {
		binary.LittleEndian.PutUint64(b[:], uint64(own))
		return 0, c.Send(ctx, b[:], 0, answerTag)
	}
	var errs error
	for rank := 1; rank < c.Size(); rank++ {
		_, err := c.Recv(ctx, b[:], rank, answerTag)
		errs = errors.Join(errs, err)
		own += time.Duration(binary.LittleEndian.Uint64(b[:]))
	}
	return own, errs
}

// order is as many iterations as the OSU programs make.
func (d *Direct) order(cell Cell) Order {
	o := Order{Cell: cell, Iters: d.Iters, Warmup: d.Warmup}
	const large = 8 << 10
	iters, warmup := 10000, 100
	switch {
	case cell.Workload == Coll:
		iters, warmup = 4*cell.callBlock().Iters, 10
	case cell.Workload == Burst:
		iters, warmup = burstIters(cell.Pause, 2*time.Second), 2
	case !cell.Workload.single() && cell.Size > large:
		iters, warmup = 20, 2
	case !cell.Workload.single():
		iters, warmup = 1000, 10
	case cell.Size > large:
		iters, warmup = 1000, 10
	}
	if o.Iters == 0 {
		o.Iters = iters
	}
	if o.Warmup < 0 {
		o.Warmup = warmup
	}
	return o
}

// rowOf expresses what an order took in several ways.
func rowOf(o Order, took time.Duration) Row {
	us := o.PerMessage(took)
	r := Row{Window: o.Window, Size: o.Size, Time: us, Megabyte: float64(o.Size) / us, Messages: 1e6 / us}
	switch o.Workload {
	case Pairs:
		r.Pairs = o.Pairs
	case Coll:
		r.Call, r.Ranks = o.Call, o.Ranks
	}
	return r
}
