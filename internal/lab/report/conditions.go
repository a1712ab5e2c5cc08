package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
)

// A condition is one of the things that tell cells of a workload apart.
type condition struct{ Name, Text string }

// String is for lists.
func (c condition) String() string { return c.Name + " " + c.Text }

// foremost are parameters that come first, in this order.
var foremost = []string{"size", "fanout", "ordering", "tags", "tasks"}

// conditions returns all that a cell was run with.
func conditions(c *results.Cell) []condition {
	var all []condition
	names := slices.SortedFunc(maps.Keys(c.Params), func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		all = append(all, condition{name, paramText(name, c.Params[name])})
	}
	all = append(all, condition{"ranks", strconv.Itoa(c.Ranks)})
	if c.Link == nil {
		return all
	}
	all = append(all, linkConditions(c.Link)...)
	if c.Networks == nil {
		return all
	}
	all = append(all, condition{"networks", strconv.Itoa(len(c.Networks))})
	for _, n := range c.Networks {
		if text := ownOf(n, c.Link); text != "" {
			all = append(all, condition{"network " + n.Name, text})
		}
	}
	return all
}

// ownOf says in what one of several networks differs from the cell's link.
func ownOf(n emulate.Network, l *emulate.Link) string {
	var own []string
	common := map[string]string{}
	for _, c := range linkConditions(l) {
		common[c.Name] = c.Text
	}
	for _, c := range linkConditions(&n.Link) {
		if common[c.Name] != c.Text {
			own = append(own, c.String())
		}
	}
	for _, o := range n.Down.Outages {
		own = append(own, fmt.Sprintf("down at %v for %v", o.At, o.For))
	}
	if n.Down.Every > 0 {
		own = append(own, fmt.Sprintf("again every %v", n.Down.Every))
	}
	return strings.Join(own, ", ")
}

// rank is the place of a parameter.
func rank(name string) int {
	if i := slices.Index(foremost, name); i >= 0 {
		return i
	}
	return len(foremost)
}

func linkConditions(l *emulate.Link) []condition {
	all := []condition{
		{"loss", strings.ReplaceAll(l.Loss.String(), "%", " %")},
		{"delay", l.Delay.String()},
		{"rate", l.Rate.String()},
	}
	if l.Jitter > 0 {
		all = append(all, condition{"jitter", l.Jitter.String()})
	}
	for _, share := range []struct {
		name  string
		value float64
	}{{"reorder", l.Reorder}, {"duplicate", l.Duplicate}, {"corrupt", l.Corrupt}} {
		if share.value > 0 {
			all = append(all, condition{share.name, percent(share.value)})
		}
	}
	if l.Queue.Frames > 0 {
		all = append(all, condition{"queue", fmt.Sprintf("%d frames", l.Queue.Frames)})
	}
	if l.Queue.Bytes > 0 {
		all = append(all, condition{"queue bytes", bytesText(int64(l.Queue.Bytes))})
	}
	return all
}

func paramText(name string, value any) string {
	switch v := value.(type) {
	case float64:
		if name == "size" && v == float64(int64(v)) {
			return bytesText(int64(v))
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		return v
	}
	return fmt.Sprint(value)
}

// bytesText writes a size in the unit in which it is a whole number.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	case n >= 1e6 && n%1e5 == 0:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + " MB"
	case n >= 1e3 && n%100 == 0:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + " kB"
	}
	return fmt.Sprintf("%d B", n)
}

// split returns the names of the conditions in which some cells differ, and the conditions that
// all have alike.
func split(cells []*results.Cell) (varying []string, common []condition) {
	for _, name := range conditionNames(cells) {
		same := true
		for _, c := range cells {
			same = same && textOf(c, name) == textOf(cells[0], name)
		}
		if same {
			common = append(common, condition{name, textOf(cells[0], name)})
		} else {
			varying = append(varying, name)
		}
	}
	return varying, common
}

// without are a cell's conditions but one.
func without(c *results.Cell, name string) []condition {
	return slices.DeleteFunc(conditions(c), func(c condition) bool { return c.Name == name })
}

func conditionNames(cells []*results.Cell) []string {
	var names []string
	for _, cell := range cells {
		for _, c := range conditions(cell) {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// textOf is a condition of a cell, "" if it has none of that name.
func textOf(cell *results.Cell, name string) string {
	for _, c := range conditions(cell) {
		if c.Name == name {
			return c.Text
		}
	}
	return ""
}

// CellText says which of a report's cells one is: its workload, and what tells it apart from
// others of that.
func CellText(r *results.Report, cell int) string {
	c := &r.Cells[cell]
	varying, _ := split(cellsOf(r, c.Workload))
	return located(string(c.Workload), c, varying)
}

// cellsOf are a report's cells of a workload.
func cellsOf(r *results.Report, w results.WorkloadName) []*results.Cell {
	var cells []*results.Cell
	for i := range r.Cells {
		if r.Cells[i].Workload == w {
			cells = append(cells, &r.Cells[i])
		}
	}
	return cells
}

// textsOf are conditions of a cell in words: "size 30 kB, loss 1 %".
func textsOf(cell *results.Cell, names []string) string {
	var words []string
	for _, name := range names {
		if text := textOf(cell, name); text != "" {
			words = append(words, condition{name, text}.String())
		}
	}
	return strings.Join(words, ", ")
}

func joined(conditions []condition) string {
	var words []string
	for _, c := range conditions {
		if c.Text != "" {
			words = append(words, c.String())
		}
	}
	return strings.Join(words, ", ")
}
