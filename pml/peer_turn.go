package pml

import "github.com/strandmp/strand/pml/rails"

// Each side of a first contact needs a processor several times. Where ranks outnumber the processors and all of them meet
// all others at once, as in an all-to-all, everything is begun before anything is done: then no contact is made within the
// time that it has, attempts are given up and made again, and other connections are tried beside them. So
// contacts take turns there. A peer that connects to us by itself needs no turn.

// turns are those contacts that are being made, and the peers that wait for a turn.
type turns struct {
	most    int // 0: any number
	taken   int
	waiting []waitingPeer
}

// A waitingPeer has been looked up, and is to be met when it has its turn.
type waitingPeer struct {
	peer *peer
	meet func()
}

// turnRails is for how long a contact has its turn at the most, in times that the next rail waits for the one before. A
// peer that can not be reached does not hold up the others for longer.
const turnRails = 4

// inTurn calls meet when it is the peer's turn, which may be at once. It is for a peer that is being looked up. If
// the peer connects to us before, or fails, the call is not made.
func (p *PML) inTurn(pe *peer, meet func()) {
	t := &p.turns
	if t.most > 0 && t.taken >= t.most {
		t.waiting = append(t.waiting, waitingPeer{pe, meet})
		pe.inLine = true
		return
	}
	p.giveTurn(pe)
	meet()
}

// awaitsTurn reports whether nothing can be expected of the peer yet, since it waits for its turn to be met.
func (pe *peer) awaitsTurn() bool { return pe.inLine && pe.ways.Stage == rails.Resolving }

func (p *PML) giveTurn(pe *peer) {
	if p.turns.most == 0 {
		return
	}
	p.turns.taken++
	pe.turn = p.engine.After(p.crowd.slowly(turnRails*rails.NextRail), func() {
		pe.turn = nil
		p.turnOver()
	})
}

// endTurn notes that the contact is made, or has failed.
func (pe *peer) endTurn() {
	if pe.turn != nil {
		pe.turn.Stop()
		pe.turn = nil
		pe.pml.turnOver()
	}
}

// turnOver has the next peer met that still waits for it.
func (p *PML) turnOver() {
	t := &p.turns
	t.taken--
	for t.taken < t.most && len(t.waiting) > 0 {
		next := t.waiting[0]
		t.waiting = t.waiting[1:]
		next.peer.inLine = false
		if next.peer.ways.Stage == rails.Resolving {
			p.giveTurn(next.peer)
			p.engine.Post(next.meet) // the caller is in the middle of something else
		}
	}
}
