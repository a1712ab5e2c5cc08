package results

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/strandmp/strand/internal/machine"
)

// Bounds of a report: what is beyond was not written by strand compare, or nobody could
// draw it.
const (
	MaxVariants  = 64
	MaxCells     = 4096
	MaxRunsACell = 1 << 16 // of all variants together
	MaxRanks     = 1 << 16
	MaxName      = 256         // bytes of a name, or a value
	MaxRails     = 4096        // of a run
	maxText      = 16384       // bytes of an error, or a reason
	maxEntries   = 256         // of a map
	maxParts     = 1 + maxTags // distributions or windows of a run: of all, and of each tag
	maxTags      = 4096
	maxNetworks  = 64   // between hosts
	maxDown      = 1024 // outages of one
	maxPoints    = 1 << 17
	maxArguments = 1024
	// minValue is less, and maxValue more, than any time in seconds or rate in
	// bytes a second.
	minValue = 1e-12
	maxValue = 1e18
)

// Check returns what is wrong with a report, by the place in its JSON.
func (r *Report) Check() error {
	c := &checker{}
	c.must(r.Format >= oldestKnown && r.Format <= Format, "format", r.Format, "%d to %d", oldestKnown, Format)
	c.name("version", r.Version)
	c.must(len(r.Command) <= maxArguments, "command: arguments", len(r.Command), "at most %d", maxArguments)
	for i, argument := range r.Command {
		c.text(fmt.Sprintf("command[%d]", i), argument)
	}
	if err := CheckMetrics(r.By); err != nil && c.err == nil {
		c.err = fmt.Errorf("by: %w", err)
	}
	c.must(r.Runs >= 1 && r.Runs <= MaxRunsACell, "runs", r.Runs, "1 to %d", MaxRunsACell)
	c.machine("machine", &r.Machine)
	c.must(len(r.Hosts) <= MaxRanks, "hosts", len(r.Hosts), "at most %d", MaxRanks)
	for i := range r.Hosts {
		c.machine(fmt.Sprintf("hosts[%d]", i), &r.Hosts[i])
	}
	c.must(slices.Contains(LinkKinds, r.Links.Kind), "links.kind", r.Links.Kind, "one of %q", LinkKinds)
	c.text("links.why", r.Links.Why)
	c.variants(r.Variants)
	c.must(len(r.Cells) <= MaxCells, "cells", len(r.Cells), "at most %d", MaxCells)
	for i := range r.Cells {
		if c.err != nil {
			break
		}
		c.cell(r, fmt.Sprintf("cells[%d]", i), &r.Cells[i])
	}
	return c.err
}

// CheckRun returns what is wrong with a run of one of the report's cells.
func (r *Report) CheckRun(cell *Cell, run *Run) error {
	c := &checker{}
	c.run(r, "run", cell, run)
	return c.err
}

// CheckFacts returns what is wrong with the facts of a variant.
func CheckFacts(facts map[string]string) error {
	c := &checker{}
	c.names("facts", facts)
	return c.err
}

// CheckParams returns what is wrong with the parameters of a variant.
func CheckParams(params map[string]string) error {
	c := &checker{}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		c.name(name, params[name])
	}
	return c.err
}

// A checker keeps the first thing that is wrong.
type checker struct{ err error }

// must notes that something is wrong unless it is ok.
func (c *checker) must(ok bool, place string, value any, want string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%s is %s: want %s", place, shorten(fmt.Sprintf("%#v", value)), fmt.Sprintf(want, args...))
	}
}

func shorten(s string) string {
	const longest = 80
	if len(s) <= longest {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:longest], len(s))
}

// name checks what is shown on one line.
func (c *checker) name(place, s string) {
	c.must(len(s) <= MaxName, place, s, "at most %d bytes", MaxName)
	c.must(utf8.ValidString(s) && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !unicode.IsPrint(r) }),
		place, s, "printable characters only")
}

// text checks what may have several lines.
func (c *checker) text(place, s string) {
	c.must(len(s) <= maxText, place, s, "at most %d bytes", maxText)
	c.must(utf8.ValidString(s), place, s, "UTF-8")
}

// amount checks a number that can not be negative.
func (c *checker) amount(place string, value float64) {
	c.must(value == 0 || value >= minValue && value <= maxValue, place, value, "0, or %g to %g", minValue, maxValue) // nor NaN
}

