package recovery

// slowStart doubles the window with each round trip, until round trips get longer because queues fill:
// HyStart++, RFC 9406.
type slowStart struct {
	end      uint64 // the round ends when this number has arrived
	samples  int
	least    int64 // the least round trip of this round,
	before   int64 // and of the one before; 0: not known
	cautious int   // rounds of conservative slow start that have begun; 0: not yet
	baseline int64 // the least round trip of the round in which that began
}

const (
	roundSamples   = 8
	leastIncrease  = 4e6  // ns: what counts as longer, at the least
	mostIncrease   = 16e6 // and at the most
	cautiousRounds = 5
	cautiousDivide = 4
)

// grow returns by how much the window is to grow, and whether slow start is over.
func (s *slowStart) grow(a Sample) (bytes int, over bool) {
	if a.Last >= s.end {
		over = s.round(a)
	}
	if a.Latest > 0 {
		s.samples++
		if s.least == 0 || a.Latest < s.least {
			s.least = a.Latest
		}
	}
	switch {
	case s.samples < roundSamples || s.before == 0:
	case s.cautious == 0 && s.least >= s.before+min(max(s.before/8, leastIncrease), mostIncrease):
		s.cautious, s.baseline = 1, s.least
	case s.cautious > 0 && s.least < s.baseline:
		s.cautious = 0 // it was no queue
	}
	if !a.Limit {
		return 0, over
	}
	if s.cautious > 0 {
		return a.Bytes / cautiousDivide, over
	}
	return a.Bytes, over
}

// round begins a round trip. It reports whether there were enough cautious ones.
func (s *slowStart) round(a Sample) (over bool) {
	s.end, s.before, s.least, s.samples = a.Next, s.least, 0, 0
	if s.cautious > 0 {
		s.cautious++
	}
	return s.cautious > cautiousRounds
}
