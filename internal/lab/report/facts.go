package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// differences lists the facts that were found about the variants. Those that are not the same for
// all come first and are marked.
func differences(r *results.Report) *pageTable {
	return byVariant(r, func(v *results.Variant) map[string]string { return v.Facts })
}

// parameters lists what the variants were given.
func parameters(r *results.Report) *pageTable {
	return byVariant(r, func(v *results.Variant) map[string]string { return v.Params })
}

// byVariant makes a table with a column for each variant that can run; nil if nothing is
// known of any.
func byVariant(r *results.Report, of func(*results.Variant) map[string]string) *pageTable {
	out := &pageTable{Heads: []string{""}}
	names := map[string]bool{}
	var variants []*results.Variant
	for i := range r.Variants {
		if v := &r.Variants[i]; v.Unable == "" {
			variants = append(variants, v)
			out.Heads = append(out.Heads, v.Name)
			for name := range of(v) {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row, seen := pageRow{Cells: []string{name}}, map[string]bool{}
		for _, v := range variants {
			text, known := of(v)[name]
			if !known {
				text = "–"
			}
			row.Cells = append(row.Cells, text)
			seen[text] = true
		}
		if len(seen) > 1 {
			row.Class = "differs"
		}
		out.Rows = append(out.Rows, row)
	}
	slices.SortStableFunc(out.Rows, func(a, b pageRow) int { return strings.Compare(b.Class, a.Class) })
	if len(out.Rows) == 0 {
		return nil
	}
	return out
}

func machine(r *results.Report) []condition {
	m := &r.Machine
	all := []condition{
		{"processor", fmt.Sprintf("%d × %s", m.CPUs, orUnknown(m.CPU))},
		{"memory", bytesOrUnknown(m.MemoryBytes)},
		{"system", strings.TrimSpace(m.OS + " " + m.Kernel + " " + m.Arch)},
		{"strand", orUnknown(r.Version)},
		{"Go", orUnknown(m.Go)},
		{"links", strings.TrimSuffix(string(r.Links.Kind)+", "+r.Links.Why, ", ")},
		{"seed", strconv.FormatUint(r.Seed, 10)},
		{"runs", fmt.Sprintf("%d of each transport in each cell, taking turns", r.Runs)},
	}
	for i, h := range r.Hosts {
		all = append(all, condition{fmt.Sprintf("host %d", i), fmt.Sprintf("%s: %d × %s, %s",
			orUnknown(h.Host), h.CPUs, orUnknown(h.CPU), strings.TrimSpace(h.OS+" "+h.Kernel+" "+h.Arch))})
	}
	if m.Host != "" {
		all = slices.Insert(all, 0, condition{"host", m.Host})
	}
	return all
}

func orUnknown(text string) string {
	if text == "" {
		return "not known"
	}
	return text
}

func bytesOrUnknown(n uint64) string {
	if n == 0 {
		return "not known"
	}
	return digits(float64(n)/(1<<30)) + " GiB"
}

// counters says what networks and connections did, by cell and variant; nil if nothing is
// known.
func counters(r *results.Report) *pageTable {
	out := &pageTable{
		Caption: "What networks and connections did: sums of a run, medians of the runs that succeeded. How late the emulator was: the average of a run's frames, and what 1 % of them exceeded. Congestion windows: median of all samples.",
		Heads:   []string{transport, "frames sent", "lost", "dropped by queues", "late", "late, 1 %", "retransmissions", "timeouts", "congestion window"},
		Figures: []bool{false, true, true, true, true, true, true, true, true},
	}
	for _, t := range tables(r) {
		var before *results.Cell
		for i := range t.rows {
			row := &t.rows[i]
			cells, some := counted(row.cell.Good(row.Name))
			if !some {
				continue
			}
			next := pageRow{Cells: append([]string{row.Name}, cells...)}
			if row.cell != before {
				next.Group = located(t.workload.Title, row.cell, t.varying)
			}
			before = row.cell
			out.Rows = append(out.Rows, next)
		}
	}
	if len(out.Rows) == 0 {
		return nil
	}
	return out
}

// counted returns the counters of a variant's runs in a cell; "–" stands for what its connections
// do not tell.
func counted(runs []results.Run) (cells []string, some bool) {
	var sent, lost, dropped, again, late, windows []float64
	rails := 0
	for _, r := range runs {
		if n := r.Network; n != nil {
			sent = append(sent, float64(n.Sent))
			lost = append(lost, float64(n.Lost)/max(1, float64(n.Sent)))
			dropped = append(dropped, float64(n.DroppedIn+n.DroppedOut))
		}
		rails += len(r.Rails)
		if n, known := total(r.Rails, func(r results.Rail) (uint64, bool) { return r.Retransmissions, !r.RetransmissionsUnknown }); known {
			again = append(again, n)
		}
		if n, known := total(r.Rails, func(r results.Rail) (uint64, bool) { return r.Timeouts, !r.TimeoutsUnknown }); known {
			late = append(late, n)
		}
	}
	windows = windowSizes(runs)
	whole := func(values []float64) string {
		return middleText(values, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	}
	told := func(values []float64) string {
		if rails > 0 && len(values) == 0 {
			return "–"
		}
		return whole(values)
	}
	mean, most := "", ""
	if l, known := latenessOf(runs); known {
		most = quantity(results.Seconds, l.most.Seconds())
		if l.mean > 0 {
			mean = quantity(results.Seconds, l.mean.Seconds())
		}
	}
	return []string{
		whole(sent), middleText(lost, func(v float64) string { return digits(v*100) + " %" }), whole(dropped), mean, most, told(again), told(late),
		middleText(windows, func(v float64) string { return digits(v/1000) + " kB" }),
	}, len(sent)+rails+len(windows) > 0
}

// total adds a count of all rails up, unless one of them does not tell it.
func total(rails []results.Rail, of func(results.Rail) (n uint64, known bool)) (sum float64, known bool) {
	for _, r := range rails {
		n, known := of(r)
		if !known {
			return 0, false
		}
		sum += float64(n)
	}
	return sum, len(rails) > 0
}

func middleText(values []float64, text func(float64) string) string {
	if len(values) == 0 {
		return ""
	}
	return text(stats.Median(values))
}

// Quoted is a command as a shell reads it.
func Quoted(command []string) string {
	words := make([]string, 0, len(command))
	for _, w := range command {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%^") != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// repeat is the command that does the comparison again with the same seed. That repeats its
// chances only where the network is emulated by us.
func repeat(r *results.Report) string {
	for _, w := range r.Command {
		if w == "--seed" || strings.HasPrefix(w, "--seed=") {
			return Quoted(r.Command)
		}
	}
	return Quoted(append(slices.Clone(r.Command), "--seed", strconv.FormatUint(r.Seed, 10)))
}
