package local

import "github.com/strandmp/strand/internal/launcher/control"

// call passes on that a rank can not connect to another one and asks it to connect.
// One that has exited hears nothing.
func (j *job) call(by, rank int) {
	if rank < 0 || rank >= len(j.ranks) || rank == by {
		return
	}
	j.logf("rank %d asks rank %d to connect to it", by, rank)
	j.ranks[rank].line.Call(by)
}

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
