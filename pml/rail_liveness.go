package pml

import (
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// liveness is what tells a rail that lives from one that is silent. Signs of life are
// frames that arrive over it, acknowledgements of frames that went over it, and bytes that
// the peer's system confirms. Where the transport can not tell of confirmed bytes, frames
// that it releases are one too.
type liveness struct {
	heard     uint64 // frames
	confirmed int64  // the most bytes given to the transport, less what is under way, that was seen
	flow      uint64 // as of the last beat
}

// hear notes that a frame has arrived.
func (r *rail) hear() {
	r.liveness.heard++
	r.peer.heard = r
	if r.way.Aside {
		r.peer.express.beat = r.pml.beats.count
		return
	}
	r.peer.beat = r.pml.beats.count
}

// expect has the rail watched once a frame went over it, if there is another to
// go to.
func (r *rail) expect() {
	if p := r.pml; !p.watching && r.watched() {
		p.watching = true
		p.engine.After(p.tune.railTimeout/4, p.watch)
	}
}

// watched reports whether the rail is given up when it is silent: there is another one.
func (r *rail) watched() bool { return r.way.Aside || r.peer.ways.Alternatives() }

// signs sums up the signs of life.
func (r *rail) signs() uint64 {
	n := r.liveness.heard + r.line.Acknowledged()
	if r.gauge != nil {
		if under := r.gauge.Outstanding(); under >= 0 {
			// What is under way has the transport's own headers too: a frame more
			// makes this less, and only what is confirmed makes it more.
			r.liveness.confirmed = max(r.liveness.confirmed, r.line.Given()-int64(under))
			return n + uint64(r.liveness.confirmed)
		}
	}
	n += r.line.Released()
	for f := r.line.Newest(); f != nil; f = f.Older() {
		n += uint64(f.Progress)
	}
	return n
}

// carried is how many bytes have gone through, as far as can be known.
func (r *rail) carried() int64 {
	if r.gauge != nil && r.liveness.confirmed > 0 {
		return r.liveness.confirmed
	}
	return r.line.Delivered()
}

// sample tells package rails how the rail fares. Oldest is when its oldest frame under way
// was given to it.
func (r *rail) sample(oldest int64, waits bool) {
	r.way.Sample(rails.Sample{
		Signs: r.signs(), Heard: r.liveness.heard, Carried: r.carried(), Rate: r.share.rate(), Oldest: oldest, Load: r.share.load(), Waits: waits,
		RoundTrip: r.roundTrip(oldest, waits),
	})
}

// roundTrip is that of the rail's path, as far as its transport tells; 0 if that is not known. The transport is asked only
// where a sign of life is slow to come.
func (r *rail) roundTrip(oldest int64, waits bool) time.Duration {
	p := r.pml
	slow := waits && p.engine.Now()-oldest >= int64(p.tune.railTimeout)/4
	if !slow && r.way.State != rails.Trial {
		return 0
	}
	if c := r.report().Congestion; c != nil {
		return c.RoundTrip
	}
	return 0
}

// watch looks for rails that are silent, or creep, although something is expected of them.
func (p *PML) watch() {
	p.catchUp() // the timer may run before the next poll of everything
	p.watching = false
	for _, pe := range p.peers {
		if pe.ways.Stage == rails.Known && (pe.ways.Alternatives() || pe.express.rail != nil) {
			pe.watch()
		}
	}
}

// dueSince tells since when each rail has had something under way that is to be answered; 0 if that was not noted, as where
// there is one rail and others stand by.
func (pe *peer) dueSince() map[*delivery.Line]int64 {
	oldest := make(map[*delivery.Line]int64)
	note := func(l *delivery.Line, given int64) {
		if at, found := oldest[l]; l != nil && (!found || given < at) {
			oldest[l] = given
		}
	}
	pe.sent.Each(func(f *delivery.Frame) { note(f.Line, f.Given) })
	if g := &pe.goodbye; g.said && !g.answered {
		note(&g.over.line, g.at)
	}
	for r := range pe.everyRail {
		waits := pe.waits() || r.way.State == rails.Doubted // what has waited goes another way by now
		if waits && r.up() && r.busy {
			note(&r.line, r.refusedAt) // it is to take more
		}
		for f := r.line.Newest(); f != nil; f = f.Older() {
			if waits || frameOf(f.Whole()).op != nil {
				note(&r.line, f.Given) // and to give back what it has, before it gets more, or an operation ends
			}
		}
	}
	return oldest
}

func (pe *peer) watch() {
	oldest := pe.dueSince()
	for r := range pe.everyRail {
		if r.up() {
			since, waits := oldest[&r.line]
			r.sample(since, waits)
		}
	}
	others := false
	for r := range pe.everyRail {
		if !r.watched() {
			continue
		}
		before := pe.states()
		f := pe.ways.Look(&r.way, pe.env())
		if !slices.Equal(before, pe.states()) { // of any: where all are in doubt none is
			pe.choosePoller()
			pe.pump()
		}
		if f.Watch {
			r.expect()
		}
		if f.Others {
			pe.connectAll()
			others = true
		}
		if f.AskAll {
			pe.askAll()
		}
		if f.Fault != rails.NoFault {
			r.breakOff(r.faulty(f))
			pe.tellBroken(r)
		} else if f.Ask && !r.busy {
			r.ask()
		}
	}
	if others {
		pe.proceed()
	}
}

// states are what the rails are good for.
func (pe *peer) states() (all []rails.State) {
	for r := range pe.everyRail {
		all = append(all, r.way.State)
	}
	return all
}

// faulty says what a look at the rail has found.
func (r *rail) faulty(f rails.Finding) error {
	name, lasted := r.endpoint.Desc(), f.For.Round(time.Millisecond)
	switch f.Fault {
	case rails.Silent:
		return fmt.Errorf("%s: no sign of life for %v (pml_rail_timeout)", name, lasted)
	case rails.Creeping:
		return fmt.Errorf("%s: it carries next to nothing while others do, for %v", name, lasted)
	default:
		return fmt.Errorf("%s: probes of %d bytes were not answered in %v", name, r.way.ProbeSize(), lasted)
	}
}

// askAll has the peer give a sign of life, and tell what has arrived, over each rail.
func (pe *peer) askAll() {
	for _, r := range pe.rails {
		if r.up() && !r.busy && r.way.State != rails.Trial {
			r.ask()
		}
	}
}

// ask has the peer give a sign of life over this rail.
func (r *rail) ask() {
	f := r.pml.newFrame(r.peer)
	f.build(&wire.Header{Kind: wire.Ack, Flags: wire.FlagAckNow})
	if !r.transmit(f) {
		r.pml.freeFrame(f)
	}
}

// answer gives a sign of life over this rail, which was asked for.
func (r *rail) answer() {
	if r.busy || !r.trusted() {
		r.peer.acknowledgeSoon() // over another one, which does not lose it
	}
	if r.busy || !r.up() {
		return
	}
	r.peer.received.Owe() // should the rail be busy now: the peer may take silence for our end
	r.peer.sendAck(r)
}
