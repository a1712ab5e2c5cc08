package pmi

import (
	"fmt"
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

// ParseRanks reads what stands under DeadKey in a job of size ranks.
func ParseRanks(text string, size int) ([]int, error) {
	var ranks []int
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		low, err1 := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || low < 0 || high < low || high >= size {
			return nil, fmt.Errorf("pmi: %s %s: %s is no rank or range of ranks below %d", DeadKey, quote(text), quote(part), size)
		}
		if len(ranks)+high-low+1 > size {
			return nil, fmt.Errorf("pmi: %s %s: more ranks than the %d of the job", DeadKey, quote(text), size)
		}
		for r := low; r <= high; r++ {
			ranks = append(ranks, r)
		}
	}
	return ranks, nil
}
