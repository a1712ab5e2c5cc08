package bench

import (
	"fmt"
	"slices"
)

// A Result is the outcome of a comparison.
type Result struct {
	Workload Workload `json:"workload"`
	Window   int      `json:"window,omitempty"` // messages, if it is the same in all rows
	Pause    string   `json:"pause,omitempty"`  // of computing, before each burst
	Blocks   int      `json:"blocks"`
	// Transports are those that Strand was allowed, as in the parameter btl.
	Transports string       `json:"transports,omitempty"`
	Peers      []PeerAbout  `json:"peers"`
	Rows       []CompareRow `json:"rows"`
	Criterion  string       `json:"criterion"`
	// Valid says whether raw was steady enough; nil if raw took no part.
	Valid *bool `json:"valid"`
	// Problems say why the comparison is not valid.
	Problems []string `json:"problems,omitempty"`
}

// PeerAbout describes a peer, or one variant of it.
type PeerAbout struct {
	Name    string `json:"name"`
	Variant string `json:"variant,omitempty"`
	About   string `json:"about"`
}

// A CompareRow compares one cell.
type CompareRow struct {
	Cell
	Strand Summary   `json:"strand"`
	Peers  []Against `json:"peers"`
}

// Against is one peer beside Strand.
type Against struct {
	Name    string  `json:"name"`
	Variant string  `json:"variant,omitempty"` // the best one
	Times   Summary `json:"times"`
	// Ratio compares lower quartiles of the time a message took. For a ping-pong
	// and for collective calls it is Strand's time over the peer's, so that less is better; else Strand's
	// rate over the peer's, so that more is.
	Ratio float64 `json:"ratio"`
}

// result condenses the samples.
func (c *Comparison) result(contenders []Contender, s *samples) *Result {
	first := c.Cells[0]
	r := &Result{Workload: first.Workload, Blocks: c.Blocks, Transports: c.Transports, Criterion: Criterion}
	if !first.Workload.LessIsBetter() && !slices.ContainsFunc(c.Cells, func(x Cell) bool { return x.Window != first.Window }) {
		r.Window = first.Window
	}
	if first.Workload == Burst {
		r.Pause = first.Pause.String()
	}
	for _, peer := range contenders[1:] {
		r.Peers = append(r.Peers, PeerAbout{peer.Name, peer.Variant, peer.About})
	}
	for place, cell := range c.Cells {
		row := CompareRow{Cell: cell, Strand: summarize(s.blocks[0][place])}
		for i, peer := range contenders[1:] {
			row.add(peer, summarize(s.blocks[i+1][place]))
		}
		r.Rows = append(r.Rows, row)
		r.judge(&row)
	}
	return r
}

// add takes a peer's times; of variants the better one stays.
func (r *CompareRow) add(c Contender, times Summary) {
	a := Against{Name: c.Name, Variant: c.Variant, Times: times, Ratio: r.Strand.LowerQuartile / times.LowerQuartile}
	if !r.Workload.LessIsBetter() {
		a.Ratio = 1 / a.Ratio
	}
	for i := range r.Peers {
		if r.Peers[i].Name == c.Name {
			if times.LowerQuartile < r.Peers[i].Times.LowerQuartile {
				r.Peers[i] = a
			}
			return
		}
	}
	r.Peers = append(r.Peers, a)
}

// judge finds out whether raw was steady.
func (r *Result) judge(row *CompareRow) {
	for _, p := range row.Peers {
		if p.Name != rawName {
			continue
		}
		if r.Valid == nil {
			r.Valid = new(true)
		}
		if p.Times.Spread() > MaxSpread {
			*r.Valid = false
			r.Problems = append(r.Problems, fmt.Sprintf("%d bytes: raw's median %.2f µs is %.0f %% above its lower quartile %.2f µs",
				row.Size, p.Times.Median, 100*p.Times.Spread(), p.Times.LowerQuartile))
		}
	}
}
