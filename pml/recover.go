package pml

import (
	"errors"
	"time"

	"github.com/strandmp/strand/btl"
)

// A rail that breaks takes nothing with it: what it had not delivered for certain
// goes over another rail, or over the same one once it is connected again. The
// receiver knows frames by their numbers and drops what comes twice
// (docs/ARCHITECTURE.md, Delivery; LA-MPI's end-to-end retransmission).

// recovery is how far bringing a rail back has come.
type recovery struct {
	peer      btl.Peer // what the module needs to connect again
	foreign   bool     // only the peer knows how to connect it
	trying    bool     // it was asked to connect and has neither done so nor failed
	connected bool     // since the last Down
	down      bool     // the endpoint is broken
	failed    bool     // another attempt would only fail again
	futile    int      // connections, or attempts, in a row in which nothing got through
	moved     uint32   // what had got through when it was connected
	cause     error    // of the last break
	wait      btl.Timer
	pause     time.Duration
}

const (
	// firstPause and lastPause bound the time between attempts to bring back a rail
	// while others carry on.
	firstPause = 250 * time.Millisecond
	lastPause  = 2 * time.Second
	// quickReconnects is how many connections in a row may break, or fail to be made,
	// while nothing gets through, before the next one has to wait: 10 ms, then twice as
	// long each time, at most a second.
	quickReconnects = 4
)

// Down implements [btl.Receiver].
func (r *rail) Down(err error) {
	pe := r.peer
	r.up, r.busy, r.vital.doubted = false, true, false
	r.trial.broken()
	if r.recovery.connected {
		pe.conduct.breaks++
		r.trial.lost = max(r.trial.lost, leastProbe) // the other side may have lost something
	}
	r.recovery.broken(err, pe.moved(), pe.met)
	pe.choosePoller()
	if pe.heard == r {
		pe.heard = nil
	}
	r.letGoAll()
	r.share = share{}
	switch {
	case pe.state == peerClosed:
		if !pe.up() {
			pe.abandonSends()
			pe.breakOff()
		}
		return
	case pe.state != peerKnown:
		return
	}
	pe.goodbye.said = false // it may be lost
	if r.pml.parting() && errors.Is(err, btl.ErrPeerClosed) {
		pe.goodbye.answered = true // its answer may be lost on another rail, and it has left
	}
	pe.replay(r)
	if r.attr.Local {
		r.recovery.failed = true // it can not break while both ends live
	}
	if _, is := errors.AsType[*protocolError](err); is {
		pe.conduct.nonsense = err
	}
	pe.noteAbsence()
	if pe.judge() {
		return
	}
	if pe.up() {
		r.retryLater()
		pe.sayGoodbye()
		pe.pump()
		return
	}
	pe.reconnect(r)
}

// broken notes the end of a connection, or of an attempt to make one. An attempt
// to reach a peer that was reached before may fail for reasons that pass; such a
// peer has failed when judge says so.
func (c *recovery) broken(err error, moved uint32, met bool) {
	switch {
	case final(err) || !c.connected && !met:
		c.failed = true
	case c.connected && moved != c.moved:
		c.futile = 0
	default:
		c.futile++
	}
	c.connected, c.trying, c.down, c.cause = false, false, true, err
}

// replay has the frames that were given to a rail, and are not acknowledged, go
// again.
func (pe *peer) replay(r *rail) {
	pe.eachSent(func(f *txFrame) {
		if f.rail == r {
			r.trial.loses(f)
			f.rail, f.queued = nil, true
			pe.again.push(f)
			pe.pml.stats.Replayed++
		}
	})
}

// sendAgain sends the first frame that has lost its rail, and reports whether it
// is worth going on.
func (pe *peer) sendAgain() bool {
	f := pe.again.head
	r := pe.freeRail()
	switch {
	case f.delivered(): // meanwhile
	case r == nil:
		return false
	case r.takes(f):
		if !r.transmit(f) {
			return false
		}
	default:
		pe.again.pop()
		f.queued = false
		pe.cut(f, r.attr.MaxFrame)
		return true
	}
	pe.again.pop()
	f.queued = false
	f.settle()
	return true
}

// reconnect brings a peer back that no rail leads to any more: over the one that
// broke last, then over each other.
func (pe *peer) reconnect(last *rail) {
	p := pe.pml
	if pe.needless() {
		p.checkClosing()
		return
	}
	if rest := last.recovery.rest(); rest > 0 && last.recovery.wait == nil {
		last.recovery.wait = p.engine.After(rest, func() {
			last.recovery.wait = nil
			switch {
			case pe.state != peerKnown:
			case pe.up():
				last.retryLater() // another one has come back meanwhile, and left this one to its pause
			default:
				pe.reopenAny(last)
			}
		})
		return
	}
	pe.reopenAny(last)
}

