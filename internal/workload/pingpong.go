package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand"
)

// PingPong sends a message from rank 0 to rank 1 and back, again and again.
type PingPong struct {
	Size   int `json:"size"`   // bytes
	Rounds int `json:"rounds"` // that are measured
	Warmup int `json:"warmup"` // before that
}

// PingPongResult is how long rounds took.
type PingPongResult struct {
	PingPong
	Seconds float64 `json:"seconds"` // of all rounds

	// BytesPerSecond counts each message once, as the thesis does: of a round trip
	// both.
	BytesPerSecond float64 `json:"bytes_per_second"`

	Delays // of a round
}

const pingTag = 1

// Check returns what is wrong with the parameters.
func (p PingPong) Check() error {
	if p.Rounds < 1 || p.Warmup < 0 {
		return fmt.Errorf("%d rounds after %d to warm up: want at least 1, and 0 or more", p.Rounds, p.Warmup)
	}
	return checkSize(p.Size)
}

// Run takes part; ranks other than 0 and 1 have nothing to do. The result is nil on all
// ranks but 0.
func (p PingPong) Run(ctx context.Context, c *strand.Comm) (*PingPongResult, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if c.Size() < 2 {
		return nil, errors.New("a ping-pong needs 2 ranks")
	}
	if c.Rank() > 1 {
		return nil, nil
	}
	content, buf := newPayload(p.Size), make([]byte, p.Size)
	var head [numberBytes]byte
	pieces := [][]byte{head[:], nil}
	peer := 1 - c.Rank()
	seconds := make([]float64, 0, p.Rounds)
	for round := range p.Warmup + p.Rounds {
		number := uint64(round)
		binary.LittleEndian.PutUint64(head[:], number)
		pieces[1] = content.window(number)
		start := time.Now()
		if c.Rank() == 0 {
			if err := c.SendV(ctx, pieces, peer, pingTag); err != nil {
				return nil, err
			}
		}
		st, err := c.Recv(ctx, buf, peer, pingTag)
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		if got, err := content.check(buf[:st.Count]); err != nil || got != number {
			return nil, errors.Join(err, fmt.Errorf("round %d: message %d came from rank %d", round, got, peer))
		}
		if c.Rank() == 1 {
			if err := c.SendV(ctx, pieces, peer, pingTag); err != nil {
				return nil, err
			}
		}
		if round >= p.Warmup {
			seconds = append(seconds, took.Seconds())
		}
	}
	if c.Rank() != 0 {
		return nil, nil
	}
	return p.result(seconds), nil
}

func (p PingPong) result(seconds []float64) *PingPongResult {
	r := &PingPongResult{PingPong: p}
	for _, s := range seconds {
		r.Seconds += s
	}
	r.BytesPerSecond = 2 * float64(p.Size) * float64(len(seconds)) / r.Seconds
	r.Delays = delaysOf(seconds)
	return r
}
