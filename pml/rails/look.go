package rails

import "time"

// A Sample is what a rail has under way and has got rid of, as of a look.
type Sample struct {
	Signs   uint64  // changes with each sign of life
	Heard   uint64  // frames that have arrived
	Carried int64   // bytes that have gone through, as far as can be known
	Rate    float64 // its own speed in bytes a nanosecond, 0: not known
	Load    int     // bytes under way, about
	Waits   bool    // it has something under way,
	Oldest  int64   // since then; 0: that is not known
	// RoundTrip is that of the way, as its transport tells; 0: it does not.
	RoundTrip time.Duration
}

// A Finding is what a look at a rail has found, and what the caller is to do about it.
type Finding struct {
	Fault  Fault         // break the rail off, and tell the peer
	For    time.Duration // how long that has lasted
	Watch  bool          // something is expected of it: look again soon
	Ask    bool          // have the peer give a sign of life over this rail
	AskAll bool          // and over all
	Others bool          // have the others connect
}

// A Fault is why a rail is given up.
type Fault uint8

// The faults.
const (
	NoFault     Fault = iota
	Silent            // no sign of life for pml_rail_timeout
	Creeping          // next to nothing goes through, while others do well
	TrialFailed       // too few probes were answered in time
)

// pace is how a rail fares. A rail that is not silent may hardly carry anything while another
// one is well. Then it is doubted like a silent one, and given up when that lasts or comes
// again and again.
type pace struct {
	mark    uint64 // signs of life at the last look
	alive   int64  // when a look found them changed, or nothing expected
	since   int64  // when a look found first that something is expected; 0: nothing is
	silence int64  // without a sign although one was expected, as of the last look
	quiet   bool   // half of pml_rail_timeout of that, or more
	looked  int64  // when the last look was
	stopped bool   // since the last sign this process has not looked for long
	carried int64  // bytes that had gone through at the last look, at the time at
	at      int64
	slow    int    // looks in a row that found too little
	doubts  int    // times that it was doubted lately
	doubted int64  // when it was last
	heard   uint64 // frames heard at the last look,
	fresh   int64  // and when there were new ones
	sample  Sample // of this look
}

const (
	// unhurried is the share of a rail's own speed that is too little, and leastPace what
	// is too little where that is not known, in bytes a second.
	unhurried = 1.0 / 8
	leastPace = 16 << 10
	// much under way fills the queues of the way itself. Where there is less, what makes its round trip longer may stand in those
	// of the way back.
	much = 64 << 10
	// manyDoubts in doubtful make a rail one to give up.
	manyDoubts = 3
	doubtful   = int64(10 * time.Second)
)

// begin notes that the rail is connected.
func (c *pace) begin(now int64) {
	c.alive, c.at, c.fresh, c.slow, c.quiet = now, now, now, 0, false
	c.since, c.silence, c.looked, c.stopped = 0, 0, now, false
	c.mark, c.heard, c.carried = c.sample.Signs, c.sample.Heard, c.sample.Carried
}

// Sample notes how a rail fares. All rails are sampled before the first is looked at.
func (r *Rail) Sample(s Sample) {
	r.pace.sample = s
	r.trip.told(s.RoundTrip)
}

// Look judges a connected rail by its sample: whether it is silent or creeps although
// something is expected of it. The caller does what it says before it looks at the next.
func (p *Peer) Look(r *Rail, e Env) (f Finding) {
	near := e
	e.RailTimeout = r.trip.timeout(near)
	brief := e
	if r.pace.sample.Load >= much {
		brief.RailTimeout = r.trip.unqueued(near)
	}
	switch {
	case !r.State.Connected():
		return f
	case r.State == Trial:
		f.Watch, f.For = true, r.trial.patience(e.RailTimeout)
		if r.trial.lasts(e) >= f.For {
			f.Fault = TrialFailed
		}
		return f
	}
	c := &r.pace
	c.notice(e)
	s, silent := c.sample, time.Duration(c.silence)
	creeps := p.creeps(r, brief, int64(e.RailTimeout), &f)
	if !s.Waits {
		p.Doubt(r, false)
		return f
	}
	f.Watch = true
	switch {
	case silent >= e.RailTimeout && (p.hasOther(r) || e.Parting && p.Alternatives()):
		// Either another rail is left, or this process has nothing to say but goodbye. Then it
		// loses nothing with the connection, and other addresses may tell that the peer has
		// left.
		f.Fault, f.For = Silent, silent
	case creeps && c.hopeless():
		f.Fault, f.For = Creeping, time.Duration(e.Now-s.Oldest)
	case c.quiet || creeps:
		f.Others, f.Ask = true, true
		p.Doubt(r, true)
	default:
		p.Doubt(r, false)
	}
	return f
}

