package transfer

// Paths that carry data at the same time share the peer's window. What arrives over the others while a packet is on its way has
// to wait there for it, and fills the window. So a slow path with a long queue would stop them all, although none has lost
// anything: the fast ones would send a window, and wait until the queue has drained. A path gets no more than what it
// delivers while the others deliver the rest of the window (as BLEST does it for MPTCP: Ferlin, Alay, Mehani and Boreli, IFIP
// Networking 2016).

const (
	// shareOf is the part of the peer's window that is shared out. What is left is for the time between two acknowledgements.
	shareOf = 0.75
	// leastShare is how many packets a path may have under way in any case, so that it is known how fast it is.
	leastShare = 4
	// fade is what a rate is worth a round trip later, if none was higher. A path is not slower because there was nothing to
	// send, or no room for it.
	fade = 0.875
)

// A rate is how fast a path delivers.
type rate struct {
	speed   float64 // bytes a nanosecond; 0: not known
	since   int64   // when this round trip began,
	arrived int     // and what has arrived in it
}

// measure ends the round trip if it is over.
func (r *rate) measure(now, trip int64) {
	took := now - r.since
	if trip == 0 || took < trip {
		return
	}
	if took < 4*trip { // else nothing was sent for some time
		r.speed = max(float64(r.arrived)/float64(took), fade*r.speed)
	}
	r.since, r.arrived = now, 0
}

// hasShare reports whether a path has as much under way as it delivers before the peer's window is full with what the others
// deliver.
func (s *Sender) hasShare(i int) bool {
	w, all, first := &s.ways[i], 0.0, true
	underWay := w.path.UnderWay()
	if w.rate.speed == 0 || underWay < leastShare*w.packet {
		return false
	}
	for j := range s.ways {
		other := &s.ways[j]
		if !s.usable(j) {
			continue
		}
		all += other.rate.speed
		if float64(other.path.UnderWay())*w.rate.speed < float64(underWay)*other.rate.speed {
			first = false
		}
	}
	return !first && float64(underWay)*all > shareOf*float64(s.bounded(s.most))*w.rate.speed
}
