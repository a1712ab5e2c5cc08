package pml

import "github.com/strandmp/strand/btl"

// PeerFailed notes that a process of the world has failed, as the launcher says,
// and why. Operations that depend on it end with a [PeerFailedError] as soon as
// what it has sent before is read, within a fraction of a second. Any goroutine may
// call it. It is wrong, and harmless, of one that has closed its world in order.
func (p *PML) PeerFailed(rank int, host string, cause error) {
	if rank < 0 || rank >= p.job.Size() || rank == p.rank {
		return
	}
	p.engine.Post(func() { p.peerOf(rank).doom(host, cause) })
}

// doom is PeerFailed, under the engine's lock. The word of the launcher may overtake what
// the peer has sent before it failed.
func (pe *peer) doom(host string, cause error) {
	if pe.why.doomed != nil || pe.failure != nil {
		return
	}
	if pe.host == "" {
		pe.host = host
	}
	p := pe.pml
	p.host.Logf(btl.LogInfo, "rank %d: rank %d has failed: %v", p.rank, pe.rank, cause)
	pe.why.doomed = &PeerFailedError{Rank: pe.rank, Host: pe.host, Cause: cause}
	pe.ways.Doom(pe.env())
	pe.proceed()
}
