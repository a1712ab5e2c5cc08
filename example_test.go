package strand_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// onRanks runs f on n ranks within this process, each with a world of its own over TCP. In a
// program, main calls strand.Run(ctx, f), and "strand run -n 4 ./prog" starts the processes.
func onRanks(n int, f func(ctx context.Context, w *strand.World) error, opts ...strand.Option) {
	var wg sync.WaitGroup
	for _, job := range world.ToldJobs(n) {
		wg.Go(func() {
			err := strand.Run(context.Background(), f, append(opts[:len(opts):len(opts)], strand.WithJob(job))...)
			if err != nil {
				fmt.Printf("rank %d ends with: %v\n", job.Rank(), err)
			}
		})
	}
	wg.Wait()
}

// A program is a function that every process of the job runs, given to Run. Started by
// nobody's launcher, as here, it is a world of one process.
func Example() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() > 0 {
			return c.Send(ctx, fmt.Appendf(nil, "rank %d", c.Rank()), 0, 7)
		}
		buf := make([]byte, 256)
		for range c.Size() - 1 {
			st, err := c.Recv(ctx, buf, strand.AnySource, 7)
			if err != nil {
				return err
			}
			fmt.Printf("hello from %s\n", buf[:st.Count])
		}
		fmt.Println("processes:", c.Size())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: processes: 1
}

// Rank 0 sends a message with tag 7, and rank 1 receives it.
func ExampleComm_Send() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return c.Send(ctx, []byte("hello"), 1, 7)
		}
		buf := make([]byte, 64)
		st, err := c.Recv(ctx, buf, 0, 7)
		if err != nil {
			return err
		}
		fmt.Printf("%q from rank %d with tag %d\n", buf[:st.Count], st.Source, st.Tag)
		return nil
	})
	// Output: "hello" from rank 0 with tag 7
}

// A receive from AnySource takes the message of whichever rank has one; the status says whose
// it was.
func ExampleComm_Recv_anySource() {
	onRanks(4, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() > 0 {
			return c.Send(ctx, []byte{byte(c.Rank() * c.Rank())}, 0, 1)
		}
		squares := make([]int, c.Size())
		for range c.Size() - 1 {
			buf := make([]byte, 1)
			st, err := c.Recv(ctx, buf, strand.AnySource, strand.AnyTag)
			if err != nil {
				return err
			}
			squares[st.Source] = int(buf[0])
		}
		fmt.Println(squares)
		return nil
	})
	// Output: [0 1 4 9]
}

// A receive whose context ends is taken back: its buffer is the caller's again, and the
// message, should it come, is there for another receive.
func ExampleComm_Recv_context() {
	onRanks(1, func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 8)
		impatient, cancel := context.WithCancel(ctx)
		cancel() // or context.WithTimeout
		_, err := c.Recv(impatient, buf, 0, 1)
		fmt.Println(err)

		if err := c.Send(ctx, []byte("late"), 0, 1); err != nil {
			return err
		}
		st, err := c.Recv(ctx, buf, 0, 1)
		fmt.Printf("%s\n", buf[:st.Count])
		return err
	})
	// Output:
	// context canceled
	// late
}

// Every rank of a ring sends to its right and receives from its left. Sendrecv does both at
// the same time; with Send and then Recv, all could wait for each other.
func ExampleComm_Sendrecv() {
	onRanks(3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		in := make([]byte, 1)
		if _, err := c.Sendrecv(ctx, []byte{byte(c.Rank())}, right, 0, in, left, 0); err != nil {
			return err
		}
		fmt.Printf("rank %d has got %d\n", c.Rank(), in[0])
		return nil
	})
	// Unordered output:
	// rank 0 has got 2
	// rank 1 has got 0
	// rank 2 has got 1
}

// Ssend returns only when the receiver has the message in hand, so that its return is news
// about the receiver. Send may return earlier.
func ExampleComm_Ssend() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 1 {
			_, err := c.Recv(ctx, make([]byte, 4), 0, 0)
			return err
		}
		if err := c.Ssend(ctx, []byte("task"), 1, 0); err != nil {
			return err
		}
		fmt.Println("rank 1 has begun to receive the task")
		return nil
	})
	// Output: rank 1 has begun to receive the task
}

