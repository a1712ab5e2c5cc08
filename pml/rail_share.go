package pml

// share is what striping knows of a rail.
type share struct {
	queued  int     // bytes under way, as of the last look
	given   int     // bytes given to the rail since
	at      int64   // when that was
	last    int64   // when it was given something last
	rested  bool    // it may have had nothing to do for a part of the time since the look
	drained float64 // bytes that the rail has got rid of lately,
	took    float64 // and in how many nanoseconds of being busy
	hope    float64 // by how much faster it may be, in parts of that
}

const (
	// memory is over how many bytes, about, a rail's speed is averaged. Its buffers take and
	// release in bursts.
	memory = 2 << 20
	// tail is how many bytes may be under way although the rail has nothing to do: the peer's
	// system waits before it confirms the last ones.
	tail = 4 << 10
	// hopeful is how many bytes pass over a rail until it is thought twice as fast. A rail that is
	// slow indeed then costs as large a part of the time, however slow it is.
	hopeful = 8 << 20
	// enough is from how many bytes on a rail's speed is known.
	enough = 64 << 10
)

// gave notes bytes given to the rail.
func (s *share) gave(size int, now int64) {
	if s.load() == 0 {
		s.at, s.rested = now, false
	} else if s.load() <= alone && now-max(s.at, s.last) > soon {
		s.rested = true // perhaps
	}
	s.last = now
	s.given += size
}

// look notes that so many bytes are under way. If none are, or if the rail has got little by
// little, it may have been idle for a part of the time, and is at least as fast as it seems. A
// look at the very moment when the last byte leaves is exact.
func (s *share) look(outstanding int, exact bool, now int64) {
	passed, took := float64(max(s.load()-outstanding, 0)), float64(now-s.at)
	switch {
	case s.load() == 0:
	case exact || outstanding > tail && !s.rested:
		s.count(passed, took)
	case passed*s.took >= s.drained*took:
		s.count(passed, took)
	case s.drained < enough:
		s.count(passed, passed*s.took/s.drained) // no news, but so much is known by now
	}
	if s.load() > tail {
		s.hope = 0
	}
	s.queued, s.given, s.rested, s.at = outstanding, 0, false, now
}

// count takes what was drained in a time into the average.
func (s *share) count(drained, took float64) {
	s.drained += drained
	s.took += took
	if s.drained > memory {
		s.drained /= 2
		s.took /= 2
	}
}

// rate is the speed in bytes a nanosecond, 0 as long as too little was drained to
// tell.
func (s *share) rate() float64 {
	if s.drained < enough || s.took == 0 {
		return 0
	}
	return s.drained / s.took
}

// speed is what is hoped for.
func (s *share) speed() float64 { return s.rate() * (1 + s.hope) }

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

// passOver notes that a frame of n bytes has gone over another rail, which is faster, though
// this one had nothing to do. It is thought faster itself, until it has got something.
func (s *share) passOver(n int) { s.hope += float64(n) / hopeful }

// hasRoom reports whether the rail is to be given more while there are others: one frame is on its
// way, and one follows. Where frames are held until they have arrived the way may be a long one that holds
// many. What follows is then what the transport has not sent yet: as much as arrives together, so that more is there
// when that is told.
func (r *rail) hasRoom() bool {
	frames, _ := r.line.Holds()
	return frames < maxHeld || r.queue != nil && r.queue.Queued() <= r.attr.MaxFrame
}