// rest is how long to wait before connecting again.
func (c *recovery) rest() time.Duration {
	if c.failed || c.futile < quickReconnects {
		return 0
	}
	return min(10*time.Millisecond<<min(c.futile-quickReconnects, 10), time.Second)
}

func (c *recovery) stopWaiting() {
	if c.wait != nil {
		c.wait.Stop()
		c.wait = nil
	}
}

func (pe *peer) reopenAny(last *rail) {
	for _, r := range append([]*rail{last}, pe.rails...) {
		if r.opens() && r.reopen() {
			pe.widen()
			return
		}
	}
	if pe.callIn() {
		pe.reopenAny(pe.rails[len(pe.rails)-1])
		return
	}
	if pe.met {
		if !pe.judge() {
			pe.retrySome()
		}
		return
	}
	pe.lastResort(pe.untaught)
}

// retrySome has a rail that this side could not open be tried again after a while.
func (pe *peer) retrySome() {
	for _, r := range pe.rails {
		if r.opens() {
			r.recovery.futile = max(r.recovery.futile, quickReconnects)
			pe.reconnect(r)
			return
		}
	}
}

// opens reports whether this side can open the rail, as far as is known.
func (r *rail) opens() bool { return !r.recovery.failed && !r.recovery.foreign }

// causes is why none of the rails leads to the peer.
func (pe *peer) causes() error {
	var errs []error
	for _, r := range pe.rails {
		if r.recovery.cause != nil {
			errs = append(errs, r.recovery.cause)
		}
	}
	return errors.Join(errs...)
}

// reopen makes a new endpoint, if the old one is broken, and has it connect. It
// reports whether there is hope.
func (r *rail) reopen() bool {
	pe := r.peer
	r.recovery.stopWaiting()
	if r.up {
		return true
	}
	if r.recovery.down {
		_ = r.endpoint.Close()
		ep, err := r.module.Connect(r.recovery.peer, r.path, r)
		if err != nil {
			r.recovery.broken(err, pe.moved(), pe.met)
			return false
		}
		r.setEndpoint(ep)
		r.recovery.down = false
	}
	// An endpoint connects when it is given a frame; it will not take this one
	// before it is connected, and it does not matter whether it ever does.
	r.recovery.trying = true
	pe.sendAck(r)
	return true
}

// retryLater brings a rail back while others carry on.
func (r *rail) retryLater() {
	c := &r.recovery
	if c.wait != nil || c.foreign || r.attr.Local || r.peer.needless() || r.rests() {
		return
	}
	c.pause = min(max(2*c.pause, firstPause), lastPause)
	c.wait = r.pml.engine.After(c.pause, func() {
		c.wait = nil
		if r.peer.state == peerKnown && !r.peer.needless() && !r.rests() && !r.reopen() {
			r.retryLater()
		}
	})
}

// recovered notes that a rail is connected.
func (r *rail) recovered() {
	c := &r.recovery
	c.stopWaiting()
	if c.cause != nil {
		r.ask() // so that something is heard
	}
	c.connected, c.trying, c.down, c.pause, c.moved = true, false, false, 0, r.peer.moved()
	for _, other := range r.peer.rails {
		other.recovery.failed = false
		if other.recovery.down {
			other.retryLater() // its last attempt may have failed before this one
		}
	}
	r.peer.ending, r.peer.conduct.away = false, 0
	r.vital.since = r.pml.engine.Now()
	r.vital.alive, r.vital.doubted = r.vital.since, false
	r.pace = pace{at: r.vital.since, fresh: r.vital.since, carried: r.carried(), heard: r.vital.heard, acked: r.pace.acked, doubts: r.pace.doubts, doubted: r.pace.doubted}
}

// giveUp ends the rails to a peer that has failed.
func (pe *peer) giveUp() {
	for _, r := range pe.rails {
		r.shut(r.abort)
	}
	pe.choosePoller()
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

// readopt takes an endpoint that the peer has connected in the place of one that
// is broken.
func (r *rail) readopt(ep btl.Endpoint) {
	_ = r.endpoint.Close()
	r.setEndpoint(ep)
	r.recovery.down, r.busy = false, true
}

// railFor returns the rail of a module's path, or nil. Where a path has several
// (both sides have connected at once, and the transport kept both) one that is
// broken is preferred.
func (pe *peer) railFor(m btl.Module, path int) *rail {
	var found *rail
	for _, r := range pe.rails {
		if r.module == m && r.path.Index == path && (found == nil || r.recovery.down) {
			found = r
		}
	}
	return found
}
