package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/launch"
)

// A Direct measures between the two ranks of a job.
type Direct struct {
	Workload Workload
	Sizes    []int         // bytes
	Iters    int           // round trips or windows; 0: by size
	Warmup   int           // the same; negative: by size
	Window   int           // messages
	Pause    time.Duration // of computing, before each burst
}

// A Row is the outcome for one size.
type Row struct {
	Size     int     `json:"size"`
	Time     float64 `json:"us"` // of a message
	Megabyte float64 `json:"mb_per_s"`
	Messages float64 `json:"messages_per_s"`
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

// Run measures all sizes. Rank 0 has the result of each passed to report.
func (d *Direct) Run(ctx context.Context, w *strand.World, report func(Row) error) error {
	if w.Size() != 2 {
		return fmt.Errorf("strand bench measures between 2 ranks and this job has %d: start it with 2, or without a launcher", w.Size())
	}
	t := &strandTraffic{comm: w.Comm()}
	for _, size := range d.Sizes {
		o := d.order(size)
		total, err := t.run(ctx, o)
		if err != nil {
			return fmt.Errorf("%v: %w", o, err)
		}
		if w.Rank() != 0 {
			continue
		}
		row := rowOf(o, o.perMessage(total))
		row.Beside = t.spent.share()
		if err := report(row); err != nil {
			return err
		}
	}
	return nil
}

// order is as many iterations as the OSU programs make.
func (d *Direct) order(size int) order {
	o := order{workload: d.Workload, size: size, iters: d.Iters, warmup: d.Warmup, window: d.Window, pause: int(d.Pause.Microseconds())}
	const large = 8 << 10
	iters, warmup := 10000, 100
	switch {
	case d.Workload == Burst:
		iters, warmup = burstIters(d.Pause, 2*time.Second), 2
	case d.Workload != PingPong && size > large:
		iters, warmup = 20, 2
	case d.Workload != PingPong:
		iters, warmup = 1000, 10
	case size > large:
		iters, warmup = 1000, 10
	}
	if d.Workload == PingPong {
		o.window = 1
	}
	if o.iters == 0 {
		o.iters = iters
	}
	if o.warmup < 0 {
		o.warmup = warmup
	}
	return o
}

// rowOf expresses the time of a message in other ways.
func rowOf(o order, us float64) Row {
	return Row{Size: o.size, Time: us, Megabyte: float64(o.size) / us, Messages: 1e6 / us}
}
