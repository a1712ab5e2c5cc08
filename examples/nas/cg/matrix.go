package cg

import (
	"math"

	"github.com/strandmp/strand/examples/nas/npb"
)

const seed npb.Seed = 314159265

// condition is the inverse of the matrix's condition number, and what is added to its diagonal.
const condition = 0.1

// A matrix is sparse: the values of row i are in the fours from start[i] to below start[i+1].
type matrix struct {
	start []int32
	fours []four
}

// A four is so many values of a row, with their columns: what is multiplied at a time. The last one of a row is filled up with zeros.
type four struct {
	values  [4]float64
	columns [4]uint32
}

// A span is the rows or columns from lo to below hi.
type span struct{ lo, hi int }

func (s span) size() int           { return s.hi - s.lo }
func (s span) contains(i int) bool { return s.lo <= i && i < s.hi }

// An element is one of those that are added up to the matrix.
type element struct {
	row, column int32
	value       float64
}

// newMatrix makes the part of the problem's matrix that is in those rows and columns, which count
// from 0 there. The matrix is a sum of outer products x·xᵀ of sparse random vectors, with weights
// between 1 and 0.1. Every rank makes all vectors, since each depends on the one before.
func newMatrix(p problem, rows, columns span) *matrix {
	g := newVectors(p.order)
	weight, ratio := 1.0, math.Pow(condition, 1/float64(p.order))
	var elements []element
	for i := range p.order {
		x := g.next(p.nonzeros, i)
		for _, a := range x {
			if !columns.contains(a.place) {
				continue
			}
			scaled := weight * a.value
			for _, b := range x {
				if rows.contains(b.place) {
					elements = append(elements, element{int32(b.place - rows.lo), int32(a.place - columns.lo), b.value * scaled})
				}
			}
		}
		weight *= ratio
	}
	for i := max(rows.lo, columns.lo); i < min(rows.hi, columns.hi); i++ {
		elements = append(elements, element{int32(i - rows.lo), int32(i - columns.lo), condition - p.shift})
	}
	return assemble(elements, rows.size(), columns.size())
}

// entry is one of a sparse vector's.
type entry struct {
	place int
	value float64
}

// vectors makes sparse random vectors.
type vectors struct {
	seed  npb.Seed
	order int
	scale float64 // the least power of two that is no less than the order
	taken []bool
	x     []entry
}

func newVectors(order int) *vectors {
	v := &vectors{seed: seed, order: order, scale: 2, taken: make([]bool, order)}
	for int(v.scale) < order {
		v.scale *= 2
	}
	v.seed.Next(npb.Multiplier)
	return v
}

// next makes a vector with so many random entries, and one half at a place.
func (v *vectors) next(nonzeros, half int) []entry {
	v.x = v.x[:0]
	for len(v.x) < nonzeros {
		value := v.seed.Next(npb.Multiplier)
		place := int(v.scale * v.seed.Next(npb.Multiplier))
		if place < v.order && !v.taken[place] {
			v.taken[place] = true
			v.x = append(v.x, entry{place, value})
		}
	}
	for _, e := range v.x {
		v.taken[e.place] = false
	}
	for i, e := range v.x {
		if e.place == half {
			v.x[i].value = 0.5
			return v.x
		}
	}
	v.x = append(v.x, entry{half, 0.5})
	return v.x
}

// assemble sorts elements by row and adds up those of the same place, in the order in which they come.
func assemble(elements []element, rows, columns int) *matrix {
	start := make([]int32, rows+1)
	for _, e := range elements {
		start[e.row+1]++
	}
	for i := range rows {
		start[i+1] += start[i]
	}
	sorted, next := make([]element, len(elements)), append([]int32(nil), start...)
	for _, e := range elements {
		sorted[next[e.row]] = e
		next[e.row]++
	}
	m := &matrix{start: make([]int32, 1, rows+1)}
	where := make([]int32, columns) // 1 + the place of a column's value, in all rows
	var row []element
	var first int32 // place of the row's first value
	for i := range rows {
		row = row[:0]
		for _, e := range sorted[start[i]:start[i+1]] {
			if at := where[e.column]; at > first {
				row[at-1-first].value += e.value
				continue
			}
			row = append(row, e)
			where[e.column] = first + int32(len(row))
		}
		first += int32(len(row))
		m.add(row)
	}
	return m
}

// add appends a row.
func (m *matrix) add(row []element) {
	for i, e := range row {
		if i%4 == 0 {
			m.fours = append(m.fours, four{})
		}
		last := &m.fours[len(m.fours)-1]
		last.values[i%4], last.columns[i%4] = e.value, uint32(e.column)
	}
	m.start = append(m.start, int32(len(m.fours)))
}

// times sets y to the matrix times x. Two sums at a time: an addition need not wait for the one before.
func (m *matrix) times(x, y []float64) {
	for i := range y {
		var even, odd float64
		row := m.fours[m.start[i]:m.start[i+1]]
		for j := range row {
			v, c := &row[j].values, &row[j].columns
			even += v[0]*x[c[0]] + v[2]*x[c[2]]
			odd += v[1]*x[c[1]] + v[3]*x[c[3]]
		}
		y[i] = even + odd
	}
}
