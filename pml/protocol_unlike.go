package pml

import (
	"fmt"

	"github.com/strandmp/strand/internal/layout"
	"github.com/strandmp/strand/internal/representation"
)

// Machines of different kinds have values in memory in different ways. What is sent are the bytes as they lie, whatever they are of. A receive
// says what its values depend on, and ends with an error if its sender differs from this process in that. A sender has told so in its
// hello, before any message of its comes.

// As is how a piece of memory is a message. The zero value: all of it, as bytes.
type As struct {
	Layout *layout.Layout        // what of the memory; nil: all
	Needs  representation.Traits // what the values there depend on
}

// refuseUnlike gives a receive that has matched its error if the sender has such values otherwise. A message that is too long may be so for that reason.
// One that has no values has none otherwise.
func (op *operation) refuseUnlike(from *peer) {
	if op.needs&from.differs != 0 && op.total > 0 {
		op.err = op.context.unlike(from)
	}
}

// unlike is the error of a receive of values that the sender has otherwise.
func (c *Context) unlike(from *peer) error {
	p := from.pml
	return fmt.Errorf("%w: rank %d%s%s is %v, and this process, rank %d, is %v: send bytes in an order that the program chooses, or run all ranks on machines of one kind",
		ErrRepresentation, from.rank, onHost(from.host), inGroup(from.rank, memberOf(c.group, from.rank)), p.traits^from.differs, p.rank, p.traits)
}
