//go:build linux

// Package traffic is what two ranks exchange while something happens to the networks between
// them: messages of all lengths, every byte of which is compared. It has their role, and what
// tests ask of what they tell.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package traffic

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/strandmp/strand"
)

// secondsVariable says how long traffic goes on.
const secondsVariable = "TRAFFIC_SECONDS"

// For is the setting by which traffic goes on for some seconds.
func For(seconds int) string { return fmt.Sprintf("%s=%d", secondsVariable, seconds) }

// Time is for how long traffic is to go on, in a rank.
func Time() (time.Duration, error) {
	seconds, err := strconv.ParseFloat(os.Getenv(secondsVariable), 64)
	return time.Duration(seconds * float64(time.Second)), err
}

// batch is how many messages each of two ranks sends the other before both wait
// for all of them.
const batch = 64

// leastRounds are as many as there are to be in any case.
const leastRounds = 16

// Payload is the content of a message: its own for each, cut from the same noise, so that it
// costs little beside its way.
func Payload(sender, round, i, size int) []byte {
	tape := noise()
	k := uint64(sender+1)*0x9E3779B97F4A7C15 + uint64(round)*0xBF58476D1CE4E5B9 + uint64(i)
	k *= 6364136223846793005
	from := int((k ^ k>>32) % uint64(len(tape)))
	b := make([]byte, size)
	for done := 0; done < size; {
		done += copy(b[done:], tape[(from+done)%len(tape):])
	}
	return b
}

// noise is longer than most messages, and its length a prime: what went astray by a round
// number of bytes is not taken for what belongs there.
var noise = sync.OnceValue(func() []byte {
	b := make([]byte, 1<<20+7)
	_, _ = rand.NewChaCha8([32]byte{'n', 'o', 'i', 's', 'e'}).Read(b) // never fails
	return b
})

// Length draws the length of a message, the same for sender and receiver: from 8
// bytes to 1 MB, all magnitudes alike.
func Length(sender, round, i int) int {
	r := rand.New(rand.NewPCG(uint64(sender), uint64(round)<<8|uint64(i)))
	return 8 + r.IntN(1<<(4+r.IntN(17)))
}

// Role has two ranks exchange batches of messages for some seconds, or until rank 0 is sent
// SIGUSR1, and tells of each eighth round.
func Role(ctx context.Context, w *strand.World) error {
	last, err := Time()
	if err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGUSR1)
	until := time.Now().Add(last)
	return Rally(ctx, w, batch, 8, func(round int) bool {
		select {
		case <-ended:
			until = time.Now()
		default:
		}
		// In time, but not before the rounds that tests wait for, on a slow machine.
		return round >= leastRounds && !time.Now().Before(until)
	})
}

// Rally has two ranks send each other messages of all lengths, with several tags,
// to exact and to wildcard receives, and compares every byte, until rank 0 has enough. Each tells of
// rounds, and by which rails they went, every tenth of a second how many bytes it has, and in the
// end how much was sent again.
func Rally(ctx context.Context, w *strand.World, batch, tell int, enough func(round int) bool) error {
	c := w.Comm()
	peer := 1 - c.Rank()
	var sum atomic.Int64
	go Meter(ctx, &sum)
	sent := make(map[string]uint64)
	for round := 0; ; round++ {
		n, err := exchange(ctx, c, peer, round, batch)
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if sum.Add(int64(n)); round%tell == 0 {
			fmt.Printf("round %d by %s\n", round, strings.Join(carriers(w, sent), " and "))
			fmt.Println("up:", strings.Join(railsUp(w), " and "))
		}
		more := []byte{1} // rank 0 decides for both
		if c.Rank() == 0 {
			if enough(round) {
				more[0] = 0
			}
			err = c.Send(ctx, more, 1, 100)
		} else {
			_, err = c.Recv(ctx, more, 0, 100)
		}
		if err != nil {
			return err
		}
		if more[0] == 0 {
			fmt.Printf("done: %d bytes, %d frames sent again\n", sum.Load(), w.Stats().Replayed)
			return nil
		}
	}
}

// carriers describes the rails that have sent something since the last call, which sent
// keeps account of.
func carriers(w *strand.World, sent map[string]uint64) (carried []string) {
	for _, r := range w.Rails() {
		name := r.Module + " " + r.Desc
		if n := r.Traffic.BytesSent; n != sent[name] {
			sent[name] = n
			carried = append(carried, name)
		}
	}
	return carried
}

// railsUp describes the rails that are connected.
func railsUp(w *strand.World) (up []string) {
	for _, r := range w.Rails() {
		if r.Up {
			up = append(up, r.Module+" "+r.Desc)
		}
	}
	return up
}

// Meter prints a sum every tenth of a second.
func Meter(ctx context.Context, sum *atomic.Int64) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fmt.Printf("%s%d\n", MeterPrefix, sum.Load())
		case <-ctx.Done():
			return
		}
	}
}

// MeterPrefix begins the lines of meter.
const MeterPrefix = "bytes so far: "

// exchange is one round.
func exchange(ctx context.Context, c *strand.Comm, peer, round, batch int) (sum int, err error) {
	var reqs []strand.Request
	bufs := make([][]byte, batch)
	for i := range bufs {
		bufs[i] = make([]byte, Length(peer, round, i))
		source, tag := peer, i%4
		if round%2 == 1 {
			source, tag = strand.AnySource, strand.AnyTag // in the order of sending
		}
		req, err := c.Irecv(bufs[i], source, tag)
		if err != nil {
			return 0, err
		}
		reqs = append(reqs, req)
	}
	for i := range batch {
		req, err := c.Isend(Payload(c.Rank(), round, i, Length(c.Rank(), round, i)), peer, i%4)
		if err != nil {
			return 0, err
		}
		reqs = append(reqs, req)
	}
	if err := strand.WaitAll(ctx, reqs, nil); err != nil {
		return 0, err
	}
	for i, b := range bufs {
		if !bytes.Equal(b, Payload(peer, round, i, len(b))) {
			return 0, fmt.Errorf("message %d of %d bytes is damaged", i, len(b))
		}
		sum += len(b)
	}
	return sum, nil
}
