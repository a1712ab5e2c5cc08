package bench

import "fmt"

// A Result is the outcome of a comparison.
type Result struct {
	Workload Workload `json:"workload"`
	Window   int      `json:"window,omitempty"` // messages
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

// A CompareRow compares messages of one size.
type CompareRow struct {
	Size   int       `json:"size"`
	Strand Summary   `json:"strand"`
	Peers  []Against `json:"peers"`
}

// Against is one peer beside Strand.
type Against struct {
	Name    string  `json:"name"`
	Variant string  `json:"variant,omitempty"` // the best one
	Times   Summary `json:"times"`
	// Ratio compares lower quartiles of the time a message took. For a ping-pong
	// it is Strand's time over the peer's, so that less is better; else Strand's
	// rate over the peer's, so that more is.
	Ratio float64 `json:"ratio"`
}

// result condenses the samples.
func (c *Comparison) result(contenders []contender, s *samples) *Result {
	r := &Result{Workload: c.Workload, Blocks: c.Blocks, Transports: c.Transports, Criterion: Criterion}
	if c.Workload != PingPong {
		r.Window = c.Window
	}
	if c.Workload == Burst {
		r.Pause = c.Pause.String()
	}
	for _, peer := range contenders[1:] {
		r.Peers = append(r.Peers, PeerAbout{peer.name, peer.variant, peer.about})
	}
	for place, size := range c.Sizes {
		row := CompareRow{Size: size, Strand: summarize(s.times[0][place])}
		for i, peer := range contenders[1:] {
			row.add(c.Workload, peer, summarize(s.times[i+1][place]))
		}
		r.Rows = append(r.Rows, row)
		r.judge(&row)
	}
	return r
}

// add takes a peer's times; of variants the better one stays.
func (r *CompareRow) add(w Workload, c contender, times Summary) {
	a := Against{Name: c.name, Variant: c.variant, Times: times, Ratio: r.Strand.LowerQuartile / times.LowerQuartile}
	if w != PingPong {
		a.Ratio = 1 / a.Ratio
	}
	for i := range r.Peers {
		if r.Peers[i].Name == c.name {
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
