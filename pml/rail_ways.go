package pml

import (
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// Package rails decides which way leads to a peer, which is tried next and when the peer
// has failed. This file does what it decides.

// env is what there is beside a peer that the decisions depend on.
func (pe *peer) env() rails.Env {
	p := pe.pml
	return rails.Env{
		Now: max(p.engine.Now(), 1), Moved: pe.moved(), RailTimeout: p.tune.railTimeout, PeerTimeout: p.tune.peerTimeout,
		Appeals: p.appeal != nil, Leaving: p.closing, Parting: p.parting(), Needless: pe.needless(), Slow: p.crowd.slow(),
	}
}

// needless reports whether this process leaves and has nothing more to say to the
// peer.
func (pe *peer) needless() bool { return pe.pml.closing && pe.drained() && pe.parted() }

// proceed does what is to be done about the peer now, and has itself called again when
// there is more.
func (pe *peer) proceed() {
	for {
		switch s := pe.ways.Next(pe.env()); s.Do {
		case rails.Wait:
			pe.wakeAt(s.At)
			return
		case rails.Resolve:
			pe.pml.resolve(pe)
		case rails.Connect:
			s.Rail.Owner.(*rail).connect(s.Anew)
		case rails.Activate:
			for _, r := range s.Rails {
				r.Owner.(*rail).activate()
			}
		case rails.Appeal:
			pe.appeal()
		case rails.Fail:
			pe.failFor(s.Reason)
		}
	}
}

// wakeAt has proceed called at a time; 0: not.
func (pe *peer) wakeAt(at int64) {
	if at == pe.wakes {
		return
	}
	if pe.waker != nil {
		pe.waker.Stop()
		pe.waker = nil
	}
	if pe.wakes = at; at == 0 {
		return
	}
	e := pe.pml.engine
	pe.waker = e.After(time.Duration(at-e.Now()), func() {
		pe.waker, pe.wakes = nil, 0
		pe.proceed()
	})
}

// connect sees to it that the peer gets rails and that one of them connects.
func (pe *peer) connect() {
	if !pe.up() {
		pe.ways.Want(pe.env())
		pe.proceed()
	}
}

// connect has a rail connect, over a new endpoint where its own is broken.
func (r *rail) connect(anew bool) {
	pe := r.peer
	if anew {
		_ = r.endpoint.Close()
		ep, err := r.module.Connect(r.address, r.path, r)
		if err != nil {
			pe.ways.Down(&r.way, err, pe.env())
			return
		}
		r.setEndpoint(ep)
	}
	// An endpoint connects when it is given a frame. It takes no frame before it is connected,
	// so this one is for the sake of connecting alone.
	pe.sendAck(r)
}

// connectAll has the other rails connect too: there is enough to do for all.
func (pe *peer) connectAll() {
	pe.narrow = false
	for _, r := range pe.rails {
		pe.connectToo(r)
	}
}

// connectToo has a rail connect that was not used so far.
func (pe *peer) connectToo(r *rail) {
	if r.way.State == rails.Idle && pe.ways.Open(&r.way, pe.env()) {
		r.connect(false)
	}
}

// serves reports whether the rail carries messages.
func (r *rail) serves() bool { return r.way.State == rails.Up }

// trusted reports whether what goes over the rail may be relied on to arrive, or to be missed:
// it is neither in doubt nor on trial.
func (r *rail) trusted() bool { return r.serves() || r.way.State == rails.Resting }

// up reports whether the rail is connected.
func (r *rail) up() bool { return r.way.State.Connected() }

// broken reports whether the rail's endpoint is.
func (r *rail) broken() bool { return r.way.State == rails.Down || r.way.State == rails.Gone }

// adopt takes an endpoint that the peer has connected, or is about to.
func (r *rail) adopt(ep btl.Endpoint) {
	r.setEndpoint(ep)
	r.busy = true
	r.peer.ways.Adopt(&r.way, r.peer.env())
}

// abort closes the endpoint without sending what it holds. It makes no up-call any
// more, so what was arriving over it breaks off here.
func (r *rail) abort() {
	if a, ok := r.endpoint.(btl.Aborter); ok {
		a.Abort()
	} else {
		_ = r.endpoint.Close()
	}
	r.dropBegun()
}

// breakOff gives up a rail that is connected.
func (r *rail) breakOff(err error) {
	r.pml.host.Logf(btl.LogInfo, "rank %d: giving up a connection to rank %d: %v", r.pml.rank, r.peer.rank, err)
	r.abort()
	r.Down(err)
}

// shut ends the rail for good, by closing its endpoint.
func (r *rail) shut(closeIt func()) {
	if !r.broken() {
		closeIt()
		r.busy = true
	}
	r.peer.ways.Shut(&r.way)
	r.letGoAll()
}

// giveUp ends the rails to a peer that has failed.
func (pe *peer) giveUp() {
	for r := range pe.everyRail {
		r.shut(r.abort)
	}
	pe.choosePoller()
}
