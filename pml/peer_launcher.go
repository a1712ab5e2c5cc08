package pml

import (
	"errors"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// PeerFailed notes that a process of the world has failed, as the launcher says,
// and why. Operations that depend on it end with a [PeerFailedError] as soon as
// what it has sent before is read, within a fraction of a second. Any goroutine may
// call it. It is wrong, and harmless, of one that has closed its world in order.
func (p *PML) PeerFailed(rank int, host string, cause error) {
	p.heed(rank, func(pe *peer) { pe.doom(host, cause) })
}

// PeerLeft notes that a process of the world has closed its world in order, as the launcher says of one
// that was asked to connect to this one. Operations that depend on it end with [ErrPeerClosed], as if it had
// said goodbye. Any goroutine may call it.
func (p *PML) PeerLeft(rank int, host string) {
	p.heed(rank, func(pe *peer) { pe.leave(host) })
}

// heed takes in what the launcher says of another process.
func (p *PML) heed(rank int, what func(*peer)) {
	if rank < 0 || rank >= p.job.Size() || rank == p.rank {
		return
	}
	p.engine.Post(func() { what(p.peerOf(rank)) })
}

// doom is PeerFailed, under the engine's lock.
func (pe *peer) doom(host string, cause error) {
	pe.foundOn(host)
	pe.ends(&PeerFailedError{Rank: pe.rank, Host: pe.host, Cause: cause})
}

// leave is PeerLeft, under the engine's lock.
func (pe *peer) leave(host string) {
	pe.foundOn(host)
	pe.ends(&peerClosedError{rank: pe.rank, host: pe.host})
}

// foundOn notes where the peer runs, if that is not known.
func (pe *peer) foundOn(host string) {
	if pe.host == "" {
		pe.host = host
	}
}

// ends takes the launcher's word for the end of the peer. It may overtake what the peer has sent before.
func (pe *peer) ends(how error) {
	if pe.why.doomed != nil || pe.failure != nil {
		return
	}
	p := pe.pml
	p.host.Logf(btl.LogInfo, "rank %d: the launcher says: %v", p.rank, how)
	pe.why.doomed = how
	pe.ways.Doom(pe.env())
	pe.proceed()
}

// doomed ends the peer as the launcher has said.
func (pe *peer) doomed() {
	stage := rails.Failed
	if _, left := errors.AsType[*peerClosedError](pe.why.doomed); left {
		stage = rails.Closed
	}
	pe.fail(stage, pe.why.doomed)
}

// unreachable reports whether no connection to the peer is of use any more: it has failed, or its process
// has ended, as the launcher says.
func (pe *peer) unreachable() bool { return pe.ways.Stage == rails.Failed || pe.why.doomed != nil }
