package strand_test

import (
	"context"
	"fmt"

	"github.com/strandmp/strand"
)

// Four processes in a ring, each of which shows its neighbours its own number.
func ExampleComm_Cart() {
	onRanks(4, func(ctx context.Context, w *strand.World) error {
		ring, err := w.Comm().Cart(ctx, []int{4}, []bool{true})
		if err != nil {
			return err
		}
		around := make([]int, 2)
		if err := strand.NeighborAllgather(ctx, ring, []int{ring.Rank()}, around); err != nil {
			return err
		}
		fmt.Printf("rank %d stands between %d and %d\n", ring.Rank(), around[0], around[1])
		return nil
	})
	// Unordered output:
	// rank 0 stands between 3 and 1
	// rank 1 stands between 0 and 2
	// rank 2 stands between 1 and 3
	// rank 3 stands between 2 and 0
}

// A persistent receive and a persistent send are started anew in each step of a computation.
func ExampleStartAll() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		mine, theirs := make([]int, 1), make([]int, 1)
		recv, err := strand.RecvInit(c, theirs, 1-c.Rank(), 0)
		if err != nil {
			return err
		}
		send, err := strand.SendInit(c, mine, 1-c.Rank(), 0)
		if err != nil {
			return err
		}
		sum, reqs := 0, []strand.Request(nil)
		for step := range 3 {
			mine[0] = 10*c.Rank() + step
			if reqs, err = strand.StartAll([]*strand.Persistent{recv, send}, reqs[:0]); err != nil {
				return err
			}
			if err := strand.WaitAll(ctx, reqs, nil); err != nil {
				return err
			}
			sum += theirs[0]
		}
		fmt.Printf("rank %d: %d\n", c.Rank(), sum)
		return nil
	})
	// Unordered output:
	// rank 0: 33
	// rank 1: 3
}
