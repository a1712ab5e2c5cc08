package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/param"
)

// A Call is a collective call.
type Call string

type measured struct {
	name   Call
	volume func(ranks int) int // how many times the size pass between so many ranks at least
	make   func(ctx context.Context, k *collective, root int) error
}

// calls are those that are measured. Roots change from one to the next, as in the Intel MPI
// Benchmarks: a call so waits for those before, and what is measured is how long one takes, not how
// many may be under way.
var calls = []measured{
	{"barrier", func(int) int { return 0 }, func(ctx context.Context, k *collective, _ int) error { return k.comm.Barrier(ctx) }},
	{"bcast", single, func(ctx context.Context, k *collective, root int) error {
		return strand.Bcast(ctx, k.comm, k.in, root)
	}},
	{"reduce", single, func(ctx context.Context, k *collective, root int) error {
		return strand.Reduce(ctx, k.comm, k.sum, k.in, k.out, root)
	}},
	{"allreduce", func(ranks int) int { return 2 * ranks }, func(ctx context.Context, k *collective, _ int) error {
		return strand.Allreduce(ctx, k.comm, k.sum, k.in, k.out)
	}},
	{"gather", single, func(ctx context.Context, k *collective, root int) error {
		return strand.Gather(ctx, k.comm, k.in, k.allOut, root)
	}},
	{"scatter", single, func(ctx context.Context, k *collective, root int) error {
		return strand.Scatter(ctx, k.comm, k.allIn, k.out, root)
	}},
	{"allgather", squared, func(ctx context.Context, k *collective, _ int) error {
		return strand.Allgather(ctx, k.comm, k.in, k.allOut)
	}},
	{"alltoall", squared, func(ctx context.Context, k *collective, _ int) error {
		return strand.Alltoall(ctx, k.comm, k.allIn, k.allOut)
	}},
	{"reducescatter", squared, func(ctx context.Context, k *collective, _ int) error {
		return strand.ReduceScatterBlock(ctx, k.comm, k.sum, k.allIn, k.out)
	}},
}

func single(ranks int) int  { return ranks }
func squared(ranks int) int { return ranks * ranks }

// Calls are the names of all that can be measured.
func Calls() []string {
	names := make([]string, len(calls))
	for i := range calls {
		names[i] = string(calls[i].name)
	}
	return names
}

func (c Call) index() int {
	return slices.IndexFunc(calls, func(m measured) bool { return m.name == c })
}

// whole reports whether no rank has a part for each.
func (c Call) whole() bool { return c == "bcast" || c == "reduce" || c == "allreduce" }

// MaxRanks bounds the ranks of a collective call that is measured here.
const MaxRanks = 2 * MaxPairs

// element is the length of a value: calls are of numbers of 64 bits.
const element = 8

// CallCells are all combinations of calls, ranks and sizes. The size is what a rank gives to each that
// gets something of it.
func CallCells(names []string, ranks, sizes []int) ([]Cell, error) {
	for _, size := range sizes {
		if size%element != 0 {
			return nil, fmt.Errorf("--sizes: %d bytes: collective calls are measured with numbers of 8 bytes: want a multiple", size)
		}
	}
	var all []Cell
	for _, n := range ranks {
		if n < 2 {
			return nil, fmt.Errorf("--ranks %d: want at least 2", n)
		}
		for _, name := range names {
			if Call(name).index() < 0 {
				meant := ""
				if near := param.Nearest(name, slices.Values(Calls())); near != "" {
					meant = fmt.Sprintf("; did you mean %s?", near)
				}
				return nil, fmt.Errorf("--calls %q: want one or more of %s, separated by commas%s", name, strings.Join(Calls(), ", "), meant)
			}
			for _, size := range sizes {
				if name == "barrier" {
					size = 0
				}
				all = append(all, Cell{Workload: Coll, Call: Call(name), Ranks: n, Window: 1, Size: size})
				if size == 0 {
					break
				}
			}
		}
	}
	return all, nil
}

// callBlock is an order for a block of one call. There are more ranks than processors as a rule, so it
// takes some milliseconds.
func (c Cell) callBlock() Order {
	const bytes, cheapest = 16 << 20, 32 << 10
	volume := calls[c.Call.index()].volume(c.Ranks)
	return Order{Cell: c, Iters: max(1, bytes/max(c.Size*volume, cheapest*c.Ranks)), Warmup: callWarmup}
}

const callWarmup = 2

// A collective is what a rank has for collective calls.
type collective struct {
	comm          *strand.Comm
	sum           strand.Op[float64]
	in, out       []float64
	allIn, allOut []float64
	root          int
}

// roundOf returns one call of the order.
func (k *collective) roundOf(o Order) func(context.Context) error {
	n := o.Size / element
	k.sum = strand.Sum[float64]()
	k.in, k.out = numbers(n), numbers(n)
	k.allIn, k.allOut = nil, nil
	if !o.Call.whole() {
		k.allIn, k.allOut = numbers(n*k.comm.Size()), numbers(n*k.comm.Size())
	}
	call := calls[o.Call.index()].make
	k.root = 0
	return func(ctx context.Context) error {
		root := k.root
		k.root = (root + 1) % k.comm.Size()
		return call(ctx, k, root)
	}
}

// numbers has memory that is there already.
func numbers(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}
