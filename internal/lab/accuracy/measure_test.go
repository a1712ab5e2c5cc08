//go:build linux

package accuracy

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A Result is one thing that was asked of a link, and what came of it.
type Result struct {
	What  Quantity
	Asked float64
	Got   float64

	// For a delay, Low and High are the 10th and the 90th percentile of what was seen. For a loss
	// they are the bounds that chance keeps to in 95 of 100 runs. For a rate they are 0.
	Low  float64
	High float64

	Wire network.Report
}

// A Quantity is what can be asked of a link.
type Quantity string

// Quantities.
const (
	Delay Quantity = "delay" // in seconds, one way
	Rate  Quantity = "rate"  // in bit/s of Ethernet frames
	Loss  Quantity = "loss"  // as a share
)

// A Plan is what to measure.
type Plan struct {
	Delays []time.Duration
	Rates  []emulate.Rate
	Losses []float64

	// How long to measure: Datagrams is for each delay, Stretch for each rate,
	// Frames for each loss.
	Datagrams int
	Stretch   time.Duration
	Frames    int

	Seed uint64
}

// standard is the plan whose results those of comparisons rest on, docs/results/links.md. It takes about half a minute.
func standard() Plan {
	return Plan{
		Delays: []time.Duration{
			0, 100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
		},
		Rates:     []emulate.Rate{10 * emulate.Mbit, 50 * emulate.Mbit, 100 * emulate.Mbit, 500 * emulate.Mbit, 1000 * emulate.Mbit},
		Losses:    []float64{0, 0.001, 0.01, 0.02, 0.05, 0.1},
		Datagrams: 100, Stretch: time.Second, Frames: 100_000, Seed: 1,
	}
}

// Run measures all of a plan, each on a network of its own, and reports each
// result as it comes. It must run where networks can be built.
func (p Plan) Run(report func(Result)) error {
	type step struct {
		link    emulate.Link
		measure func(*network.Network) (Result, error)
	}
	var steps []step
	for _, d := range p.Delays {
		steps = append(steps, step{emulate.Link{Path: emulate.Path{Delay: d}}, func(n *network.Network) (Result, error) {
			return p.delay(n, d)
		}})
	}
	for _, r := range p.Rates {
		steps = append(steps, step{emulate.Link{NIC: emulate.NIC{Rate: r}}, func(n *network.Network) (Result, error) {
			return p.rate(n, r)
		}})
	}
	for _, l := range p.Losses {
		steps = append(steps, step{emulate.Link{Path: emulate.Path{Loss: emulate.Independent(l)}}, func(n *network.Network) (Result, error) {
			return p.loss(n, l)
		}})
	}
	for _, s := range steps {
		n, err := network.New(network.Config{Hosts: 2, Link: s.link, Seed: p.Seed})
		if err != nil {
			return err
		}
		result, err := s.measure(n)
		var closeErr error
		result.Wire, closeErr = n.Close()
		if err := errors.Join(err, closeErr); err != nil {
			return fmt.Errorf("measuring %v: %w", s.link.Path, err)
		}
		report(result)
	}
	return nil
}

// delay sends one datagram after the other and compares the time at which it was
// sent with that at which the other host's kernel got it.
func (p Plan) delay(n *network.Network, asked time.Duration) (Result, error) {
	probe, err := newProbe(n)
	if err != nil {
		return Result{}, err
	}
	defer probe.close()
	seen := make([]float64, 0, p.Datagrams)
	for range p.Datagrams {
		d, err := probe.oneWay()
		if err != nil {
			return Result{}, err
		}
		seen = append(seen, d.Seconds())
	}
	slices.Sort(seen)
	at := func(share float64) float64 { return stats.Quantile(seen, share) }
	return Result{What: Delay, Asked: asked.Seconds(), Got: at(0.5), Low: at(0.1), High: at(0.9)}, nil
}

// excess is how many times the rate is sent.
const excess = 1.25

// rate sends more than the link takes and counts what arrives in a stretch of time.
func (p Plan) rate(n *network.Network, asked emulate.Rate) (Result, error) {
	probe, err := newProbe(n)
	if err != nil {
		return Result{}, err
	}
	defer probe.close()
	stop := make(chan struct{})
	flooding := make(chan error, 1)
	go func() { flooding <- probe.flood(float64(asked)/8*excess/frameBytes, -1, stop) }()
	got, err := probe.received(p.Stretch)
	close(stop)
	return Result{What: Rate, Asked: float64(asked), Got: got * 8}, errors.Join(err, <-flooding)
}

// floodRate is what any machine can send and receive, in frames a second.
const floodRate = 50_000

// loss sends many frames and counts what arrives.
func (p Plan) loss(n *network.Network, asked float64) (Result, error) {
	probe, err := newProbe(n)
	if err != nil {
		return Result{}, err
	}
	defer probe.close()
	before, _, err := probe.target.Received()
	if err != nil {
		return Result{}, err
	}
	if err := probe.flood(floodRate, p.Frames, nil); err != nil {
		return Result{}, err
	}
	markers, err := probe.drain()
	if err != nil {
		return Result{}, err
	}
	after, _, err := probe.target.Received()
	if err != nil {
		return Result{}, err
	}
	arrived := float64(after-before) - float64(markers)
	r := Result{What: Loss, Asked: asked, Got: 1 - arrived/float64(p.Frames)}
	r.Low, r.High = interval(r.Got, p.Frames, usual)
	return r, nil
}
