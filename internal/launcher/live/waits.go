package live

import (
	"encoding/json"
	"fmt"

	"github.com/strandmp/strand/internal/whowaits"
)

// Waits takes what ranks wait for out of their reports.
func Waits(ranks []Rank) []whowaits.Rank {
	all := make([]whowaits.Rank, len(ranks))
	for i, r := range ranks {
		all[i] = whowaits.Rank{Rank: r.Rank, Ended: r.Ended, Silent: r.Silent}
		if r.Silent != "" {
			continue
		}
		var report struct{ Waits *whowaits.Report }
		if err := json.Unmarshal(r.Report, &report); err != nil {
			all[i].Silent = fmt.Sprintf("its report is not understood: %v", err)
			continue
		}
		all[i].Report = report.Waits
	}
	return all
}