// Bsend copies the message and returns at once, whether or not anybody receives it. The
// parameter pml_buffered_max bounds the copies.
func ExampleComm_Bsend() {
	onRanks(1, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		buf := []byte("first")
		if err := c.Bsend(ctx, buf, 0, 0); err != nil {
			return err
		}
		copy(buf, "other") // the message has been copied
		err := c.Bsend(ctx, make([]byte, 1<<20), 0, 0)
		fmt.Println("no room:", errors.Is(err, strand.ErrBuffer))
		st, err := c.Recv(ctx, buf, 0, 0)
		fmt.Printf("%s\n", buf[:st.Count])
		return err
	}, strand.WithParam("pml_buffered_max", "64K"))
	// Output:
	// no room: true
	// first
}

// SendV and RecvV send and receive one message that lies in several pieces of memory, without
// copying it together.
func ExampleComm_SendV() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return c.SendV(ctx, [][]byte{[]byte("head"), []byte("and body")}, 1, 0)
		}
		head, body := make([]byte, 4), make([]byte, 64)
		st, err := c.RecvV(ctx, [][]byte{head, body}, 0, 0)
		if err != nil {
			return err
		}
		fmt.Printf("%q %q\n", head, body[:st.Count-len(head)])
		return nil
	})
	// Output: "head" "and body"
}

// The function Send is the typed form of the method: it sends numbers and structs as they are
// in memory, without a copy.
func ExampleSend() {
	type particle struct {
		Position [3]float64
		Charge   int32
	}
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return strand.Send(ctx, c, []particle{{[3]float64{1, 2, 3}, -1}, {Charge: 2}}, 1, 0)
		}
		in := make([]particle, 8)
		n, _, err := strand.Recv(ctx, c, in, 0, 0)
		if err != nil {
			return err
		}
		fmt.Println(in[:n])
		return nil
	})
	// Output: [{[1 2 3] -1} {[0 0 0] 2}]
}

// Bytes gives values to a call that has no typed form: here a header and numbers make up one
// message.
func ExampleBytes() {
	type header struct{ Step, Cells int64 }
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		heads, cells := make([]header, 1), make([]float64, 3)
		if c.Rank() == 0 {
			heads[0], cells = header{Step: 12, Cells: 3}, []float64{0.5, 1, 1.5}
		}
		head, err := strand.Bytes(heads)
		if err != nil {
			return err
		}
		body, err := strand.Bytes(cells)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			return c.SendV(ctx, [][]byte{head, body}, 1, 0)
		}
		if _, err := c.RecvV(ctx, [][]byte{head, body}, 0, 0); err != nil {
			return err
		}
		fmt.Println(heads[0], cells)
		return nil
	})
	// Output: {12 3} [0.5 1 1.5]
}

// Probe tells how long a message is before it is received.
func ExampleComm_Probe() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return c.Send(ctx, []byte("as long as it likes"), 1, 5)
		}
		st, err := c.Probe(ctx, strand.AnySource, strand.AnyTag)
		if err != nil {
			return err
		}
		buf := make([]byte, st.Count)
		_, err = c.Recv(ctx, buf, st.Source, st.Tag)
		fmt.Printf("%d bytes: %s\n", st.Count, buf)
		return err
	})
	// Output: 19 bytes: as long as it likes
}

// Mprobe takes the message that it finds, so that no other goroutine's receive gets it between
// the probe and the receive.
func ExampleComm_Mprobe() {
	onRanks(2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return c.Send(ctx, []byte("for one of many goroutines"), 1, 5)
		}
		m, err := c.Mprobe(ctx, strand.AnySource, strand.AnyTag)
		if err != nil {
			return err
		}
		buf := make([]byte, m.Status().Count)
		_, err = m.Recv(ctx, buf)
		fmt.Printf("%s\n", buf)
		return err
	})
	// Output: for one of many goroutines
}
