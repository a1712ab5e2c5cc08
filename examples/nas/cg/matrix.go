package cg

import (
	"math"

	"github.com/strandmp/strand/examples/nas/npb"
)

const seed npb.Seed = 314159265

// condition is the inverse of the matrix's condition number, and what is added to its diagonal.
const condition = 0.1

// A matrix is sparse: the values of row i are at start[i] to start[i+1], with their columns. Rows are filled
// up with zeros to a multiple of four values, so that nothing is left over where those are multiplied at a time.
type matrix struct {
	start   []int32
	columns []int32
	values  []float64
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
	where := make([]int32, columns) // 1 + the place of a column's value
	for i := range rows {
		first := int32(len(m.values))
		for _, e := range sorted[start[i]:start[i+1]] {
			if at := where[e.column]; at > first {
				m.values[at-1] += e.value
				continue
			}
			m.values, m.columns = append(m.values, e.value), append(m.columns, e.column)
			where[e.column] = int32(len(m.values))
		}
		for len(m.values)%4 != 0 {
			m.values, m.columns = append(m.values, 0), append(m.columns, m.columns[len(m.columns)-1])
		}
		m.start = append(m.start, int32(len(m.values)))
	}
	return m
}

// times sets y to the matrix times x. Two sums at a time: an addition need not wait for the one before.
func (m *matrix) times(x, y []float64) {
	for i := range y {
		columns := m.columns[m.start[i]:m.start[i+1]]
		values := m.values[m.start[i]:m.start[i+1]]
		var even, odd float64
		for len(values) >= 4 && len(columns) >= 4 {
			even += values[0]*x[columns[0]] + values[2]*x[columns[2]]
			odd += values[1]*x[columns[1]] + values[3]*x[columns[3]]
			values, columns = values[4:], columns[4:]
		}
		y[i] = even + odd
	}
}
