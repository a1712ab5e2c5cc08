package job

import (
	"slices"

	"github.com/strandmp/strand/internal/launcher/control"
)

// call passes on a call by a rank that can not connect to another one: rank is to connect
// instead. If that one has left the job in order, or does so later, the caller is told.
func (s *supervisor) call(by, rank int) {
	if rank < 0 || rank >= len(s.ranks) || rank == by {
		return
	}
	s.logf("rank %d asks rank %d to connect to it", by, rank)
	state := &s.state[rank]
	if state.left() {
		s.tellLeft(by, rank)
		return
	}
	if !slices.Contains(state.callers, by) {
		state.callers = append(state.callers, by)
	}
	s.ranks[rank].line.Call(by)
}

// left reports whether the rank has left the job in order, whatever its status then was. One of which the
// others were told before that it has failed has not.
func (s *standing) left() bool { return s.finalised && !s.told }

// tellCallers answers those who have called a rank that leaves now.
func (s *supervisor) tellCallers(rank int) {
	for _, by := range s.state[rank].callers {
		s.tellLeft(by, rank)
	}
	s.state[rank].callers = nil
}

func (s *supervisor) tellLeft(by, rank int) {
	if s.state[rank].left() && !s.state[by].exited && !s.state[by].finalised {
		s.ranks[by].line.TellLeft(control.Departure{Rank: rank, Host: s.hostOf(rank)})
	}
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
