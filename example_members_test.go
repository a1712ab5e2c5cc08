package strand_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand"
)

// Of four ranks the last and the first make a communicator, numbered in that order. The others take no part.
func ExampleComm_Create() {
	onRanks(4, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 1 || w.Rank() == 2 {
			return nil
		}
		ends, err := w.Comm().Create(ctx, []int{3, 0})
		if err != nil {
			return err
		}
		fmt.Printf("rank %d of the world is rank %d of the ends\n", w.Rank(), ends.Rank())
		return ends.Free()
	})
	// Unordered output:
	// rank 0 of the world is rank 1 of the ends
	// rank 3 of the world is rank 0 of the ends
}

// When a rank has failed its communicator takes no collective calls any more. Shrink makes one of those that live, and the work goes on.
func ExampleComm_Shrink() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 1 {
			return errors.New("its disk is full") // Run then ends the process
		}
		sum := make([]int, 1)
		for {
			err := strand.Allreduce(ctx, c, strand.Sum[int](), []int{c.Rank() + 1}, sum)
			if err == nil {
				fmt.Printf("rank %d, now %d of %d: the sum is %d\n", w.Rank(), c.Rank(), c.Size(), sum[0])
				return nil
			}
			if c, err = c.Shrink(ctx); err != nil {
				return err
			}
		}
	})
	// Unordered output:
	// rank 1 ends with: its disk is full
	// rank 0, now 0 of 2: the sum is 3
	// rank 2, now 1 of 2: the sum is 3
}

// Ranks agree on whether all have what they need: each gives a bit, and all get those that all have given.
func ExampleComm_Agree() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		const haveInput, haveRoom = 1, 2
		mine := uint64(haveInput | haveRoom)
		if w.Rank() == 2 {
			mine = haveInput
		}
		all, err := w.Comm().Agree(ctx, mine)
		if err != nil {
			return err
		}
		if w.Rank() == 0 {
			fmt.Println("input:", all&haveInput != 0, "room:", all&haveRoom != 0)
		}
		return nil
	})
	// Output: input: true room: false
}

// The ranks of a host choose one of theirs, which reads a file for all of them.
func ExampleComm_SplitShared() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		host, err := w.Comm().SplitShared(ctx, 0)
		if err != nil {
			return err
		}
		if host.Rank() == 0 {
			fmt.Println("rank", w.Rank(), "reads for", host.Size())
		}
		return host.Free()
	})
	// Output: rank 0 reads for 3
}
