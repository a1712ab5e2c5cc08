package strand_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
)

// After a Barrier every rank knows that all others have come as far.
func ExampleComm_Barrier() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		// Each rank prepares something here.
		if err := w.Comm().Barrier(ctx); err != nil {
			return err
		}
		if w.Rank() == 0 {
			fmt.Println("all are ready")
		}
		return nil
	})
	// Output: all are ready
}

// A library that is given a communicator makes one of its own of it, so that its messages
// match none of the program's, whatever the tags.
func ExampleComm_Dup() {
	onRanks(1, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		own, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = own.Free() }()
		if err := c.Send(ctx, []byte("the program's"), 0, 1); err != nil {
			return err
		}
		if err := own.Send(ctx, []byte("the library's"), 0, 1); err != nil {
			return err
		}
		buf := make([]byte, 64)
		st, err := own.Recv(ctx, buf, strand.AnySource, strand.AnyTag)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", buf[:st.Count])
		_, err = c.Recv(ctx, buf, 0, 1)
		return err
	})
	// Output: the library's
}

// Urgent messages overtake what waits to be sent to the same process: here, the word to stop does not
// wait for the data.
func ExampleComm_DupWith() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		control, err := c.DupWith(ctx, strand.Urgent)
		if err != nil {
			return err
		}
		data := make([]byte, 1<<20)
		if c.Rank() == 0 {
			r, err := c.Isend(data, 1, 0)
			if err != nil {
				return err
			}
			if err := control.Send(ctx, []byte("stop"), 1, 0); err != nil {
				return err
			}
			_, err = r.Wait(ctx)
			return err
		}
		word := make([]byte, 4)
		if _, err := control.Recv(ctx, word, 0, 0); err != nil {
			return err
		}
		fmt.Printf("%s\n", word)
		_, err = c.Recv(ctx, data, 0, 0)
		return err
	})
	// Output: stop
}

// Four ranks form two rows: those of equal colour are in one communicator, in the order of
// the key.
func ExampleComm_Split() {
	onRanks(4, func(ctx context.Context, w *strand.World) error {
		row, err := w.Comm().Split(ctx, w.Rank()/2, w.Rank())
		if err != nil {
			return err
		}
		fmt.Printf("rank %d is rank %d of %d in row %d\n", w.Rank(), row.Rank(), row.Size(), w.Rank()/2)
		return row.Free()
	})
	// Unordered output:
	// rank 0 is rank 0 of 2 in row 0
	// rank 1 is rank 1 of 2 in row 0
	// rank 2 is rank 0 of 2 in row 1
	// rank 3 is rank 1 of 2 in row 1
}

// Translate finds the rank that a member of one communicator has in another.
func ExampleComm_Translate() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		reversed, err := w.Comm().Split(ctx, 0, -w.Rank())
		if err != nil {
			return err
		}
		if w.Rank() == 0 {
			rank, _ := reversed.Translate(0, w.Comm())
			fmt.Println("rank 0 of the reversed communicator is rank", rank, "of the world")
		}
		return reversed.Free()
	})
	// Output: rank 0 of the reversed communicator is rank 2 of the world
}

// An operation that depends on a process that has failed ends with an error that names it.
// The others go on: rank 0 gives the work of rank 2 to rank 1.
func ExamplePeerFailedError() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		switch c.Rank() {
		case 1:
			_, err := c.Recv(ctx, make([]byte, 16), 0, 0)
			return err
		case 2:
			return errors.New("its disk is full") // Run then ends the process
		}
		_, err := c.Recv(ctx, make([]byte, 16), 2, 0)
		failed, is := errors.AsType[*strand.PeerFailedError](err)
		if !is {
			return err
		}
		fmt.Println("failed: rank", failed.Rank)
		return c.Send(ctx, []byte("its work"), 1, 0)
	})
	// Unordered output:
	// rank 2 ends with: its disk is full
	// failed: rank 2
}

// A receive from any source ends with an error when a member has failed, since its message
// might have been the one. AckFailed goes on with the others.
func ExampleComm_AckFailed() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		switch c.Rank() {
		case 1:
			return c.Ssend(ctx, []byte("alive"), 0, 1)
		case 2:
			return errors.New("its disk is full")
		}
		buf := make([]byte, 16)
		_, err := c.Recv(ctx, buf, strand.AnySource, 0)
		if !errors.Is(err, strand.ErrPeerFailed) {
			return err
		}
		if err := c.AckFailed(); err != nil {
			return err
		}
		st, err := c.Recv(ctx, buf, strand.AnySource, 1)
		fmt.Printf("rank %d is %s\n", st.Source, buf[:st.Count])
		return err
	})
	// Unordered output:
	// rank 2 ends with: its disk is full
	// rank 1 is alive
}

// A message that is longer than the buffer fills it; the error has both lengths.
func ExampleTruncateError() {
	onRanks(1, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if err := c.Send(ctx, []byte("four and more"), 0, 0); err != nil {
			return err
		}
		buf := make([]byte, 4)
		_, err := c.Recv(ctx, buf, 0, 0)
		if cut, is := errors.AsType[*strand.TruncateError](err); is {
			fmt.Printf("%q of %d bytes\n", buf, cut.Message)
			return nil
		}
		return err
	})
	// Output: "four" of 13 bytes
}

// Stats counts what is worth knowing about a program's messages: one that comes before its
// receive is copied once more.
func ExampleWorld_Stats() {
	onRanks(1, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if err := c.Send(ctx, nil, 0, 1); err != nil {
			return err
		}
		if _, err := c.Recv(ctx, nil, 0, 1); err != nil {
			return err
		}
		r, err := c.Irecv(nil, 0, 2)
		if err != nil {
			return err
		}
		if err := c.Send(ctx, nil, 0, 2); err != nil {
			return err
		}
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
		fmt.Println("unexpected:", w.Stats().Unexpected)
		return nil
	})
	// Output: unexpected: 1
}

// Init and Close join and leave the world without Run, for programs that do more than
// pass messages.
func ExampleInit() {
	ctx := context.Background()
	w, err := strand.Init(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rank %d of %d\n", w.Rank(), w.Size())
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: rank 0 of 1
}

// WithParam sets a parameter for this program; strand run --mca can still change it.
func ExampleWithParam() {
	w, err := strand.Init(context.Background(), strand.WithParam("pml_eager_max", "1M"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	v := w.Params().Value("pml_eager_max")
	fmt.Println(v.Text, "set by", v.Source)
	// Output: 1M set by the program
}

// WithLog takes the lines that would go to standard error. The parameter verbose says how many
// there are: at 1, of every connection.
func ExampleWithLog() {
	var lines atomic.Int64 // of both ranks, which are goroutines here
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		return w.Comm().Barrier(ctx)
	}, strand.WithParam("verbose", "1"), strand.WithLog(func(btl.LogLevel, string) { lines.Add(1) }))
	fmt.Println("there are lines:", lines.Load() > 0)
	// Output: there are lines: true
}
