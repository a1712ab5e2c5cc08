package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// thesis is where the published figures are from.
const thesis = "H. Kamal, SCTP-Based Middleware for MPI, M.Sc. thesis, University of British Columbia, 2005"

// A published figure is a pair that the thesis reports for one cell: of two
// transports, or of ten streams and one.
type published struct {
	source   string // in the thesis
	workload results.WorkloadName
	metric   string // of results
	size     float64
	fanout   float64 // 0: the workload has none
	loss     float64 // share
	first    float64 // SCTP with 10 streams
	second   float64 // TCP, or SCTP with 1 stream
	streams  bool    // what the second is
}

// All that the thesis has published of these workloads in figures: throughput in bytes a second,
// run times of 10,000 tasks in seconds.
var publishedFigures = slices.Concat(
	pings("Table 5.1, p. 56", 30, [2][2]float64{{54_779, 1_924}, {44_614, 1_030}}),
	pings("Table 5.1, p. 56", 300, [2][2]float64{{5_870, 1_818}, {2_825, 885}}),
	farms("Figure 5.3 (a), p. 61", 30, 1, false, [3][2]float64{{6.8, 5.9}, {7.7, 79.9}, {11.2, 131.5}}),
	farms("Figure 5.3 (b), p. 61", 300, 1, false, [3][2]float64{{83, 114}, {804, 2080}, {1595, 4311}}),
	farms("Figure 5.4 (a), p. 63", 30, 10, false, [3][2]float64{{8.7, 6.2}, {11.7, 88.1}, {16.0, 154.7}}),
	farms("Figure 5.4 (b), p. 63", 300, 10, false, [3][2]float64{{79, 129}, {786, 3103}, {1585, 6414}}),
	farms("Figure 5.5 (a), p. 64", 30, 10, true, [3][2]float64{{8.7, 9.3}, {11.7, 11.0}, {16.0, 21.6}}),
	farms("Figure 5.5 (b), p. 64", 300, 10, true, [3][2]float64{{79, 79}, {786, 1000}, {1585, 1942}}),
)

func pings(source string, kilobytes float64, byLoss [2][2]float64) []published {
	var all []published
	for i, pair := range byLoss {
		all = append(all, published{source, results.PingPong, results.Throughput, kilobytes, 0, float64(i+1) / 100, pair[0], pair[1], false})
	}
	return all
}

func farms(source string, kilobytes, fanout float64, streams bool, byLoss [3][2]float64) []published {
	var all []published
	for i, pair := range byLoss {
		all = append(all, published{source, results.Farm, results.RunTime, kilobytes, fanout, float64(i) / 100, pair[0], pair[1], streams})
	}
	return all
}

// isOf tells whether a cell does what the thesis did, as far as size, fanout, loss, the order in which
// tasks are taken and its one network go; the row's note tells the rest. The thesis does not say whether
// its KB were 1000 bytes or 1024, so both will do. Its workers took whatever task was there, which those
// of a farm with strict ordering do not: there no stream overtakes another.
func (p *published) isOf(c *results.Cell) bool {
	const rounding = 1e-9
	size := c.Number("size")
	return c.Workload == p.workload && !c.HasSeveralNetworks() && (size == p.size*1000 || size == p.size*1024) &&
		(p.workload != results.Farm || c.Text("ordering") == "relaxed") &&
		(p.fanout == 0 || c.Number("fanout") == p.fanout) && math.Abs(c.Loss()-p.loss) < rounding
}

// pair are the variants of a report that stand for those of a published figure, nil if
// there are none.
func (p *published) pair(r *results.Report) (first, second *results.Variant) {
	for i := range r.Variants {
		v := &r.Variants[i]
		streams := 0
		if v.BTL == "sctp" {
			streams = streamsOf(v)
		}
		switch {
		case v.Unable != "":
		case first == nil && streams == thesisStreams:
			first = v
		case second == nil && p.streams && streams == 1:
			second = v
		case second == nil && !p.streams && v.BTL == "tcp" && oneConnection(v):
			second = v
		}
	}
	return first, second
}

