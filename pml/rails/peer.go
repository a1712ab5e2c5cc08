package rails

import (
	"slices"
	"time"
)

// A Peer is what is known of the ways to another process, and of what came of them.
type Peer struct {
	Stage Stage
	// Rails are those that may carry messages, in the order of preference; Standby those
	// that become rails when no other leads to the peer, the highest tier first.
	Rails, Standby []*Rail
	// Met: there has been a connection.
	Met bool

	tier     int   // the highest that carries messages
	wanted   bool  // somebody has asked for a connection
	last     *Rail // that broke last
	lost     int64 // when the last connection broke
	seekAt   int64 // times at which something is due; 0: it is not
	widenAt  int64
	appealAt int64
	answerBy int64
	doomedAt int64
	overtime bool // this process was stopped as the answer was due,
	reread   bool // or before it had read what a doomed peer had sent

	noWay     bool // we know none to it, but it may know one to us
	exhausted bool // never met, and all ways have failed
	damaged   bool // what it has said makes no sense
	conduct   conduct
}

// Env is what there is beside the peer.
type Env struct {
	Now         int64
	Moved       uint32        // changes whenever anything gets through to either side
	RailTimeout time.Duration // pml_rail_timeout
	PeerTimeout time.Duration // pml_peer_timeout
	Appeals     bool          // the launcher passes calls on, and tells of ranks that die
	Leaving     bool          // this process closes its world,
	Parting     bool          // has nothing to say to the peer but goodbye,
	Needless    bool          // or not even that
	// Slow is how many times longer than elsewhere a connection may take, since many ranks share a
	// processor; 0 counts as 1.
	Slow int
}

// in is when a time is over by which the others should have done something.
func (e *Env) in(d time.Duration) int64 { return e.Now + int64(d)*int64(max(e.Slow, 1)) }

// Connected reports whether any rail is.
func (p *Peer) Connected() bool {
	for _, r := range p.Rails {
		if r.State.Connected() {
			return true
		}
	}
	return false
}

// ending reports whether any rail takes nothing more, and its transport has not said yet that it is over.
func (p *Peer) ending() bool {
	return slices.ContainsFunc(p.Rails, func(r *Rail) bool { return r.State == Breaking })
}

// Attach makes the peer known by its rails. They may be more than before.
func (p *Peer) Attach(rails []*Rail) {
	p.Stage, p.Rails = Known, rails
	p.settle()
}

// settle says which of the connected rails carry messages: those of the highest tier that are
// neither in doubt nor on trial. If there are none, those in doubt carry them, and if there are
// none of these either, those on trial: a bad rail is better than none.
func (p *Peer) settle() {
	if !slices.ContainsFunc(p.Rails, func(r *Rail) bool { return r.State.Connected() && r.State != Trial }) {
		for _, r := range p.Rails {
			if r.State == Trial {
				r.State, r.pause = Resting, 0
			}
		}
	}
	p.tier = 0
	found, trusted := false, false
	for _, r := range p.Rails {
		if r.State.Connected() && r.State != Trial {
			if !found || r.Tier > p.tier {
				p.tier, found, trusted = r.Tier, true, false
			}
			trusted = trusted || r.Tier == p.tier && r.State != Doubted
		}
	}
	for _, r := range p.Rails {
		switch {
		case !r.State.Connected() || r.State == Trial:
		case r.Tier < p.tier:
			r.State = Resting
		case r.State != Doubted || !trusted:
			r.State = Up
		}
	}
}

// rests reports whether a rail that is not connected can stay so, since one of a higher
// tier carries everything.
func (p *Peer) rests(r *Rail) bool { return p.Connected() && r.Tier < p.tier }

// Alternatives reports whether the peer may be reached by more than one way.
func (p *Peer) Alternatives() bool { return len(p.Rails) > 1 || p.hasDetour() }

// hasDetour reports whether something stands by that does not go over the very
// interfaces that the rails use.
func (p *Peer) hasDetour() bool { return slices.ContainsFunc(p.Standby, (*Rail).avoids) }

// hasOther reports whether another rail is connected, or would be if this one were
// not there.
func (p *Peer) hasOther(r *Rail) bool {
	return p.hasDetour() || slices.ContainsFunc(p.Rails, func(other *Rail) bool {
		return other != r && (other.State.Connected() || other.Tier < r.Tier && other.State != Gone && other.avoids())
	})
}
