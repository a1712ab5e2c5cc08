package bench

import (
	"fmt"
	"slices"

	"github.com/strandmp/strand/internal/lab/stats"
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
	// Valid says whether raw was steady enough, and what is said of all ratios; nil if raw took no part.
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
	// Interval is that of 95 % of the median ratio, of blocks that were measured one after the other; nil: there were too few.
	Interval *[2]float64 `json:"ratio_interval,omitempty"`
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
			row.add(peer, s.blocks[0][place], s.blocks[i+1][place])
		}
		r.Rows = append(r.Rows, row)
		r.judge(&row)
	}
	return r
}

// add takes a peer's times; of variants the better one stays.
func (r *CompareRow) add(c Contender, strand, peer []block) {
	times := summarize(peer)
	a := Against{Name: c.Name, Variant: c.Variant, Times: times, Ratio: r.Strand.LowerQuartile / times.LowerQuartile, Interval: interval(strand, peer)}
	if !r.Workload.LessIsBetter() {
		a.Ratio = 1 / a.Ratio
		if i := a.Interval; i != nil {
			*i = [2]float64{1 / i[1], 1 / i[0]}
		}
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

// interval is that of the median of Strand's times over the peer's, block by block.
func interval(strand, peer []block) *[2]float64 {
	var times, base []float64
	for i := range min(len(strand), len(peer)) {
		times, base = append(times, strand[i].time), append(base, peer[i].time)
	}
	if i := stats.ByRound(times, base).Interval; i.Sure() {
		return &[2]float64{i.Low, i.High}
	}
	return nil
}

// judge finds out whether raw was steady, and whether the ratios say anything. Without raw nobody can tell the machine's doing from
// the peers'.
func (r *Result) judge(row *CompareRow) {
	if !slices.ContainsFunc(row.Peers, func(p Against) bool { return p.Name == rawName }) {
		return
	}
	for _, p := range row.Peers {
		if p.Name == rawName && p.Times.Spread() > MaxSpread {
			r.Problems = append(r.Problems, fmt.Sprintf("%d bytes: raw's median %.2f µs is %.0f %% above its lower quartile %.2f µs",
				row.Size, p.Times.Median, 100*p.Times.Spread(), p.Times.LowerQuartile))
		}
		if i := p.Interval; i != nil && i[1] > MaxWidth*i[0] {
			r.Problems = append(r.Problems, fmt.Sprintf("%d bytes: the ratio to %s may be anything from %.2f to %.2f", row.Size, p.Name, i[0], i[1]))
		}
	}
	r.Valid = new(len(r.Problems) == 0)
}
