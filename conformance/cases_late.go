package conformance

import "github.com/strandmp/strand/btl"

// A frame can stall in the middle for as long as the network likes. Its host then
// has it sent another way, completes the receive and gives the memory back to the
// program: what the first way still brings must go nowhere.

// stalled makes a frame stand half arrived at back, and does not turn its sender
// any more. With starved the network holds nothing more of it either. The result is
// nil if no frame came to stand so. All ranks are stalled.
func (w *world) stalled(there, back *port, starved bool) *plot {
	const frames = 8 // together more than the buffers on the way take
	for range frames {
		there.post(w.long())
	}
	var pl *plot
	for pl == nil && w.t.holds(func() bool { return len(there.backlog)+w.book.pending > 0 }) {
		pl = w.halfway(back, w.t.arrivals(w))
	}
	if starved && pl != nil && there.r != back.r {
		pl = w.starve(back)
	}
	return pl
}

// starve turns the receiver alone until nothing more arrives, and returns the
// plot of a frame that then stands half arrived.
func (w *world) starve(back *port) (open *plot) {
	const enough = 3 // turns without a byte
	landed := uint64(0)
	for quiet := 0; quiet < enough; quiet++ {
		w.t.patience(ruleReliable, "an end of what a stopped sender has sent")
		back.r.step(1)
		w.t.mu.Lock()
		open = back.halfArrived()
		now := back.received.bytes
		if open != nil {
			now += uint64(open.sh.size - open.landing.Left())
		}
		w.t.mu.Unlock()
		if now != landed {
			landed, quiet = now, 0
		}
	}
	return open
}

// lateScratch is the room that is left for what still comes of a revoked frame, in bytes. It is less
// than a transport may want for a read of its own. So a transport that asked for the room before has
// to ask again.
const lateScratch = 1 << 10

// revoke takes back the memory of a frame that is arriving at p. An endpoint that can be polled is
// polled right before, so that it may have asked for room and then read nothing.
func (p *port) revoke(pl *plot) {
	if poller, ok := p.ep.(btl.Poller); ok {
		p.r.do("Poller.Poll", func() { poller.Poll() })
	}
	p.r.do("revoking", func() {
		p.w.t.mu.Lock()
		defer p.w.t.mu.Unlock()
		if !pl.taken {
			pl.revoke(make([]byte, lateScratch))
		}
	})
}

// late is the scene of one frame from a that stalls at b, and of a third rank
// whose frames arrive meanwhile. A transport that serves its own rank alone has
// no third.
type late struct {
	w           *world
	there, back *port // of the frame that stalls
	other, door *port // of those that do not, nil without a third rank
	begun       int   // frames that came in two steps
}

func (t *trial) lateScene() *late {
	w := t.open(3)
	w.needReliable()
	s := &late{w: w}
	a, b := w.pair()
	s.there, s.back = w.join(a, b)
	if a != b {
		s.other, s.door = w.join(w.ranks[1], b)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.back.lay = func(int) plotKind {
		s.begun++
		return plotKind(t.noise.IntN(2)) // whole or a vector
	}
	return s
}

// occupy has another frame land in the memory of one that was revoked, and
// reports whether that came first.
func (s *late) occupy(pl *plot, size int) bool {
	t := s.w.t
	if s.other == nil {
		return !t.holds(func() bool { return s.back.landings[&pl.landing] == nil })
	}
	t.mu.Lock()
	s.door.reuse = pl
	before := s.door.received.frames
	t.mu.Unlock()
	s.other.post(spec{header: 16, size: min(size, s.w.maxFrame())})
	// A transport may make everybody wait for a frame that it has begun.
	const most = 500
	there := func() bool { return s.door.received.frames > before }
	for n := 0; n < most && !t.holds(there); n++ {
		t.patience(ruleReliable, "a frame beside one that stalls")
		s.other.r.step(1)
		s.back.r.step(1)
	}
	return t.holds(func() bool { return there() && s.back.landings[&pl.landing] != nil })
}

// over ends a round: all that is under way arrives, and the memory is looked at.
func (s *late) over() {
	t := s.w.t
	s.w.resumeAll()
	s.w.settle()
	t.mu.Lock()
	if s.door != nil {
		s.door.reuse = nil
	}
	s.w.inspectPlots()
	t.mu.Unlock()
	t.check()
}

// explain says why a case does not apply.
func (s *late) explain() string {
	if s.begun == 0 {
		return "the module delivers frames whole, in one step"
	}
	return "no frame ever stood half arrived between two polls"
}

func checkLateBytes(t *trial) {
	s := t.lateScene()
	met := 0
	for round := range 8 {
		s.w.stallAll()
		if pl := s.w.stalled(s.there, s.back, round%2 == 0); pl != nil {
			s.back.revoke(pl)
			if s.occupy(pl, []int{100, 24 << 10, 300 << 10}[round%3]) {
				met++
			}
		}
		s.over()
	}
	if met == 0 {
		t.skip(s.explain())
	}
}

func checkLateEnd(t *trial) {
	s := t.lateScene()
	if s.other == nil {
		t.skip("the transport reaches its own rank only")
	}
	t.falls(s.there, s.back)
	var pl *plot
	for _, starved := range []bool{true, false} {
		s.w.stallAll()
		if pl = s.w.stalled(s.there, s.back, starved); pl != nil {
			break
		}
		s.over()
	}
	if pl == nil {
		t.skip(s.explain())
	}
	ended := false
	t.mu.Lock()
	s.back.onDrop = func(d *plot) { ended = ended || d == pl }
	t.mu.Unlock()
	s.back.revoke(pl)
	s.there.sever()
	s.w.resumeAll()
	t.await(ruleNoticed, s.back.String()+" to go down because its connection was cut", func() bool { return s.back.downs > 0 })
	if !t.holds(func() bool { return ended || pl.sh.arrived }) {
		t.fail(ruleLanding, "%v: a frame stood half arrived, revoked, and neither End nor Drop was called", s.back)
	}
	s.over()
}
