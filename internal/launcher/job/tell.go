package job

import "github.com/strandmp/strand/internal/launcher/control"

// call passes on a call by a rank that can not connect to another one: rank is to connect
// instead. A rank that has exited hears nothing.
func (j *job) call(by, rank int) {
	if rank < 0 || rank >= len(j.ranks) || rank == by {
		return
	}
	j.logf("rank %d asks rank %d to connect to it", by, rank)
	j.ranks[rank].line.Call(by)
}

// tell lets the living ranks know, once, that one has failed. A rank that had left the job in
// order before it failed does not concern them any more.
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
