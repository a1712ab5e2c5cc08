package local

import (
	"fmt"
	"strings"

	"github.com/strandmp/strand/internal/control"
)

// tell lets the living ranks know that one has failed. A rank that has left the job
// in order before it failed is none of theirs any more.
func (s *supervisor) tell(failure *RankError) {
	if s.state[failure.Rank].finalised {
		return
	}
	f := control.Failure{Rank: failure.Rank, Host: failure.Hostname, How: failure.how(), Status: failure.Code, Signal: int(failure.Signal)}
	for rank, p := range s.ranks {
		if rank != failure.Rank && !s.state[rank].exited && !s.state[rank].finalised {
			p.line.Tell(f)
		}
	}
}

// warnings are those that were shown. What all ranks say alike, but for their own
// number, is told once.
type warnings map[string]bool

// maxWarnings bounds how many different ones are shown of a job that runs for long.
const maxWarnings = 1000

// fresh reports whether no rank has said this yet.
func (w warnings) fresh(rank int, text string) bool {
	said := strings.ReplaceAll(text, fmt.Sprintf("rank %d", rank), "rank N")
	if w[said] || len(w) >= maxWarnings {
		return false
	}
	w[said] = true
	return true
}

// warn shows a rank's warning unless another has said the same.
func (j *job) warn(rank int, text string) {
	j.warning.Lock()
	fresh := j.warned.fresh(rank, text)
	j.warning.Unlock()
	if fresh {
		j.sinks[1].note("strand: " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
	}
}