// notice takes down for how long there was no sign of life that is due. A look counts no more of
// that than half of pml_rail_timeout, and no more together with what was before, once in a silence. So a process that was
// stopped has the peer asked, which may have been stopped too, before it gives a rail up.
func (c *pace) notice(e Env) {
	s := &c.sample
	switch {
	case !s.Waits:
		c.since = 0
	case c.since == 0:
		c.since = e.Now
	}
	if s.Oldest == 0 {
		s.Oldest = c.since
	}
	half := int64(e.RailTimeout / 2)
	if s.Signs != c.mark || !s.Waits {
		c.mark, c.alive, c.silence, c.stopped = s.Signs, e.Now, 0, false
	}
	c.alive = max(c.alive, e.Now-c.silence-half)
	if e.Now-max(c.looked, s.Oldest) > half && !c.stopped {
		c.alive, c.stopped = max(c.alive, e.Now-half), true
	}
	c.looked = e.Now
	c.silence = e.Now - max(c.alive, s.Oldest)
	c.quiet = s.Waits && c.silence >= half
}

// quiet reports whether none of the rails that carry messages gives a sign of life that is due.
func (p *Peer) quiet() (quiet bool) {
	for _, r := range p.Rails {
		if r.State.Connected() && r.State != Trial {
			if !r.pace.quiet {
				return false
			}
			quiet = true
		}
	}
	return quiet
}

// creeps takes note of how a rail fares, and reports whether it creeps. A rail creeps if
// another one is well and it either gets rid of next to nothing, or has held a frame for long
// that an idle one would have delivered: for most of patience, since over a long queue it takes as long where all is well.
func (p *Peer) creeps(r *Rail, e Env, patience int64, f *Finding) bool {
	c, s, timeout := &r.pace, &r.pace.sample, int64(e.RailTimeout)
	if c.heard != s.Heard {
		c.heard, c.fresh = s.Heard, e.Now
	}
	if e.Now-c.at < timeout/2 {
		return c.slow > 0
	}
	passed, took := float64(s.Carried-c.carried), float64(e.Now-c.at)
	c.carried, c.at = s.Carried, e.Now
	if !s.Waits || e.Now-s.Oldest < timeout/2 {
		c.slow = 0
		return false
	}
	if took > float64(timeout) {
		return c.slow > 0 // this process was stopped: what it has to do itself for more to go through stood still too
	}
	f.Others, f.AskAll = true, true // only a rail that is connected and heard can be well
	need := took * leastPace / 1e9
	if s.Rate > 0 {
		need = took * s.Rate * unhurried
	}
	well, idle := p.otherIsWell(r, e)
	if !well || passed >= need && (!idle || e.Now-s.Oldest < patience*3/4) {
		c.slow = 0
		return false
	}
	if c.slow++; c.slow == 1 {
		if e.Now-c.doubted > doubtful {
			c.doubts = 0
		}
		c.doubted = e.Now
		c.doubts++
	}
	return true
}

// hopeless reports whether the rail has crept for too long, or too often.
func (c *pace) hopeless() bool { return c.slow >= 2 || c.slow > 0 && c.doubts >= manyDoubts }

// otherIsWell reports whether another rail has brought something lately, and whether such a
// rail, of those that carry messages, is idle, with nothing under way. One that rests is so as a rule.
func (p *Peer) otherIsWell(r *Rail, e Env) (well, idle bool) {
	for _, other := range p.Rails {
		c := &other.pace
		if other != r && other.State.Connected() && other.State != Trial && c.slow == 0 && e.Now-c.fresh <= int64(e.RailTimeout)/2 {
			well, idle = true, idle || !c.sample.Waits && other.State != Resting
		}
	}
	return well, idle
}
