// Command patterns prints how many µs a message takes in a loop of blocking calls, on rank 0. Its arguments are the pattern, the size and the number of
// messages, after a quarter as many that do not count, and "write" if each rank writes what it sends before each message.
//
//	oneway  rank 0 sends, rank 1 receives
//	exch    two ranks send to each other (Sendrecv)
//	ring    each rank sends to the next and receives from the one before
//	fanin   all send to rank 0, and wait for its answer
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/strandmp/strand"
)

func main() {
	if len(os.Args) < 4 || steps[os.Args[1]] == nil {
		log.Fatal("want oneway, exch, ring or fanin, a size and a number of messages")
	}
	if err := strand.Run(context.Background(), run); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w *strand.World) error {
	step, write := steps[os.Args[1]], len(os.Args) > 4
	size, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	c, out, in := w.Comm(), make([]byte, size), make([]byte, size)
	for i := range size {
		out[i], in[i] = 1, 2
	}
	var began time.Time
	for i := range count + count/4 {
		if i == count/4 {
			began = time.Now()
		}
		for j := 0; write && j < size; j += 64 {
			out[j]++
		}
		if err := step(ctx, c, out, in); err != nil {
			return err
		}
	}
	took := time.Since(began)
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	if c.Rank() == 0 {
		fmt.Printf("%.2f\n", float64(took.Nanoseconds())/1000/float64(count))
	}
	return nil
}

var steps = map[string]func(ctx context.Context, c *strand.Comm, out, in []byte) error{
	"oneway": func(ctx context.Context, c *strand.Comm, out, in []byte) error {
		if c.Rank()%2 == 0 {
			return c.Send(ctx, out, c.Rank()+1, 0)
		}
		_, err := c.Recv(ctx, in, c.Rank()-1, 0)
		return err
	},
	"exch": func(ctx context.Context, c *strand.Comm, out, in []byte) error {
		_, err := c.Sendrecv(ctx, out, c.Rank()^1, 0, in, c.Rank()^1, 0)
		return err
	},
	"ring": func(ctx context.Context, c *strand.Comm, out, in []byte) error {
		next, before := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		_, err := c.Sendrecv(ctx, out, next, 0, in, before, 0)
		return err
	},
	"fanin": func(ctx context.Context, c *strand.Comm, out, in []byte) error {
		if c.Rank() > 0 {
			if err := c.Send(ctx, out, 0, 0); err != nil {
				return err
			}
			_, err := c.Recv(ctx, nil, 0, 1)
			return err
		}
		for range c.Size() - 1 {
			if _, err := c.Recv(ctx, in, strand.AnySource, 0); err != nil {
				return err
			}
		}
		for rank := 1; rank < c.Size(); rank++ {
			if err := c.Send(ctx, nil, rank, 1); err != nil {
				return err
			}
		}
		return nil
	},
}