func (c *checker) names(place string, m map[string]string) {
	c.must(len(m) <= maxEntries, place+": entries", len(m), "at most %d", maxEntries)
	for name, value := range m {
		c.name(place+": name", name)
		c.name(place+"."+name, value)
	}
}

func (c *checker) machine(place string, m *machine.Machine) {
	for _, f := range []struct{ place, value string }{
		{"host", m.Host}, {"os", m.OS}, {"kernel", m.Kernel}, {"arch", m.Arch}, {"cpu", m.CPU}, {"go", m.Go},
	} {
		c.name(place+"."+f.place, f.value)
	}
	c.must(m.CPUs >= 0 && m.CPUs <= MaxRanks, place+".cpus", m.CPUs, "0 to %d", MaxRanks)
}

func (c *checker) variants(variants []Variant) {
	c.must(len(variants) >= 1 && len(variants) <= MaxVariants, "variants", len(variants), "1 to %d", MaxVariants)
	seen := map[string]bool{}
	for i, v := range variants {
		place := fmt.Sprintf("variants[%d]", i)
		c.must(v.Name != "", place+".name", v.Name, "a name")
		c.name(place+".name", v.Name)
		c.must(!seen[v.Name], place+".name", v.Name, "a name that no other variant has")
		seen[v.Name] = true
		c.name(place+".btl", v.BTL)
		c.names(place+".params", v.Params)
		c.names(place+".facts", v.Facts)
		c.text(place+".unable", v.Unable)
	}
}

func (c *checker) cell(r *Report, place string, cell *Cell) {
	c.must(cell.Workload.Workload() != nil, place+".workload", cell.Workload, "one of %s", workloadNames())
	c.must(cell.Ranks >= 1 && cell.Ranks <= MaxRanks, place+".ranks", cell.Ranks, "1 to %d", MaxRanks)
	c.params(place+".params", cell.Params)
	if cell.Link != nil && c.err == nil {
		if err := cell.Link.Check(); err != nil {
			c.err = fmt.Errorf("%s.link: %w", place, err)
		}
	}
	c.must(len(cell.Networks) <= maxNetworks, place+".networks", len(cell.Networks), "at most %d", maxNetworks)
	for i, n := range cell.Networks {
		at := fmt.Sprintf("%s.networks[%d]", place, i)
		c.name(at+".name", n.Name)
		if err := errors.Join(n.Check(), n.Down.Check()); err != nil && c.err == nil {
			c.err = fmt.Errorf("%s: %w", at, err)
		}
	}
	c.text(place+".unable", cell.Unable)
	c.must(len(cell.Runs) <= MaxRunsACell, place+".runs", len(cell.Runs), "at most %d", MaxRunsACell)
	for i := range cell.Runs {
		if c.err != nil {
			return
		}
		c.run(r, fmt.Sprintf("%s.runs[%d]", place, i), cell, &cell.Runs[i])
	}
}

func workloadNames() []WorkloadName {
	var names []WorkloadName
	for _, w := range Workloads {
		names = append(names, w.Name)
	}
	return names
}

// params checks a workload's parameters. Keys of cells stand on them.
func (c *checker) params(place string, params map[string]any) {
	c.must(len(params) <= maxEntries, place+": entries", len(params), "at most %d", maxEntries)
	for name, value := range params {
		c.name(place+": name", name)
		switch v := value.(type) {
		case float64:
			c.must(!math.IsNaN(v) && math.Abs(v) <= maxValue, place+"."+name, v, "%g to %g", -maxValue, maxValue)
		case string:
			c.name(place+"."+name, v)
		case bool:
		default:
			c.must(false, place+"."+name, value, "a number, a string, true or false")
		}
	}
}

