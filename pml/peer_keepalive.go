package pml

import (
	"fmt"
	"time"

	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
)

// beats are the times of the keep-alive. At each beat every peer that an operation depends
// on has to have given a sign of life. A peer that has not is asked for one.
type beats struct {
	count uint32
	every time.Duration
}

// patience is the timeout of the keep-alive where pml_peer_timeout is 0. Peers are asked
// for signs of life then too, but never fail for their silence.
const patience = 30 * time.Second

func (p *PML) startBeats() {
	timeout := p.tune.peerTimeout
	if timeout == 0 {
		timeout = patience
	}
	p.beats = beats{count: rails.BeatsInTimeout, every: max(timeout/rails.BeatsInTimeout, time.Millisecond)}
	p.engine.After(p.beats.every, p.beat)
}

func (p *PML) beat() {
	if p.over {
		return
	}
	p.engine.After(p.beats.every, p.beat)
	p.catchUp() // as in watch
	p.beats.count++
	p.markWanted()
	for _, pe := range p.peers {
		pe.checkPulse()
	}
}

// checkPulse has a sign of life expected of a peer that is wanted. One that waits for its turn to be met can give none.
func (pe *peer) checkPulse() {
	if pe.wanted == pe.pml.beats.count && !pe.self() && !pe.local && pe.failure == nil && !pe.awaitsTurn() {
		pe.takePulse()
	} else {
		pe.ways.Rest()
	}
}

// markWanted finds the peers that some operation depends on, or this process's leaving: one that has
// given us up meanwhile may have ended, and over some transports nobody tells.
func (p *PML) markWanted() {
	now := p.beats.count
	for _, pe := range p.peers {
		if !pe.sent.Empty() || p.parting() && !pe.parted() {
			pe.wanted = now
		}
	}
	p.eachOperation(func(op *operation) {
		switch {
		case op.peer != nil:
			op.peer.wanted = now
		case !op.isSend && op.recv.Posted():
			op.context.want(op.recv.Source)
		}
	})
	for _, a := range p.probing {
		a.context.want(a.source)
	}
}

// want marks the peers from which a receive, or a probe, of a source waits.
func (c *Context) want(source int32) {
	p := c.pml
	if c == p.notices.context && p.notices.awaited == 0 {
		return
	}
	if source != match.Any {
		p.peerOf(int(source)).wanted = p.beats.count
		return
	}
	for _, pe := range p.peers {
		if pe.ways.Stage == rails.Known && c.group.Rank(pe.rank) >= 0 {
			pe.wanted = p.beats.count
		}
	}
}

// takePulse looks for signs of life of one peer. What comes over the urgent connection says nothing of those that carry
// everything.
func (pe *peer) takePulse() {
	now := pe.pml.beats.count
	urgently := now-pe.express.beat <= 1
	heard := now-pe.beat <= 1 || pe.flows(urgently)
	refresh := pe.ways.Beat(heard, !pe.sent.Empty(), pe.env())
	if pe.proceed(); heard || pe.failure != nil {
		return
	}
	for r := range pe.everyRail {
		if urgently && r.way.Aside {
			continue
		}
		if refresh && r.up() {
			r.renew()
		}
		if r.up() && !r.busy {
			r.ask()
		}
	}
}

// flows reports whether bytes of a frame arrive, or of one that a sign of life would be asked for behind: over a slow way either may
// take longer than a peer may be silent. Where the peer is heard over the urgent connection, bytes that go through count over any
// rail that carries everything and could not be asked, or has that behind them.
func (pe *peer) flows(urgently bool) (flows bool) {
	for _, r := range pe.rails {
		before := r.liveness.flow
		r.liveness.flow = r.flow(urgently)
		flows = flows || r.liveness.flow != before
	}
	return flows
}

// askBehind is more than all that a silent peer is asked amounts to, in bytes: what is confirmed of that shows the peer's system, and not the peer.
const askBehind = 4 << 10

// flow changes with the bytes of a frame that is arriving, and with those that a rail gets rid of before it can ask.
func (r *rail) flow(urgently bool) (n uint64) {
	if urgently && r.busy || r.gauge != nil && r.gauge.Outstanding() >= askBehind {
		n = r.signs()
	}
	for _, in := range r.peer.begun {
		if in.rail == r {
			n -= uint64(in.landing.Left())
		}
	}
	return n
}

// renew replaces a connection that is silent by a new one. A middlebox may have
// forgotten a connection that was idle. It loses what goes over that one without a word.
func (r *rail) renew() {
	if !r.attr.Unbreakable && !r.way.Foreign {
		r.breakOff(fmt.Errorf("%s: no sign of life for half of pml_peer_timeout; a new connection is tried", r.endpoint.Desc()))
	}
}

// silence says how long nothing was heard, and why the last connection broke if it
// did.
func (pe *peer) silence() error {
	err := fmt.Errorf("no sign of life for %v (pml_peer_timeout)", pe.pml.tune.peerTimeout)
	for _, r := range pe.rails {
		switch {
		case r.up():
			err = fmt.Errorf("%w over %s", err, r.endpoint.Desc())
		case r.way.Cause != nil:
			err = fmt.Errorf("%w; an earlier connection: %w", err, r.way.Cause)
		}
	}
	return err
}
