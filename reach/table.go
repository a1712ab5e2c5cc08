package reach

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table writes the result for people, in three parts: the matrix of all local
// addresses (rows) and remote addresses (columns) with the weight of each pair,
// the chosen ones marked *; the chosen pairs; and the reason for every pair that
// was not chosen.
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
	all := append(append([]Pair(nil), r.Pairs...), r.Rejected...)
	var rows, columns axis
	cells := make(map[[2]int]string)
	for i, p := range all {
		cell := fmt.Sprintf("%.6g", p.Weight)
		if i < len(r.Pairs) {
			cell += "*"
		}
		cells[[2]int{rows.place(p.Local), columns.place(p.Remote)}] = cell
	}
	fmt.Fprintf(b, "Weights, from here (rows) to the peer (columns)\n")
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for n, column := range columns {
		fmt.Fprintf(table, "  [%d]\t%s\n", n+1, column.describe())
	}
	// Writing into memory does not fail, here and below.
	_ = table.Flush()
	for n := range columns {
		fmt.Fprintf(table, "\t[%d]", n+1)
	}
	fmt.Fprintln(table)
	for i, row := range rows {
		fmt.Fprintf(table, "  %s", row.describe())
		for j := range columns {
			fmt.Fprintf(table, "\t%s", cells[[2]int{i, j}])
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush()
}

// An axis of the matrix is the addresses of a side.
type axis []Address

// place returns the number of an address, a new one if need be.
func (x *axis) place(a Address) int {
	for i, known := range *x {
		if known == a {
			return i
		}
	}
	*x = append(*x, a)
	return len(*x) - 1
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
		fmt.Fprintf(table, "  %v\t%.6g\t%s\n", p, p.Weight, p.Why)
	}
	_ = table.Flush()
}
