package strand_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand"
)

// Isend and Irecv start operations, which go on while the program computes. Until the request
// has ended, the buffer is the library's.
func ExampleComm_Isend() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		other := 1 - c.Rank()
		mine, theirs := []byte{byte(10 + c.Rank())}, make([]byte, 1)
		in, err := c.Irecv(theirs, other, 0)
		if err != nil {
			return err
		}
		out, err := c.Isend(mine, other, 0)
		if err != nil {
			return err
		}
		// Compute something that needs neither buffer.
		if _, err := in.Wait(ctx); err != nil {
			return err
		}
		if _, err := out.Wait(ctx); err != nil {
			return err
		}
		fmt.Printf("rank %d has got %d\n", c.Rank(), theirs[0])
		return nil
	})
	// Unordered output:
	// rank 0 has got 11
	// rank 1 has got 10
}

// A loop of Test does other work until the operation is complete.
func ExampleRequest_Test() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 1 {
			return c.Send(ctx, []byte("done"), 0, 0)
		}
		buf := make([]byte, 4)
		r, err := c.Irecv(buf, 1, 0)
		if err != nil {
			return err
		}
		for {
			_, done, err := r.Test()
			if err != nil {
				return err
			}
			if done {
				break
			}
			// Do a little of the other work.
		}
		fmt.Printf("%s\n", buf)
		return nil
	})
	// Output: done
}

// Cancel takes a receive back that no message has matched.
func ExampleRequest_Cancel() {
	onRanks(1, func(ctx context.Context, w *strand.World) error {
		r, err := w.Comm().Irecv(make([]byte, 8), strand.AnySource, 1)
		if err != nil {
			return err
		}
		fmt.Println("taken back:", r.Cancel())
		st, err := r.Wait(ctx)
		fmt.Println("cancelled:", st.Cancelled)
		return err
	})
	// Output:
	// taken back: true
	// cancelled: true
}

// Rank 0 takes the answers of the others in the order in which they come.
func ExampleWaitAny() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() > 0 {
			return c.Send(ctx, []byte{byte(10 * c.Rank())}, 0, 0)
		}
		answers := make([][1]byte, c.Size())
		reqs := make([]strand.Request, c.Size()) // that of rank 0 stays zero, and is passed over
		for rank := 1; rank < c.Size(); rank++ {
			var err error
			if reqs[rank], err = c.Irecv(answers[rank][:], rank, 0); err != nil {
				return err
			}
		}
		sum := 0
		for {
			rank, _, err := strand.WaitAny(ctx, reqs)
			if err != nil {
				return err
			}
			if rank < 0 {
				break // all have ended
			}
			sum += int(answers[rank][0])
		}
		fmt.Println("sum:", sum)
		return nil
	})
	// Output: sum: 30
}

// WaitAll waits for every request. Its error names those that have failed; the others have
// succeeded.
func ExampleWaitAll() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 1 {
			for tag, text := range []string{"one", "one too many", "two"} {
				if err := c.Send(ctx, []byte(text), 0, tag); err != nil {
					return err
				}
			}
			return nil
		}
		var bufs [3][8]byte
		reqs, statuses := make([]strand.Request, 3), make([]strand.Status, 3)
		for tag := range reqs {
			var err error
			if reqs[tag], err = c.Irecv(bufs[tag][:], 1, tag); err != nil {
				return err
			}
		}
		err := strand.WaitAll(ctx, reqs, statuses)
		if failed, is := errors.AsType[*strand.WaitError](err); is {
			for _, o := range failed.Failed {
				fmt.Printf("request %d: %v\n", o.Index, o.Err)
			}
		} else if err != nil {
			return err
		}
		for i, st := range statuses {
			fmt.Printf("%q\n", bufs[i][:st.Count])
		}
		return nil
	})
	// Output:
	// request 1: message of 12 bytes from rank 1 with tag 1 does not fit into a buffer of 8 bytes
	// "one"
	// "one too "
	// "two"
}

// WaitSome takes all requests that are complete together, so that a server pays for one wait
// where several messages have come.
func ExampleWaitSome() {
	onRanks(1, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		var bufs [3][1]byte
		reqs := make([]strand.Request, 3)
		for tag := range reqs {
			var err error
			if reqs[tag], err = c.Irecv(bufs[tag][:], 0, tag); err != nil {
				return err
			}
		}
		for _, tag := range []int{2, 0} {
			if err := c.Send(ctx, []byte{byte('a' + tag)}, 0, tag); err != nil {
				return err
			}
		}
		outcomes, err := strand.WaitSome(ctx, reqs, nil)
		for _, o := range outcomes {
			fmt.Printf("request %d: %s\n", o.Index, bufs[o.Index][:o.Status.Count])
		}
		return err
	})
	// Output:
	// request 0: a
	// request 2: c
}
