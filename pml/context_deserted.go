package pml

import (
	"errors"

	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
)

// Once every other member of the communicator has left, only the process itself could
// still send to it, from another goroutine. A process that has done so in this
// communicator may do so again, and its receives from any source wait on. So do those of a
// process that has said that it goes on without the others (AcknowledgeFailures). For any
// other process such a wait is a mistake, which would hang: it ends with an error.
//
// What nobody waits for stays posted: a message to itself may be the program's next step.

// desertedError says that nobody is left to send.
type desertedError struct{}

func (desertedError) Error() string {
	return "every other rank of the communicator has left: nobody is there to send, but for this process itself " +
		"(one that means to send to itself says so first, by AckFailed)"
}

func (desertedError) Unwrap() error { return ErrPeerClosed }

var errDeserted error = desertedError{}

// memberLeft notes that a process has closed its world, or has failed, if it is a
// member of the communicator.
func (c *Context) memberLeft(pe *peer) {
	if c.group == nil || c.group.Rank(pe.rank) < 0 || c == c.pml.notices.context {
		return
	}
	if pe.ways.Stage == rails.Failed && !pe.vanished() {
		c.unacknowledged = pe.failure
	}
	c.gone++
	if c.gone == c.group.Size()-1 && c.unacknowledged == nil && c.channels[c.pml.rank] == nil {
		c.unacknowledged = errDeserted
	}
}

// reachesItself notes that the process sends to itself in this communicator.
func (c *Context) reachesItself() {
	if errors.Is(c.unacknowledged, errDeserted) {
		c.unacknowledged = nil
	}
}

// fromAnybody reports whether a receive waits for a message from any source.
func (op *operation) fromAnybody() bool {
	return !op.isSend && op.recv.Posted() && op.recv.Source == match.Any
}

// block notes that a call waits for the operation. If no message can come, that ends the
// operation; a send's acknowledgement is not waited for for too long. Unblock takes it back.
func (op *operation) block() {
	op.blocked++
	if op.isSend {
		op.boundWait()
		return
	}
	if !op.fromAnybody() {
		return
	}
	if errors.Is(op.context.unacknowledged, errDeserted) {
		op.abandon(errDeserted)
		return
	}
	op.context.seekCompany()
}

func (op *operation) unblock() { op.blocked-- }

// doomed says why a receive from any source can not go on, or nil.
func (op *operation) doomed() error {
	err := op.context.unacknowledged
	if errors.Is(err, errDeserted) && op.blocked == 0 {
		return nil
	}
	return err
}