// oneConnection tells whether a TCP variant has one connection to each peer, as the thesis's had.
func oneConnection(v *results.Variant) bool {
	return cmp.Or(v.Facts[results.FactConnections], v.Params["btl_tcp_links"], "1") == "1"
}

// thesisStreams is how many streams an association of the thesis had.
const thesisStreams = 10

// streamsOf is over how many streams an SCTP variant's messages go; 0 if that is not known. It is
// the number of streams that the association had when it ran, or else the number that was asked
// for. Messages that have fewer lanes than that go over as many streams as they have lanes.
func streamsOf(v *results.Variant) int {
	number := func(text, otherwise string) int {
		n, err := strconv.Atoi(cmp.Or(text, otherwise))
		if err != nil {
			return 0
		}
		return n
	}
	streams := number(v.Facts[results.FactStreams], v.Params["btl_sctp_streams"])
	return min(streams, number(v.Params["pml_lanes"], defaultLanes))
}

// defaultLanes is what pml_lanes is if nothing is said.
const defaultLanes = "10"

// beside makes the table of published figures with ours; nil if no cell of ours does what
// the thesis did.
func beside(r *results.Report) *pageTable {
	out := &pageTable{
		Heads:   []string{"published in", "workload", "loss", "2005: SCTP", "other", "other ÷ SCTP", "ours: SCTP", "other", "other ÷ SCTP", "interval"},
		Figures: []bool{false, false, true, true, true, true, true, true, true, true},
	}
	ours := map[string]bool{}
	for i := range publishedFigures {
		p := &publishedFigures[i]
		first, second := p.pair(r)
		for j := range r.Cells {
			if c := &r.Cells[j]; p.isOf(c) {
				out.Rows = append(out.Rows, pageRow{Cells: p.row(c, first, second), Note: "ours: " + joined(conditions(c))})
				if first != nil && second != nil {
					ours[fmt.Sprintf("%s against %s", first.Name, second.Name)] = true
				}
			}
		}
	}
	if len(out.Rows) == 0 {
		return nil
	}
	out.Caption = sentences(`"Other" is TCP or, of Figure 5.5, SCTP with one stream`,
		strings.TrimSuffix("Ours are "+strings.Join(slices.Sorted(maps.Keys(ours)), ", and "), "Ours are "),
		"Machines, networks and protocol stacks are twenty years apart, and our farms may have fewer tasks than the 10,000 of the thesis: compare ratios, not times")
	return out
}

// row sets a cell of ours beside a published pair.
func (p *published) row(c *results.Cell, first, second *results.Variant) []string {
	m, _ := p.workload.Workload().Metric(p.metric)
	what := fmt.Sprintf("%s %g KB", c.Workload.Workload().Title, p.size)
	if p.fanout > 0 {
		what += fmt.Sprintf(", fanout %g, ours %g tasks", p.fanout, c.Number("tasks"))
	}
	cells := []string{p.source, what, percent(p.loss), p.figure(p.first), p.figure(p.second), times(p.second / p.first)}
	if first == nil || second == nil {
		return append(cells, "–", "–", "", "")
	}
	con, limited := contrast(c, m, second.Name, first.Name), false
	for _, of := range []struct {
		name   string
		values stats.Summary
	}{{first.Name, con.BaseLine}, {second.Name, con.Values}} {
		limit := exceeded(c, of.name, m)
		limited = limited || limit > 0
		cells = append(cells, medianText(of.values, m.Unit, limit))
	}
	ratio, interval := "", between(sure(con.Ratio), times)
	if con.Ratio.Value > 0 && !limited {
		ratio = times(con.Ratio.Value)
	}
	if con.Verdict.doubtful() {
		interval = con.Verdict.word()
	}
	return append(cells, ratio, interval)
}

// figure writes a published number as it was printed, with its unit.
func (p *published) figure(value float64) string {
	switch {
	case p.metric == results.Throughput && value >= 1000:
		return fmt.Sprintf("%d,%03d B/s", int(value)/1000, int(value)%1000)
	case p.metric == results.Throughput:
		return fmt.Sprintf("%g B/s", value)
	}
	return fmt.Sprintf("%g s", value)
}
