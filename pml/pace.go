package pml

import "time"

// pace is how fast a rail gets rid of what it has. One that is not silent, but hardly
// carries anything while another one is well, is doubted like a silent one, and given up
// when that lasts or comes again and again.
type pace struct {
	acked   int64 // bytes of frames that went over the rail and are acknowledged
	carried int64 // bytes that had gone through at the last look, at the time at
	at      int64
	slow    int    // looks in a row that found too little
	doubts  int    // times that it was doubted lately
	doubted int64  // when it was last
	heard   uint64 // frames heard at the last look,
	fresh   int64  // and when there were new ones
}

const (
	// unhurried is the share of a rail's own speed that is too little, and leastPace what
	// is too little where that is not known, in bytes a second.
	unhurried = 1.0 / 8
	leastPace = 16 << 10
	// manyDoubts in doubtful make a rail one to give up.
	manyDoubts = 3
	doubtful   = int64(10 * time.Second)
)

// carried is how many bytes have gone through, as far as can be known.
func (r *rail) carried() int64 {
	if r.gauge != nil && r.vital.confirmed > 0 {
		return r.vital.confirmed
	}
	return r.pace.acked
}

// lookAtPace takes note of how a rail fares; oldest is when the oldest frame that each rail
// has under way was given to it. It reports whether the rail creeps: while another one is
// well it gets rid of next to nothing, or has had a frame for long of which the other one
// could be rid, since it has nothing to do.
func (r *rail) lookAtPace(now int64, oldest map[*rail]int64) (creeps bool) {
	p, timeout := &r.pace, int64(r.pml.tune.railTimeout)
	if p.heard != r.vital.heard {
		p.heard, p.fresh = r.vital.heard, now
	}
	if now-p.at < timeout/2 {
		return p.slow > 0
	}
	passed := r.carried() - p.carried
	took := float64(now - p.at)
	p.carried, p.at = r.carried(), now
	since, waits := oldest[r]
	if !waits || now-since < timeout/2 {
		p.slow = 0
		return false
	}
	r.peer.connectAll() // or there is none to be well
	r.peer.askAll()
	need := took * leastPace / 1e9
	if rate := r.share.rate(); rate > 0 {
		need = took * rate * unhurried
	}
	well, idle := r.peer.otherIsWell(r, now, oldest)
	if !well || float64(passed) >= need && (!idle || now-since < timeout*3/4) {
		p.slow = 0
		return false
	}
	if p.slow++; p.slow == 1 {
		if now-p.doubted > doubtful {
			p.doubts = 0
		}
		p.doubted = now
		p.doubts++
	}
	return true
}

// hopeless reports whether the rail has crept for too long, or too often.
func (p *pace) hopeless() bool { return p.slow >= 2 || p.slow > 0 && p.doubts >= manyDoubts }

// otherIsWell reports whether another rail has brought something lately, and whether one of
// these has nothing under way.
func (pe *peer) otherIsWell(r *rail, now int64, oldest map[*rail]int64) (well, idle bool) {
	for _, other := range pe.rails {
		if other != r && other.up && !other.trial.on && other.pace.slow == 0 && now-other.pace.fresh <= int64(pe.pml.tune.railTimeout)/2 {
			_, waits := oldest[other]
			well, idle = true, idle || !waits
		}
	}
	return well, idle
}

// askAll has the peer give a sign of life, and tell what has arrived, over each rail.
func (pe *peer) askAll() {
	for _, r := range pe.rails {
		if r.up && !r.busy && !r.trial.on {
			r.ask()
		}
	}
}
