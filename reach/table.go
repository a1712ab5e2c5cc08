package reach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table writes the result for people, in three parts. The first is a matrix with
// the weight of each pair: local addresses are rows, remote ones are columns, and
// * marks the chosen pairs. The second lists the chosen pairs, the third all
// others with the reasons.
func (r Result) Table() string {
	var b strings.Builder
	writeMatrix(&b, r)
	b.WriteString("\nChosen\n")
	if len(r.Pairs) == 0 {
		b.WriteString("  none\n")
	}
	writePairs(&b, r.Pairs)
	if len(r.Rejected) > 0 {
		b.WriteString("\nNot chosen\n")
		writePairs(&b, r.Rejected)
	}
	return b.String()
}

// writeMatrix numbers the columns, since addresses are wide.
func writeMatrix(b *strings.Builder, r Result) {
	var rows, columns []Address
	cells := make(map[[2]Address]string)
	for chosen, pairs := range map[bool][]Pair{true: r.Pairs, false: r.Rejected} {
		for _, p := range pairs {
			rows, columns = append(rows, p.Local), append(columns, p.Remote)
			cell := FormatWeight(p.Weight)
			if chosen {
				cell += "*"
			}
			cells[[2]Address{p.Local, p.Remote}] = cell
		}
	}
	rows, columns = sorted(rows), sorted(columns)
	b.WriteString("Weights, from here (rows) to the peer (columns)\n")
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	heads := make([]string, len(columns))
	for i, column := range columns {
		heads[i] = fmt.Sprintf("[%d]", i+1)
		fmt.Fprintf(table, "  %s\t%s\n", heads[i], column.describe())
	}
	// Writing into memory does not fail, here and below.
	_ = table.Flush()
	fmt.Fprintf(table, "\t%s\n", strings.Join(heads, "\t"))
	for _, row := range rows {
		line := []string{"  " + row.describe()}
		for _, column := range columns {
			line = append(line, cells[[2]Address{row, column}])
		}
		fmt.Fprintln(table, strings.Join(line, "\t"))
	}
	_ = table.Flush()
}

// sorted orders addresses by interface, IPv4 first, each once.
func sorted(addresses []Address) []Address {
	slices.SortFunc(addresses, func(a, b Address) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Interface, b.Interface), a.Addr().Compare(b.Addr()),
			cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()), cmp.Compare(a.Device, b.Device),
			cmp.Compare(a.Speed, b.Speed), cmp.Compare(a.Flags, b.Flags))
	})
	return slices.Compact(addresses)
}

// describe returns "eth0 10.8.47.1/24, 1000 Mbit/s".
func (a Address) describe() string {
	words := strings.TrimSpace(a.Interface + " " + a.Prefix.String())
	if a.Speed > 0 {
		words += fmt.Sprintf(", %d Mbit/s", a.Speed)
	}
	if a.Flags&^Loopback != 0 {
		words += ", " + (a.Flags &^ Loopback).String()
	}
	return words
}

func writePairs(b *strings.Builder, pairs []Pair) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, p := range pairs {
		fmt.Fprintf(table, "  %v\t%s\t%s\n", p, FormatWeight(p.Weight), p.Why)
	}
	_ = table.Flush()
}
