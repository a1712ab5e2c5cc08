package pml

import (
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
)

// seek connects to a peer that a receive or a probe waits for, if it does not by
// itself.
func (pe *peer) seek() {
	if pe.ways.Stage == rails.New && !pe.self() {
		pe.ways.Seek(pe.env())
		pe.proceed()
	}
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
	pe.seek()
	return c.named(pe.failure)
}
