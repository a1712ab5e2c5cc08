package pml

// share is what striping knows of a rail.
type share struct {
	queued  int     // bytes under way, as of the last look
	given   int     // bytes given to the rail since
	at      int64   // when that was
	drained float64 // bytes that the rail has got rid of lately,
	took    float64 // and in how many nanoseconds of being busy
	fed     bool    // it has taken a piece since the last message was cut up
}

const (
	// memory is over how many bytes, about, a rail's speed is averaged. Its buffers take and
	// release in bursts.
	memory = 2 << 20
	// enough is from how many bytes on a rail's speed is known.
	enough = 64 << 10
)

// gave notes bytes given to the rail.
func (s *share) gave(size int, now int64) {
	if s.load() == 0 {
		s.at = now
	}
	s.given += size
}

// look notes that so many bytes are under way. If none are, the rail was idle for an
// unknown part of the time, and is at least as fast as it seems. A look at the very moment
// when the last byte leaves is exact.
func (s *share) look(outstanding int, exact bool, now int64) {
	passed, took := float64(max(s.load()-outstanding, 0)), float64(now-s.at)
	if s.load() > 0 && (exact || outstanding > 0 || passed*s.took >= s.drained*took) {
		s.drained += passed
		s.took += took
		if s.drained > memory {
			s.drained /= 2
			s.took /= 2
		}
	}
	s.queued, s.given, s.at = outstanding, 0, now
}

// rate is the speed in bytes a nanosecond, 0 as long as too little was drained to
// tell.
func (s *share) rate() float64 {
	if s.drained < enough || s.took == 0 {
		return 0
	}
	return s.drained / s.took
}

// load is the number of bytes under way.
func (s *share) load() int { return s.queued + s.given }

// look asks the transport how much is under way. For one that can not tell it is what the
// transport has not released.
func (r *rail) look(now int64) {
	if r.gauge != nil {
		if n := r.gauge.Outstanding(); n >= 0 {
			r.share.look(n, false, now)
			return
		}
		r.gauge = nil
	}
	_, held := r.line.Holds()
	r.share.look(held, true, now)
}

// holds is how many frames the transport holds.
func (r *rail) holds() int {
	frames, _ := r.line.Holds()
	return frames
}
