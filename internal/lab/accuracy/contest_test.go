//go:build linux

package accuracy

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A Contest shows whether it makes a difference to TCP who emulates a link. One connection
// sends what it can over the same link, by each backend in turn.
type Contest struct {
	Link       emulate.Link // but for its loss
	Losses     []float64
	Congestion string // control of the connection
	Runs       int    // of each
	Warmup     time.Duration
	Stretch    time.Duration // the part of a run that counts
	Seed       uint64
}

// standardContest is the contest of docs/results. It takes some 8 minutes.
func standardContest() Contest {
	return Contest{
		Link: emulate.Link{
			NIC:  emulate.NIC{Rate: 5 * emulate.Mbit, Queue: emulate.Queue{Frames: 100}},
			Path: emulate.Path{Delay: 50 * time.Millisecond},
		},
		Losses: []float64{0, 0.001, 0.01, 0.03}, Congestion: "cubic", Runs: 10, Warmup: 2 * time.Second, Stretch: 4 * time.Second, Seed: 1,
	}
}

// A Bout is what both backends got for one loss, in bit/s of data, run by run.
type Bout struct {
	Loss      float64
	UserSpace []float64
	Netem     []float64
}

// Ratio is the median, over all pairs of runs that follow each other, of what the user-space
// link got by what netem got. Its interval says how far from 1 the ratio may be. An interval
// with 1 in it does not show that the two are equal.
func (b Bout) Ratio() stats.Ratio { return stats.ByRound(b.UserSpace, b.Netem) }

// Run runs all bouts and reports each as it ends.
func (c Contest) Run(report func(Bout)) error {
	for _, loss := range c.Losses {
		b, err := c.bout(loss)
		if err != nil {
			return fmt.Errorf("TCP with a loss of %g: %w", loss, err)
		}
		report(b)
	}
	return nil
}

// bout has a network of each kind and uses them in turn, with a new connection for each run.
func (c Contest) bout(loss float64) (b Bout, err error) {
	link := c.Link
	link.Loss = emulate.Independent(loss)
	backends := []network.Backend{network.Netem, network.UserSpace}
	var networks []*network.Network
	defer func() {
		for _, n := range networks {
			_, closeErr := n.Close()
			err = errors.Join(err, closeErr)
		}
	}()
	for _, backend := range backends {
		n, err := network.New(network.Config{Hosts: 2, Link: link, Seed: c.Seed, Backend: backend})
		if err != nil {
			return Bout{}, err
		}
		networks = append(networks, n)
		if err := forgetful(n.Host(0)); err != nil {
			return Bout{}, err
		}
	}
	got := make([][]float64, len(backends))
	for round := range c.Runs {
		for place := range networks {
			i := (place + round) % len(networks)
			speed, err := c.speed(networks[i])
			if err != nil {
				return Bout{}, fmt.Errorf("over %s: %w", backends[i], err)
			}
			got[i] = append(got[i], speed)
		}
	}
	return Bout{Loss: loss, Netem: got[0], UserSpace: got[1]}, nil
}

// forgetful keeps a host's TCP from starting with what it knows of earlier
// connections.
func forgetful(h *network.Host) error {
	return h.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/tcp_no_metrics_save", []byte("1"), 0o644) })
}

// speed is what a connection from host 0 to host 1 gets, in bit/s.
func (c Contest) speed(n *network.Network) (float64, error) {
	s, err := newStream(n, c.Congestion)
	if err != nil {
		return 0, err
	}
	var got [2]int64
	var at [2]time.Time
	for i, pause := range []time.Duration{c.Warmup, c.Stretch} {
		<-time.After(pause)
		got[i], at[i] = s.received.Load(), time.Now()
	}
	return float64(got[1]-got[0]) * 8 / at[1].Sub(at[0]).Seconds(), s.close()
}
