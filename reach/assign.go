package reach

import "math"

// assign solves the assignment problem: it chooses entries of a matrix of
// weights, at most one in each row and column, so that their sum is the largest
// possible. It returns the column of each row, -1 for none. Entries of weight 0
// or less are never chosen. Rows are matched in order and ties go to the lower
// column, so that equal matrices give equal answers.
//
// This is the Hungarian method with potentials: rows are added one by one, each
// by a shortest augmenting path in reduced costs (Kuhn 1955, Munkres 1957;
// Jonker and Volgenant 1987), O(rows² × columns).
func assign(weights [][]int64) []int {
	rows := len(weights)
	columns := 0
	if rows > 0 {
		columns = len(weights[0])
	}
	// Each row has a column of its own beyond the real ones, of weight 0: to
	// stay alone. So there always is a complete assignment.
	a := newAssignment(rows, columns+rows, func(row, column int) int64 {
		if column >= columns || weights[row][column] < 0 {
			return 0
		}
		return -weights[row][column]
	})
	for row := range rows {
		a.add(row)
	}
	chosen := make([]int, rows)
	for row := range chosen {
		chosen[row] = -1
	}
	for column, row := range a.rowOf[:columns] {
		if row >= 0 && weights[row][column] > 0 {
			chosen[row] = column
		}
	}
	return chosen
}

// An assignment of the least cost of some rows, with the potentials that prove
// it: for each entry rowPotential + columnPotential ≤ cost, with equality where
// it is chosen.
type assignment struct {
	cost            func(row, column int) int64
	rowOf           []int // by column; -1: free
	rowPotential    []int64
	columnPotential []int64

	// Of the search for an augmenting path, by column.
	distance []int64
	from     []int // the column before it on the shortest path; -1: the new row
	visited  []bool
}

func newAssignment(rows, columns int, cost func(row, column int) int64) *assignment {
	a := &assignment{
		cost: cost, rowOf: make([]int, columns),
		rowPotential: make([]int64, rows), columnPotential: make([]int64, columns),
		distance: make([]int64, columns), from: make([]int, columns), visited: make([]bool, columns),
	}
	for column := range a.rowOf {
		a.rowOf[column] = -1
	}
	return a
}

// add gives a further row its column, moving others where that costs less.
func (a *assignment) add(newRow int) {
	for column := range a.distance {
		a.distance[column], a.visited[column] = math.MaxInt64, false
	}
	row, last, reached := newRow, -1, int64(0)
	for {
		nearest := a.relax(row, last, reached)
		a.visited[nearest] = true
		last, reached = nearest, a.distance[nearest]
		if a.rowOf[nearest] < 0 {
			break
		}
		row = a.rowOf[nearest]
	}
	a.reprice(newRow, reached)
	for column := last; column >= 0; {
		before := a.from[column]
		if before < 0 {
			a.rowOf[column] = newRow
		} else {
			a.rowOf[column] = a.rowOf[before]
		}
		column = before
	}
}

// relax goes on from a row that was reached through a column, and returns the
// nearest column not visited yet.
func (a *assignment) relax(row, through int, reached int64) (nearest int) {
	nearest = -1
	for column := range a.distance {
		if a.visited[column] {
			continue
		}
		d := reached + a.cost(row, column) - a.rowPotential[row] - a.columnPotential[column]
		if d < a.distance[column] {
			a.distance[column], a.from[column] = d, through
		}
		if nearest < 0 || a.distance[column] < a.distance[nearest] {
			nearest = column
		}
	}
	return nearest
}

// reprice makes the potentials fit the path that was found, of a given length.
func (a *assignment) reprice(newRow int, length int64) {
	a.rowPotential[newRow] += length
	for column, seen := range a.visited {
		if !seen {
			continue
		}
		a.columnPotential[column] -= length - a.distance[column]
		if row := a.rowOf[column]; row >= 0 {
			a.rowPotential[row] += length - a.distance[column]
		}
	}
}
