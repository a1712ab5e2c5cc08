package param

import (
	"iter"
	"strings"
)

// Nearest returns the candidate that name was most likely meant to be, or "" if none is close.
// None is if more than a third of its letters would have to change. Candidates are in lower
// case. It also serves to check parameters whose values are names.
func Nearest(name string, candidates iter.Seq[string]) string {
	name = strings.ToLower(name)
	best, least := "", 0
	for candidate := range candidates {
		limit := max(1, len(candidate)/3)
		if max(len(name)-len(candidate), len(candidate)-len(name)) > limit {
			continue // the distance is at least that, and name may be huge
		}
		d := distance(name, candidate)
		if d > limit {
			continue
		}
		// Candidates come in no order; the alphabet settles a draw.
		if best == "" || d < least || d == least && candidate < best {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts the fewest insertions, deletions, replacements and swaps of
// neighbours that turn a into b, where no letter is touched twice (the optimal
// string alignment distance; Damerau 1964, Wagner and Fischer 1974).
func distance(a, b string) int {
	// Rows of the table for the first i-2, i-1 and i letters of a.
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
