package strand_test

import (
	"context"
	"fmt"

	"github.com/strandmp/strand"
)

// Every rank has the sum of what all ranks have put in, value by value.
func ExampleAllreduce() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		in, sum := []float64{1, float64(c.Rank())}, make([]float64, 2)
		if err := strand.Allreduce(ctx, c, strand.Sum[float64](), in, sum); err != nil {
			return err
		}
		if c.Rank() == 2 {
			fmt.Println(sum)
		}
		return nil
	})
	// Output: [3 3]
}

// The root's values are those of all ranks afterwards.
func ExampleBcast() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		steps := make([]int64, 1)
		if c.Rank() == 0 {
			steps[0] = 100
		}
		if err := strand.Bcast(ctx, c, steps, 0); err != nil {
			return err
		}
		fmt.Printf("rank %d makes %d steps\n", c.Rank(), steps[0])
		return nil
	})
	// Unordered output:
	// rank 0 makes 100 steps
	// rank 1 makes 100 steps
	// rank 2 makes 100 steps
}

// The root spreads its values, a piece to each rank, and collects what they make of them, in the order of ranks.
func ExampleScatter() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		var all []int64 // of the root alone
		if c.Rank() == 0 {
			all = []int64{1, 2, 3, 4, 5, 6}
		}
		mine := make([]int64, 2)
		if err := strand.Scatter(ctx, c, all, mine, 0); err != nil {
			return err
		}
		for i := range mine {
			mine[i] *= 10
		}
		if err := strand.Gather(ctx, c, mine, all, 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(all)
		}
		return nil
	})
	// Output: [10 20 30 40 50 60]
}

// Exscan tells each rank the sum of those before it: where its part of a file begins, say.
func ExampleExscan() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		length, begin := []int64{int64(c.Rank()+1) * 100}, make([]int64, 1)
		if err := strand.Exscan(ctx, c, strand.Sum[int64](), length, begin); err != nil {
			return err
		}
		fmt.Printf("rank %d writes %d bytes at %d\n", c.Rank(), length[0], begin[0])
		return nil
	})
	// Unordered output:
	// rank 0 writes 100 bytes at 0
	// rank 1 writes 200 bytes at 100
	// rank 2 writes 300 bytes at 300
}

// An operation of the program's own, of any struct without pointers. It commutes, so that values may be combined in any order.
func ExampleNewOp() {
	type span struct{ Low, High int64 }
	hull := strand.NewOp(func(a, b span) span {
		return span{min(a.Low, b.Low), max(a.High, b.High)}
	}, true)
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		in, out := []span{{int64(c.Rank()), int64(c.Rank()) * 2}}, make([]span, 1)
		if err := strand.Reduce(ctx, c, hull, in, out, 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(out)
		}
		return nil
	})
	// Output: [{0 4}]
}

// A collective call goes on beside what the program computes, without further calls.
func ExampleIallreduce() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		in, most := []int32{int32(c.Rank() + 1)}, make([]int32, 1)
		req, err := strand.Iallreduce(c, strand.Max[int32](), in, most)
		if err != nil {
			return err
		}
		// What needs no result is computed here. In and most are the call's until it has ended.
		if _, err := req.Wait(ctx); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(most)
		}
		return nil
	})
	// Output: [2]
}
