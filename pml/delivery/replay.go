package delivery

// A line that breaks takes nothing with it: what it had not delivered for certain goes
// over another line, or over the same one once that is connected again. The peer knows
// frames by their numbers and drops what comes twice.

// Lost has those frames go again that were given to a line and are not acknowledged, and calls
// lost for each. The caller has taken back before what the line's transport held.
func (s *Sender) Lost(l *Line, lost func(*Frame)) {
	s.Each(func(f *Frame) {
		if f.Line == l {
			lost(f)
			f.Line = nil
			s.replay(f)
		}
	})
}

func (s *Sender) replay(f *Frame) {
	f.queued = true
	s.replayQueue(f).Push(f)
}

func (s *Sender) replayQueue(f *Frame) *Queue {
	if f.Urgent {
		return &s.urgent
	}
	return &s.replays
}

// NextReplay is the frame that is to go again next, nil if there is none. It may have
// been acknowledged meanwhile.
func (s *Sender) NextReplay() *Frame {
	if f := s.urgent.Head(); f != nil {
		return f
	}
	return s.replays.Head()
}

// Replays is how many frames and parts are to go again.
func (s *Sender) Replays() int { return s.urgent.Len() + s.replays.Len() }

// UrgentReplays is how many of them are urgent.
func (s *Sender) UrgentReplays() int { return s.urgent.Len() }

// AllReplays calls do for those that are not urgent, the next one first, until do reports false.
func (s *Sender) AllReplays(do func(*Frame) bool) { s.replays.All(do) }

// Replaying takes from its queue the frame that [Sender.NextReplay] has named: a line has it now,
// or it is to be cut, or it was acknowledged.
func (s *Sender) Replaying(f *Frame) {
	s.replayQueue(f).Pop()
	f.queued = false
}
