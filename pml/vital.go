package pml

import (
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
)

// vital is what tells a rail that lives from one that is silent. Frames that
// arrive over it, acknowledgements of frames that went over it, and bytes that the
// peer's system confirms are all signs of life; where the transport can not tell of
// those, it is room that it finds for more.
type vital struct {
	heard     uint64 // frames
	acked     uint64 // frames
	released  uint64 // frames
	given     int64  // bytes of frames given to the transport
	confirmed int64  // the most of these, less what is under way, that was seen
	mark      uint64 // all of these, and the bytes under way, at the last look
	alive     int64  // when a look found them changed, or nothing expected
	since     int64  // when it was connected
	doubted   bool   // silent for so long that others go first
}

// hear notes that a frame has arrived.
func (r *rail) hear() {
	r.vital.heard++
	r.peer.heard = r
	r.peer.beat = r.pml.beats.count
}

// expect has the rail watched once a frame went over it, if there is another to
// go to.
func (r *rail) expect() {
	if p := r.pml; r.peer.alternatives() && !p.watching {
		p.watching = true
		p.engine.After(p.tune.railTimeout/4, p.watch)
	}
}

// signs sums up the signs of life.
func (r *rail) signs() uint64 {
	n := r.vital.heard + r.vital.acked
	if r.gauge != nil {
		if under := r.gauge.Outstanding(); under >= 0 {
			// What is under way has the transport's own headers too: a frame more
			// makes this less, and only what is confirmed makes it more.
			r.vital.confirmed = max(r.vital.confirmed, r.vital.given-int64(under))
			return n + uint64(r.vital.confirmed)
		}
	}
	n += r.vital.released
	for f := r.newest; f != nil; f = f.older {
		n += uint64(f.Progress)
	}
	return n
}

// watch looks for rails that are silent although something is expected of them.
func (p *PML) watch() {
	p.watching = false
	now := p.engine.Now()
	for _, pe := range p.peers {
		if pe.state == peerKnown && pe.alternatives() {
			pe.watch(now)
		}
	}
}

// dueSince tells since when each rail has had something under way that is to be answered.
func (pe *peer) dueSince() map[*rail]int64 {
	oldest := make(map[*rail]int64)
	note := func(r *rail, given int64) {
		if at, found := oldest[r]; r != nil && (!found || given < at) {
			oldest[r] = given
		}
	}
	pe.eachSent(func(f *txFrame) { note(f.rail, f.given) })
	if g := &pe.goodbye; g.said && !g.answered {
		note(g.over, g.at)
	}
	if pe.waits() {
		for _, r := range pe.rails {
			if r.up && r.busy {
				note(r, r.refusedAt) // it is to take more
			}
			for f := r.newest; f != nil; f = f.older {
				note(r, f.given) // and to give back what it has, before it gets more
			}
		}
	}
	return oldest
}

func (pe *peer) watch(now int64) {
	p, oldest := pe.pml, pe.dueSince()
	for _, r := range pe.rails {
		if !r.up {
			continue
		}
		if r.trial.on {
			r.watchTrial(now)
			continue
		}
		since, waits := oldest[r]
		if signs := r.signs(); signs != r.vital.mark || !waits {
			r.vital.mark, r.vital.alive = signs, now
		}
		creeps := r.lookAtPace(now, oldest)
		if !waits {
			r.doubt(false)
			continue
		}
		r.expect()
		switch silent := time.Duration(now - max(r.vital.alive, since)); {
		case silent >= p.tune.railTimeout && pe.hasOther(r):
			r.breakOff(fmt.Errorf("%s: no sign of life for %v (pml_rail_timeout)", r.endpoint.Desc(), silent.Round(time.Millisecond)))
			pe.tellBroken(r)
		case creeps && r.pace.hopeless():
			r.breakOff(fmt.Errorf("%s: it carries next to nothing while others do, for %v", r.endpoint.Desc(), time.Duration(now-since).Round(time.Millisecond)))
			pe.tellBroken(r)
		case silent >= p.tune.railTimeout/2 || creeps:
			pe.connectAll()
			r.doubt(true)
			if !r.busy {
				r.ask()
			}
		default:
			r.doubt(false)
		}
	}
}

// doubt has the others go before a rail that is silent, or trusts it again. What goes
// over it meanwhile may have to wait for the rail's end.
func (r *rail) doubt(doubted bool) {
	if r.vital.doubted != doubted {
		r.vital.doubted = doubted
		r.peer.choosePoller()
	}
}

// trustSome has rails serve that are in doubt, where no other does; and those on trial where
// not even these do.
func (pe *peer) trustSome() {
	for _, trust := range []func(*rail){
		func(r *rail) { r.vital.doubted = false },
		func(r *rail) { r.trial.on = false },
	} {
		if slices.ContainsFunc(pe.rails, (*rail).serves) {
			return
		}
		for _, r := range pe.rails {
			trust(r)
		}
	}
}

// alternatives reports whether the peer may be reached by more than one way.
func (pe *peer) alternatives() bool { return len(pe.rails) > 1 || pe.hasDetour() }

// hasDetour reports whether something stands by that does not go over the very
// interfaces that the rails use.
func (pe *peer) hasDetour() bool { return slices.ContainsFunc(pe.standby, (*rail).avoids) }

// avoids reports whether the rail may work where one of a higher tier is silent.
func (r *rail) avoids() bool { return r.path.Spare != btl.Parallel }

// hasOther reports whether another rail is connected, or would be if this one were
// not there.
func (pe *peer) hasOther(r *rail) bool {
	return pe.hasDetour() || slices.ContainsFunc(pe.rails, func(other *rail) bool {
		return other != r && (other.up || other.tier() < r.tier() && other.avoids())
	})
}

// breakOff gives a silent rail up.
func (r *rail) breakOff(err error) {
	r.pml.host.Logf(btl.LogInfo, "rank %d: giving up a connection to rank %d: %v", r.pml.rank, r.peer.rank, err)
	r.abort()
	r.Down(err)
}

// ask has the peer give a sign of life over this rail.
func (r *rail) ask() {
	f := r.pml.newFrame(r.peer)
	f.build(&header{kind: frameAck, flags: flagAckNow})
	if !r.transmit(f) {
		r.pml.freeFrame(f)
	}
}

// answer gives a sign of life over this rail, which was asked for.
func (r *rail) answer() {
	if r.busy || !r.up {
		r.peer.acknowledgeSoon()
		return
	}
	r.peer.ackDue = true // should the rail be busy now: the peer may take silence for our end
	r.peer.sendAck(r)
}
