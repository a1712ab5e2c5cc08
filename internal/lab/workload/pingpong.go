package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand"
)

// PingPong sends a message from rank 0 to rank 1 and back, again and again, in one size after the
// other. Rank 1 sends back what it has received, unchecked. Rank 0 checks what comes back when it
// has taken the time, and so checks both ways.
type PingPong struct {
	Sizes  []int `json:"sizes"`  // bytes
	Rounds int   `json:"rounds"` // that are measured, of each size
	Warmup int   `json:"warmup"` // before those
}

// PingPongResult is how long rounds took.
type PingPongResult struct {
	BySize []Rounds `json:"by_size"`
}

// Rounds are those of one size.
type Rounds struct {
	Size    int     `json:"size"`
	Seconds float64 `json:"seconds"` // of all rounds

	// BytesPerSecond counts each message once, as the thesis does: of a round trip
	// both.
	BytesPerSecond float64 `json:"bytes_per_second"`

	Delays // of a round
}

// sizeText has the units of the thesis's tables.
func sizeText(bytes int) string {
	switch {
	case bytes > 0 && bytes%1_000_000 == 0:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	case bytes > 0 && bytes%1000 == 0:
		return fmt.Sprintf("%d KB", bytes/1000)
	}
	return fmt.Sprintf("%d B", bytes)
}

const pingTag = 1

// Check implements [Workload].
func (p PingPong) Check() error {
	if p.Rounds < 1 || p.Warmup < 0 || p.Rounds > MaxTasks || p.Warmup > MaxTasks {
		return fmt.Errorf("%d rounds after %d to warm up: want 1 to %d, and 0 to %d", p.Rounds, p.Warmup, MaxTasks, MaxTasks)
	}
	if len(p.Sizes) < 1 || len(p.Sizes) > MaxMany {
		return fmt.Errorf("%d sizes: want 1 to %d", len(p.Sizes), MaxMany)
	}
	for _, size := range p.Sizes {
		if err := CheckSize(size); err != nil {
			return err
		}
	}
	return nil
}

// Permits implements [Workload].
func (p PingPong) Permits(ranks int) error { return atLeast(2, ranks) }

// Run implements [Workload]; ranks other than 0 and 1 have nothing to do.
func (p PingPong) Run(ctx context.Context, c *strand.Comm) (Result, error) {
	if c.Rank() > 1 {
		return nil, nil
	}
	r := &PingPongResult{}
	for _, size := range p.Sizes {
		seconds, err := p.rounds(ctx, c, size)
		if err != nil {
			return nil, fmt.Errorf("messages of %s: %w", sizeText(size), err)
		}
		if c.Rank() == 0 {
			r.BySize = append(r.BySize, roundsOf(size, seconds))
		}
	}
	if c.Rank() != 0 {
		return nil, nil
	}
	return r, nil
}

// rounds exchanges messages of a size and returns, on rank 0, how long each round took.
func (p PingPong) rounds(ctx context.Context, c *strand.Comm, size int) ([]float64, error) {
	content, buf := newPayload(size), make([]byte, size)
	var head [numberBytes]byte
	pieces := [][]byte{head[:], nil}
	seconds := make([]float64, 0, p.Rounds)
	for round := range p.Warmup + p.Rounds {
		if c.Rank() == 1 {
			if err := echo(ctx, c, buf); err != nil {
				return nil, err
			}
			continue
		}
		number := uint64(round)
		binary.LittleEndian.PutUint64(head[:], number)
		pieces[1] = content.window(number)
		start := time.Now()
		if err := c.SendV(ctx, pieces, 1, pingTag); err != nil {
			return nil, err
		}
		st, err := c.Recv(ctx, buf, 1, pingTag)
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		if got, err := content.check(buf[:st.Count]); err != nil || got != number {
			return nil, errors.Join(err, fmt.Errorf("round %d: message %d came back", round, got))
		}
		if round >= p.Warmup {
			seconds = append(seconds, took.Seconds())
		}
	}
	return seconds, nil
}

// echo sends one message back.
func echo(ctx context.Context, c *strand.Comm, buf []byte) error {
	st, err := c.Recv(ctx, buf, 0, pingTag)
	if err != nil {
		return err
	}
	return c.Send(ctx, buf[:st.Count], 0, pingTag)
}

func roundsOf(size int, seconds []float64) Rounds {
	r := Rounds{Size: size, Delays: delaysOf(seconds)}
	for _, s := range seconds {
		r.Seconds += s
	}
	r.BytesPerSecond = 2 * float64(size) * float64(len(seconds)) / r.Seconds
	return r
}
