//go:build linux

package accuracy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strandmp/strand/internal/emulate"
	"github.com/strandmp/strand/internal/emulate/network"
)

// A Contest has one TCP connection send what it can over the same link by each
// backend, in turn: whether it makes a difference to TCP who emulates a link.
type Contest struct {
	Link       emulate.Link // but for its loss
	Losses     []float64
	Congestion string // control of the connection
	Runs       int    // of each
	Warmup     time.Duration
	Stretch    time.Duration // of a run, that counts
	Seed       uint64        // of the first run; each has the next
}

// StandardContest is what docs/results has: some 10 minutes.
func StandardContest() Contest {
	return Contest{
		Link: emulate.Link{
			NIC:  emulate.NIC{Rate: 20 * emulate.Mbit, Queue: emulate.Queue{Frames: 100}},
			Path: emulate.Path{Delay: 10 * time.Millisecond},
		},
		Losses: []float64{0, 0.001, 0.01, 0.03}, Congestion: "cubic", Runs: 10, Warmup: 2 * time.Second, Stretch: 4 * time.Second, Seed: 1,
	}
}

// A Bout is what both backends got for one loss.
type Bout struct {
	Loss      float64 `json:"loss"`
	UserSpace Mean    `json:"user_space"` // bit/s of data
	Netem     Mean    `json:"netem"`
}

// Agree tells whether the two may well be the same: their intervals overlap.
func (b Bout) Agree() bool {
	return b.UserSpace.Low <= b.Netem.High && b.Netem.Low <= b.UserSpace.High
}

// Run runs all bouts and reports each as it ends.
func (c Contest) Run(ctx context.Context, report func(Bout)) error {
	seed := c.Seed
	for _, loss := range c.Losses {
		got := make(map[network.Backend][]float64)
		for range c.Runs {
			for _, backend := range []network.Backend{network.Netem, network.UserSpace} {
				speed, err := c.one(ctx, backend, loss, seed)
				if err != nil {
					return fmt.Errorf("TCP over %s with a loss of %g: %w", backend, loss, err)
				}
				got[backend] = append(got[backend], speed)
			}
			seed++
		}
		report(Bout{loss, meanOf(got[network.UserSpace]), meanOf(got[network.Netem])})
	}
	return nil
}

func (c Contest) one(ctx context.Context, backend network.Backend, loss float64, seed uint64) (float64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	link := c.Link
	link.Loss = emulate.Independent(loss)
	n, err := network.New(network.Config{Hosts: 2, Link: link, Seed: seed, Backend: backend})
	if err != nil {
		return 0, err
	}
	speed, err := c.speed(ctx, n)
	_, closeErr := n.Close()
	return speed, errors.Join(err, closeErr)
}

// speed is what a connection from host 0 to host 1 gets, in bit/s.
func (c Contest) speed(ctx context.Context, n *network.Network) (float64, error) {
	s, err := newStream(n, c.Congestion)
	if err != nil {
		return 0, err
	}
	var got [2]int64
	var at [2]time.Time
	for i, pause := range []time.Duration{c.Warmup, c.Stretch} {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, errors.Join(context.Cause(ctx), s.close())
		}
		got[i], at[i] = s.received.Load(), time.Now()
	}
	return float64(got[1]-got[0]) * 8 / at[1].Sub(at[0]).Seconds(), s.close()
}
