package peers

import (
	"time"

	"github.com/strandmp/strand/internal/lab/bench"
)

// synthetic is a report whose contenders took the given times in all rounds of a cell, each round a
// little longer than the one before.
func synthetic(transport, name string, cell bench.Cell, rounds int, times map[string]float64) *Report {
	row := Row{Cell: cell, Times: map[string][]float64{}, Processor: map[string][]float64{}}
	for key, us := range times {
		for i := range rounds {
			slower := 1 + 0.001*float64(i%3)
			row.Times[key] = append(row.Times[key], us*slower)
			row.Processor[key] = append(row.Processor[key], 2*us*slower)
		}
	}
	r := &Report{Format: format, Commit: "c1", Command: "strand bench peers", Planned: rounds, Began: time.Unix(1e9, 0).UTC(),
		Tables: []Table{{Transport: transport, Name: name, Rows: []Row{row}}}}
	for range rounds {
		r.Rounds = append(r.Rounds, Round{Seconds: 60, Load: 1, Others: 0.01})
	}
	return r
}

func ping(size int) bench.Cell {
	return bench.Cell{Workload: bench.PingPong, Pairs: 1, Window: 1, Size: size}
}

func streamOf(size int) bench.Cell {
	return bench.Cell{Workload: bench.Stream, Pairs: 1, Window: 64, Size: size}
}

// only is the one comparison of a synthetic report with a peer.
func only(r *Report, peer string) Comparison {
	for _, c := range r.comparisons(nil) {
		if c.Peer == peer {
			return c
		}
	}
	return Comparison{}
}