func (c *checker) run(report *Report, place string, cell *Cell, r *Run) {
	c.must(report.Variant(r.Variant) != nil, place+".variant", r.Variant, "the name of one of the variants")
	c.must(r.Round >= 0 && r.Order >= 0, place+".round, order", [2]int{r.Round, r.Order}, "0 or more")
	c.amount(place+".seconds", r.Seconds)
	c.text(place+".error", r.Error)
	c.amount(place+".exceeded", r.Exceeded)
	c.must(len(r.Metrics) <= maxEntries, place+".metrics: entries", len(r.Metrics), "at most %d", maxEntries)
	for name, value := range r.Metrics {
		c.name(place+".metrics: name", name)
		c.amount(place+".metrics."+name, value)
	}
	if r.Error == "" {
		headline := cell.Workload.Workload().Headline().Name
		c.must(r.Metrics[headline] > 0, place+".metrics."+headline, r.Metrics[headline], "more than 0, or an error")
	}
	c.must(len(r.Delays) <= maxParts, place+".delays", len(r.Delays), "at most %d", maxParts)
	for i := range r.Delays {
		c.distribution(fmt.Sprintf("%s.delays[%d]", place, i), &r.Delays[i])
	}
	if r.Network != nil {
		c.amount(place+".network.late_seconds", r.Network.LateSeconds)
		c.amount(place+".network.late_mean_seconds", r.Network.LateMeanSeconds)
		c.networkParts(place+".network.networks", r.Network.Networks)
	}
	c.must(len(r.Rails) <= MaxRails, place+".rails", len(r.Rails), "at most %d", MaxRails)
	for i, rail := range r.Rails {
		c.pair(fmt.Sprintf("%s.rails[%d]", place, i), cell, rail.Rank, rail.Peer, rail.Name)
	}
	c.must(len(r.Windows) <= maxParts, place+".windows", len(r.Windows), "at most %d", maxParts)
	for i := range r.Windows {
		c.window(fmt.Sprintf("%s.windows[%d]", place, i), cell, &r.Windows[i])
	}
}

// networkParts checks what is told of several networks.
func (c *checker) networkParts(place string, parts []NetworkPart) {
	c.must(len(parts) <= maxNetworks, place, len(parts), "at most %d", maxNetworks)
	for i, n := range parts {
		at := fmt.Sprintf("%s[%d]", place, i)
		c.name(at+".name", n.Name)
		c.amount(at+".seconds", n.Seconds)
		c.must(len(n.Down) <= maxDown, at+".down", len(n.Down), "at most %d", maxDown)
		for _, o := range n.Down {
			c.must(o.At >= 0 && o.For >= 0, at+".down", o, "times of 0 or more")
		}
	}
}

func (c *checker) distribution(place string, d *Distribution) {
	c.name(place+".name", d.Name)
	c.must(d.Count >= 0, place+".count", d.Count, "0 or more")
	c.must(len(d.Quantiles) <= maxPoints, place+".quantiles", len(d.Quantiles), "at most %d", maxPoints)
	before := Quantile{Share: -1, Seconds: 0}
	for i, q := range d.Quantiles {
		if c.err != nil {
			return
		}
		at := fmt.Sprintf("%s.quantiles[%d]", place, i)
		c.must(q.Share > before.Share && q.Share >= 0 && q.Share <= 1, at+".share", q.Share, "0 to 1, rising")
		c.must(q.Seconds >= before.Seconds, at+".seconds", q.Seconds, "no less than the one before, %g", before.Seconds)
		c.amount(at+".seconds", q.Seconds)
		before = q
	}
}

// pair checks the two ends of a connection.
func (c *checker) pair(place string, cell *Cell, rank, peer int, name string) {
	c.must(rank >= 0 && rank < cell.Ranks, place+".rank", rank, "0 to %d", cell.Ranks-1)
	c.must(peer >= 0 && peer < cell.Ranks, place+".peer", peer, "0 to %d", cell.Ranks-1)
	c.name(place+".name", name)
}

func (c *checker) window(place string, cell *Cell, w *Window) {
	c.pair(place, cell, w.Rank, w.Peer, w.Name)
	c.must(len(w.Samples) <= maxPoints, place+".samples", len(w.Samples), "at most %d", maxPoints)
	before := 0.0
	for i, s := range w.Samples {
		if c.err != nil {
			return
		}
		at := fmt.Sprintf("%s.samples[%d]", place, i)
		c.must(s.At >= before, at+".at", s.At, "no less than the one before, %g", before)
		c.amount(at+".at", s.At)
		c.amount(at+".bytes", s.Bytes)
		c.amount(at+".rtt", s.RTT)
		before = s.At
	}
}
