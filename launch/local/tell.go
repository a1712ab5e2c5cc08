package local

import "github.com/strandmp/strand/internal/control"

// tell lets the living ranks know, once, that one has failed. A rank that has left
// the job in order before it failed is none of theirs any more.
func (s *supervisor) tell(failure *RankError) {
	state := &s.state[failure.Rank]
	if state.finalised || state.told {
		return
	}
	state.told = true
	f := control.Failure{Rank: failure.Rank, Host: failure.Hostname, How: failure.how(), Status: failure.Code, Signal: int(failure.Signal)}
	for rank, p := range s.ranks {
		if rank != failure.Rank && !s.state[rank].exited && !s.state[rank].finalised {
			p.line.Tell(f)
		}
	}
}
