package pml

import (
	"time"

	"github.com/strandmp/strand/pml/match"
)

// A path that looks well may lead nowhere: a network that is not joined, a firewall,
// a way back that does not exist. While no rail to a peer is connected they are
// tried one after the other, but without waiting for the one before to fail, which
// takes a system many seconds. The first to be connected carries the messages; the
// others go on trying beside it.

const (
	// nextRail is how long a rail may take to connect before the next one is tried
	// too: the Connection Attempt Delay of RFC 8305, section 8.
	nextRail = 250 * time.Millisecond
	// firstContact is how long a receive waits for the first connection of the peer
	// that it names before this side makes one: it may be that only this side can.
	firstContact = time.Second
)

// connect sees to it that the peer gets rails and that one of them connects.
func (pe *peer) connect() {
	switch {
	case pe.state == peerNew:
		pe.state = peerResolving
		pe.pml.resolve(pe)
	case pe.state == peerKnown && !pe.up():
		pe.callLater()
		for _, r := range pe.rails {
			if r.recovery.wait != nil || r.opens() && r.reopen() {
				pe.widen()
				return
			}
		}
	}
}

// widen has one rail after the other connect, until one is connected.
func (pe *peer) widen() {
	if pe.widening || len(pe.rails)+len(pe.standby) < 2 {
		return
	}
	pe.widening = true
	pe.pml.engine.After(nextRail, func() {
		pe.widening = false
		if pe.state != peerKnown || pe.up() || pe.needless() {
			return
		}
		for _, r := range pe.rails {
			if c := &r.recovery; !c.trying && r.opens() && c.wait == nil && r.reopen() {
				pe.widen()
				return
			}
		}
		if pe.callIn() {
			pe.reopenAny(pe.rails[len(pe.rails)-1])
		}
	})
}

// needless reports whether this process leaves and has nothing more to say to the
// peer.
func (pe *peer) needless() bool { return pe.pml.closing && pe.drained() && pe.parted() }

// seek connects to a peer that a receive or a probe waits for, if it does not by
// itself.
func (pe *peer) seek() {
	if pe.state != peerNew || pe.sought || pe.self() {
		return
	}
	pe.sought = true
	pe.pml.engine.After(firstContact, func() {
		pe.sought = false
		if pe.state == peerNew && !pe.pml.closing {
			pe.connect()
		}
	})
}

// prospect says why a receive that found no message can never find one, and else
// sees to it that one can come. In a group of two a receive from any source is as good
// as one that names the other.
func (c *Context) prospect(source int32) error {
	if source == match.Any {
		if c.group.Size() == 2 && !c.sought {
			c.sought = true
			c.pml.peerOf(c.group.World(1 - c.group.Rank(c.pml.rank))).seek()
		}
		return c.named(c.unacknowledged)
	}
	pe := c.pml.peerOf(int(source))
	if pe.state == peerNew {
		pe.seek()
	}
	return c.named(pe.failure)
}

// connectAll has the other rails connect too, for a long message.
func (pe *peer) connectAll() {
	for _, r := range pe.rails {
		pe.connectToo(r)
	}
}

// connectToo has a rail connect that was not used so far.
func (pe *peer) connectToo(r *rail) {
	if !r.up && !r.recovery.down && !r.recovery.trying && !r.rests() {
		r.recovery.trying = true
		pe.sendAck(r)
	}
}
