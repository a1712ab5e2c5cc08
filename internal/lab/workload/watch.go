package workload

import (
	"slices"
	"sync"
	"time"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/stats"
)

// A watch looks at a rank's connections while a workload runs.
type watch struct {
	world  *strand.World
	start  time.Time
	stop   chan struct{}
	over   sync.WaitGroup
	every  time.Duration
	seen   map[string]*seen // by what names a connection
	course []Moment
}

// seen is what was seen of a connection.
type seen struct{ windows, roundTrips []float64 }

// maxMoments bounds how many looks a watch remembers. When it has so many it forgets every other
// one, and looks half as often from then on.
const maxMoments = 200

// startWatch starts to look every so often. If every is 0 it looks at the end only.
func startWatch(w *strand.World, every time.Duration) *watch {
	s := &watch{world: w, start: time.Now(), every: every, stop: make(chan struct{}), seen: make(map[string]*seen)}
	if every > 0 {
		s.over.Go(s.run)
	}
	return s
}

func (s *watch) run() {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		s.look(s.world.Rails())
		if len(s.course) == maxMoments {
			s.thin()
			tick.Reset(s.every)
		}
	}
}

// end stops the looking, looks a last time and returns what was seen.
func (s *watch) end() Member {
	close(s.stop)
	s.over.Wait()
	rails := s.world.Rails()
	s.look(rails)
	m := Member{Rank: s.world.Rank(), Messages: s.world.Stats()}
	for _, r := range rails {
		m.Connections = append(m.Connections, s.connection(r))
	}
	return m
}

func (s *watch) look(rails []strand.RailReport) {
	now := Moment{Seconds: time.Since(s.start).Seconds()}
	for _, r := range rails {
		now.BytesSent += r.Counters.BytesSent
		c := r.Congestion
		if c == nil {
			continue
		}
		now.Windows += c.Window
		now.RoundTrip = max(now.RoundTrip, c.RoundTrip.Seconds())
		now.Resent += max(c.Resent, 0)
		of := s.seen[name(r)]
		if of == nil {
			of = new(seen)
			s.seen[name(r)] = of
		}
		if c.Window > 0 {
			of.windows = append(of.windows, float64(c.Window))
		}
		if c.RoundTrip > 0 {
			of.roundTrips = append(of.roundTrips, c.RoundTrip.Seconds())
		}
	}
	s.course = append(s.course, now)
}

// name tells a connection from the others of its rank.
func name(r strand.RailReport) string { return r.Module + " " + r.Desc }

// thin forgets every other look.
func (s *watch) thin() {
	s.every *= 2
	s.course = everyOther(s.course)
	for _, of := range s.seen {
		of.windows, of.roundTrips = everyOther(of.windows), everyOther(of.roundTrips)
	}
}

func everyOther[T any](all []T) []T {
	kept := all[:0]
	for i := 1; i < len(all); i += 2 {
		kept = append(kept, all[i])
	}
	return kept
}

func (s *watch) connection(r strand.RailReport) Connection {
	c := Connection{
		Peer: r.Peer, Component: r.Component, Module: r.Module, Desc: r.Desc,
		BytesSent: r.Counters.BytesSent, BytesReceived: r.Counters.BytesReceived, Resent: -1, Timeouts: -1,
	}
	if r.Congestion != nil {
		c.Algorithm, c.Resent, c.Timeouts = r.Congestion.Algorithm, r.Congestion.Resent, r.Congestion.Timeouts
	}
	if of := s.seen[name(r)]; of != nil {
		c.Window, c.RoundTrip = spreadOf(of.windows), spreadOf(of.roundTrips)
	}
	return c
}

func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Spread{sorted[0], stats.Quantile(sorted, 0.5), sorted[len(sorted)-1]}
}
