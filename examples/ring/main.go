// Ring passes a token around all ranks: the smallest program that uses every
// process and only as many connections as it needs.
//
//	strand run -n 64 bin/ring -rounds 100
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/strandmp/strand"
)

func main() {
	rounds := flag.Int("rounds", 100, "how often the token goes around")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "ring: unexpected argument %q; see ring -h\n", flag.Arg(0))
		os.Exit(2)
	}
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		return ring(ctx, w, *rounds, os.Stdout)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "ring:", err)
		os.Exit(1)
	}
}

// Tags: the two kinds of token.
const (
	tagToken = iota
	tagCensus
)

// ring runs on every rank; rank 0 starts the tokens and reports to out.
func ring(ctx context.Context, w *strand.World, rounds int, out io.Writer) error {
	if rounds < 1 {
		return fmt.Errorf("-rounds %d: at least one is needed", rounds)
	}
	c := w.Comm()

	// The first round opens the connections, so it is not timed.
	if err := token(ctx, c, 1); err != nil {
		return err
	}
	start := time.Now()
	if err := token(ctx, c, rounds); err != nil {
		return err
	}
	elapsed := time.Since(start)

	ends, err := census(ctx, c, len(w.Rails()))
	if err != nil || c.Rank() != 0 {
		return err
	}
	hops := rounds * c.Size()
	fmt.Fprintf(out, "ring of %s, %s: %v, %v a round, %v a hop\n",
		plural(c.Size(), "rank"), plural(rounds, "round"), rounded(elapsed), rounded(elapsed/time.Duration(rounds)), rounded(elapsed/time.Duration(hops)))
	if c.Size() > 1 {
		fmt.Fprintf(out, "opened %s; every rank with every other would be %d\n", plural((ends+1)/2, "connection"), pairs(c.Size()))
	}
	return nil
}

// token sends a counter around. Every rank adds one; rank 0 looks that nobody
// was left out.
func token(ctx context.Context, c *strand.Comm, rounds int) error {
	next, previous := neighbours(c)
	count := make([]int64, 1)
	for round := range rounds {
		if c.Rank() == 0 {
			count[0]++
			if err := pass(ctx, c, count, next, previous, tagToken); err != nil {
				return err
			}
			if want := int64(round+1) * int64(c.Size()); count[0] != want {
				return fmt.Errorf("round %d: the token counts %d hops, not %d", round, count[0], want)
			}
			continue
		}
		if _, _, err := strand.Recv(ctx, c, count, previous, tagToken); err != nil {
			return err
		}
		count[0]++
		if err := strand.Send(ctx, c, count, next, tagToken); err != nil {
			return err
		}
	}
	return nil
}

// census adds up, in one more round, how many ends of connections the ranks
// have. Each connection has two, but one to oneself.
func census(ctx context.Context, c *strand.Comm, mine int) (int, error) {
	next, previous := neighbours(c)
	sum := []int64{int64(mine)}
	if c.Rank() == 0 {
		err := pass(ctx, c, sum, next, previous, tagCensus)
		return int(sum[0]), err
	}
	if _, _, err := strand.Recv(ctx, c, sum, previous, tagCensus); err != nil {
		return 0, err
	}
	sum[0] += int64(mine)
	return 0, strand.Send(ctx, c, sum, next, tagCensus)
}

// pass starts a token and waits until it comes back. The receive is posted
// first, so that a ring of one works too.
func pass(ctx context.Context, c *strand.Comm, v []int64, next, previous, tag int) error {
	back := make([]int64, len(v))
	r, err := strand.Irecv(c, back, previous, tag)
	if err != nil {
		return err
	}
	err = strand.Send(ctx, c, v, next, tag)
	_, waitErr := r.Wait(ctx)
	copy(v, back)
	return errors.Join(err, waitErr)
}

func neighbours(c *strand.Comm) (next, previous int) {
	n := c.Size()
	return (c.Rank() + 1) % n, (c.Rank() + n - 1) % n
}

// pairs is the number of connections that n ranks have when each has talked to
// each; one rank talks to itself.
func pairs(n int) int { return max(1, n*(n-1)/2) }

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func rounded(d time.Duration) time.Duration {
	switch {
	case d > time.Second:
		return d.Round(time.Millisecond)
	case d > time.Millisecond:
		return d.Round(time.Microsecond)
	}
	return d.Round(10 * time.Nanosecond)
}
