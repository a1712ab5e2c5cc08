package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand"
)

// A Burst is what many parallel programs do, the loosely synchronous pattern. Every rank
// computes, exchanges a burst of messages with its neighbours in a ring, waits for all of them,
// and computes again. Each message of a burst has a tag of its own.
type Burst struct {
	Compute    Duration `json:"compute"`    // of a round, on an idle processor
	Messages   int      `json:"messages"`   // to each neighbour in a round
	Size       int      `json:"size"`       // bytes of a message
	Neighbours int      `json:"neighbours"` // the next rank, the one before, the one after next, …
	Rounds     int      `json:"rounds"`
}

const defaultCompute = 5 * time.Millisecond

// BurstResult is how long all rounds took, until the last rank had ended.
type BurstResult struct {
	Seconds float64 `json:"seconds"`

	// Bursts are how long rank 0 waited for its bursts, from the first send of one to its
	// last receive.
	Bursts Delays `json:"bursts"`
}

// Bounds of a burst: more is a slip of the finger.
const (
	maxCompute = Duration(time.Minute)
	maxMemory  = 1 << 30 // for what a rank receives in one burst
)

// Check implements [Workload].
func (b Burst) Check() error {
	if b.Compute < 0 || b.Compute > maxCompute {
		return fmt.Errorf("computations of %v: want 0s to %v", time.Duration(b.Compute), time.Duration(maxCompute))
	}
	err := inBounds("a burst workload",
		bound{"messages", b.Messages, MaxMany}, bound{"neighbours", b.Neighbours, MaxMany}, bound{"rounds", b.Rounds, MaxTasks})
	if err == nil {
		err = CheckSize(b.Size)
	}
	if err == nil && b.Messages*b.Neighbours > maxMemory/b.Size {
		err = fmt.Errorf("%d messages of %d bytes from each of %d neighbours: want at most %d bytes in a burst", b.Messages, b.Size, b.Neighbours, maxMemory)
	}
	return err
}

// Permits implements [Workload]: neighbours are different ranks.
func (b Burst) Permits(ranks int) error { return atLeast(b.Neighbours+1, ranks) }

// Run implements [Workload].
func (b Burst) Run(ctx context.Context, c *strand.Comm) (Result, error) {
	units, err := agreeOnWork(ctx, c, time.Duration(b.Compute))
	if err != nil {
		return nil, err
	}
	e := newExchange(b, c)
	if err := c.Barrier(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	bursts, err := e.rounds(ctx, units)
	if err != nil {
		return nil, err
	}
	if err := c.Barrier(ctx); err != nil || c.Rank() != 0 {
		return nil, err
	}
	return &BurstResult{Seconds: time.Since(start).Seconds(), Bursts: delaysOf(bursts)}, nil
}

// An exchange is a rank's part in bursts.
type exchange struct {
	Burst
	comm     *strand.Comm
	content  *payload
	peers    []ring
	heads    [][numberBytes]byte
	buffers  [][]byte
	requests []strand.Request // receives, then sends
	statuses []strand.Status
}

// A ring is a pair of neighbours: who is sent to, and who is received from.
type ring struct{ to, from int }

func newExchange(b Burst, c *strand.Comm) *exchange {
	e := &exchange{Burst: b, comm: c, content: newPayload(b.Size)}
	for i := range b.Neighbours {
		offset := i/2 + 1 // 1, −1, 2, −2, …
		if i%2 == 1 {
			offset = c.Size() - offset
		}
		e.peers = append(e.peers, ring{(c.Rank() + offset) % c.Size(), (c.Rank() - offset + c.Size()) % c.Size()})
	}
	n := b.Neighbours * b.Messages
	e.heads, e.requests, e.statuses = make([][numberBytes]byte, n), make([]strand.Request, 2*n), make([]strand.Status, 2*n)
	for range n {
		e.buffers = append(e.buffers, make([]byte, b.Size))
	}
	return e
}

// number names a message among all of a run.
func (e *exchange) number(round, from, message int) uint64 {
	return (uint64(round)*uint64(e.comm.Size())+uint64(from))*uint64(e.Messages) + uint64(message)
}

// rounds computes and exchanges, and returns how many seconds each burst took.
func (e *exchange) rounds(ctx context.Context, units int) (bursts []float64, err error) {
	for round := range e.Rounds {
		work(units)
		start := time.Now()
		if err := e.burst(ctx, round); err != nil {
			return nil, fmt.Errorf("rank %d, round %d: %w", e.comm.Rank(), round, err)
		}
		bursts = append(bursts, time.Since(start).Seconds())
		if err := e.check(round); err != nil {
			return nil, fmt.Errorf("rank %d, round %d: %w", e.comm.Rank(), round, err)
		}
	}
	return bursts, nil
}

// burst exchanges the messages of a round.
func (e *exchange) burst(ctx context.Context, round int) error {
	n := len(e.buffers)
	var err error
	for i, buf := range e.buffers {
		if e.requests[i], err = e.comm.Irecv(buf, e.peers[i/e.Messages].from, i%e.Messages); err != nil {
			return err
		}
	}
	for i := range e.heads {
		number := e.number(round, e.comm.Rank(), i%e.Messages)
		binary.LittleEndian.PutUint64(e.heads[i][:], number)
		pieces := [][]byte{e.heads[i][:], e.content.window(number)}
		if e.requests[n+i], err = e.comm.IsendV(pieces, e.peers[i/e.Messages].to, i%e.Messages); err != nil {
			return err
		}
	}
	return strand.WaitAll(ctx, e.requests, e.statuses)
}

// check looks at what has come in a round.
func (e *exchange) check(round int) error {
	for i, buf := range e.buffers {
		from := e.peers[i/e.Messages].from
		got, err := e.content.check(buf[:e.statuses[i].Count])
		if want := e.number(round, from, i%e.Messages); err != nil || got != want {
			return errors.Join(err, fmt.Errorf("message %d came from rank %d: want %d", got, from, want))
		}
	}
	return nil
}
