// Command late measures how late messages come to a rank that waits for them: the other one computes for up to 0.6 ms before each, and
// never waits. It prints how many came more than 0.7 ms late, of how many, and the median and the 99th percentile in µs. Its argument is how
// many there are.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
)

const (
	longest = 600 * time.Microsecond
	late    = 700 * time.Microsecond
)

func main() {
	if err := strand.Run(context.Background(), run); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w *strand.World) error {
	count := 6000
	if len(os.Args) > 1 {
		var err error
		if count, err = strconv.Atoi(os.Args[1]); err != nil || count < 1 {
			return fmt.Errorf("%q: want how many messages, such as 6000", os.Args[1])
		}
	}
	switch w.Rank() {
	case 0:
		return send(ctx, w.Comm(), count)
	case 1:
		return receive(ctx, w.Comm(), count)
	}
	return nil
}

// now is a time that all processes of a host share, and that is not set.
func now() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano()), err
}

func send(ctx context.Context, c *strand.Comm, count int) error {
	var b [8]byte
	for range count {
		for begun, d := time.Now(), rand.N(longest); time.Since(begun) < d; {
		}
		at, err := now()
		if err != nil {
			return err
		}
		binary.NativeEndian.PutUint64(b[:], uint64(at))
		if err := c.Send(ctx, b[:], 1, 0); err != nil {
			return err
		}
	}
	return nil
}

func receive(ctx context.Context, c *strand.Comm, count int) error {
	var b [8]byte
	var took []time.Duration
	above := 0
	for range count {
		if _, err := c.Recv(ctx, b[:], 0, 0); err != nil {
			return err
		}
		at, err := now()
		if err != nil {
			return err
		}
		d := at - time.Duration(binary.NativeEndian.Uint64(b[:]))
		if took = append(took, d); d > late {
			above++
		}
	}
	slices.Sort(took)
	us := func(share int) float64 { return float64(took[count*share/100].Nanoseconds()) / 1e3 }
	fmt.Printf("%d %d %.1f %.1f\n", above, count, us(50), us(99))
	return nil
}
