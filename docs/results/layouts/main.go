// Command layouts measures what a message of short blocks costs beside a contiguous one. Its arguments are how many rounds, and
// how often each message goes in a round. It prints a line for each round, size and block: the seconds that one takes.
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
	if err := strand.Run(context.Background(), run); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w *strand.World) error {
	rounds, repeat := argument(1, 5), argument(2, 20)
	buf := make([]byte, 8<<20)
	for range rounds {
		for _, size := range []int{64 << 10, 1 << 20, 4 << 20} {
			for _, block := range []int{0, 8, 64, 1 << 10, 16 << 10} {
				each, err := measure(ctx, w.Comm(), view(buf, size, block), repeat)
				if err != nil {
					return err
				}
				if w.Rank() == 0 {
					fmt.Printf("%d %d %.9f\n", size, block, each.Seconds())
				}
			}
		}
	}
	return nil
}

func argument(i, otherwise int) int {
	if len(os.Args) > i {
		if n, err := strconv.Atoi(os.Args[i]); err == nil {
			return n
		}
	}
	return otherwise
}

// view is every second block of the buffer.
func view(buf []byte, size, block int) strand.View {
	if block == 0 {
		return strand.ViewOf(buf[:size])
	}
	return strand.Vector[byte](size/block, block, 2*block).Of(buf)
}

// measure has a message go forth and back.
func measure(ctx context.Context, c *strand.Comm, v strand.View, repeat int) (time.Duration, error) {
	var start time.Time
	for i := -2; i < repeat; i++ {
		if i == 0 {
			if err := c.Barrier(ctx); err != nil {
				return 0, err
			}
			start = time.Now()
		}
		for turn := range 2 {
			var err error
			if turn == c.Rank() {
				err = c.SendView(ctx, v, 1-turn, 1)
			} else {
				_, err = c.RecvView(ctx, v, turn, 1)
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return time.Since(start) / time.Duration(2*repeat), nil
}
