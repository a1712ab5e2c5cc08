package pml

import (
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
)

// seek has us connect to a peer that a receive or a probe waits for, if the peer does not
// connect to us.
func (pe *peer) seek() {
	if pe.ways.Stage == rails.New && !pe.self() {
		pe.ways.Seek(pe.env())
		pe.proceed()
	}
}

// prospect says why a receive that found no message can never find one. If one can still
// come, prospect seeks contact with its sender. In a group of two a receive from any
// source names the other member.
func (c *Context) prospect(source int32) error {
	if source == match.Any {
		if c.group.Size() == 2 && !c.sought {
			c.sought = true
			c.pml.peerOf(c.group.World(1 - c.group.Rank(c.pml.rank))).seek()
		}
		return c.named(c.unacknowledged)
	}
	pe := c.pml.peerOf(int(source))
	if pe.ways.Stage == rails.Known && pe.failure == nil {
		return nil
	}
	pe.seek()
	return c.named(pe.failure)
}
