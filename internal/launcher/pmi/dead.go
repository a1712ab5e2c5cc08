package pmi

import (
	"strconv"
	"strings"
)

// DeadKey is the key under which the ranks that have failed are listed, as in
// Hydra: "1,3-5".
const DeadKey = "PMI_dead_processes"

// formatRanks writes ranks in order as Hydra does: "1,3-5".
func formatRanks(ranks []int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		last := i
		for last+1 < len(ranks) && ranks[last+1] == ranks[last]+1 {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(ranks[i]))
		if last > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(ranks[last]))
		}
		i = last + 1
	}
	return b.String()
}
