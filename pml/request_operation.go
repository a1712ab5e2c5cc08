package pml

import (
	"math"
	"unsafe"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/layout"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/payload"
)

// A Mode is one of MPI's four ways to send (MPI 4.1, section 3.4).
type Mode uint8

const (
	Standard    Mode = iota
	Synchronous      // completes when the message has matched
	Buffered         // completes at once, from a copy
	Ready            // the receive is posted, the caller says
)

// Wildcards and limits.
const (
	AnySource = -1
	AnyTag    = -1
	// MaxTag is the largest tag.
	MaxTag = math.MaxInt32
)

// A Status describes a message that was received, or probed.
type Status struct {
	Source int // rank in the communicator
	Tag    int
	Count  int // bytes received; for a probe, bytes of the whole message
	// Cancelled: the receive was taken back, and there is no message (MPI's
	// MPI_Test_cancelled). Source and Tag are the wildcards then.
	Cancelled bool
}

// operation is a send or a receive under way, or what a [Completion] ends. Operations live
// in a slab, are used over and over, and are named on the wire by place and generation.
type operation struct {
	pml   *PML // these never change: a stale request may look at them at any time
	index uint32
	life
	sending // cleared after a send only: a receive does not even fetch it
}

// life is what an operation is from its start to its end.
type life struct {
	gen    uint32
	next   *operation // free list, or the peer's queue
	active bool
	done   bool
	isSend bool
	busy   bool // counted by the engine as something to move on
	orphan bool // nobody has its request: it ends with its completion
	vain   bool // nobody waits for it any more: it is a send that goes on by itself
	packs  bool // frames of a send need copies, since its memory is scattered
	other  bool // of a Completion

	context *Context
	peer    *peer // the destination; of a receive, the sender once it is known
	err     error
	status  Status
	then    func(*operation) // is called as it completes, whose outcome nobody else wants
	waiter  *engine.Waiter   // of the blocking call whose operation it is
	sets    []*waitSet       // that are to be told when it is over
	blocked int              // calls that wait for it

	buf  payload.Memory
	size uint64 // of it, in bytes

	lost   bool     // a frame that holds on to the buffer will never arrive
	lent   *txFrame // that may go again and has no copy yet
	frames int      // frames that hold on to the buffer

	// Of a receive.
	recv      match.Recv
	total     uint64                // bytes of the message
	got       uint64                // bytes that have landed, or would have, were there room
	booked    uint64                // bytes that have landed or are arriving
	first     bool                  // the first frame's payload is complete
	bound     bool                  // counted by the peer as one that has matched
	withdrawn bool                  // the message was given back, and its sender is to hear it
	needs     representation.Traits // what its values depend on
	in        *inbound              // the message, once it has matched
	late      []uint32              // frames of it that have arrived since

	// Of a Completion.
	abandoned func() // nobody waits for it any more
}

// sending is what a send has beside its life. Of a receive all of it is zero.
type sending struct {
	mode    Mode
	lane    uint16
	tag     int32
	seq     uint32
	laneSeq uint32
	offset  uint64 // bytes handed to frames
	accept  uint64 // bytes the receiver takes, once cleared
	remote  uint64 // the receiver's handle
	round   uint32 // how often the receiver has withdrawn what it had cleared
	rests   bool   // it is cleared anew, and waits for the frames of earlier rounds
	asked   bool   // a request to send went out
	cleared bool   // and was answered
	overdue bool   // its acknowledgement is among those that may be late
	owned   bool   // buf is from the pool: a buffered send
	wanted  bool   // its end is waited for or asked for: it is not to lend its buffer
}

// handle is the operation's name on the wire.
func (op *operation) handle() uint64 { return uint64(op.gen)<<32 | uint64(op.index) }

// complete ends the operation and wakes who waits for it.
func (op *operation) complete(err error) {
	if op.done {
		return
	}
	op.done = true
	if op.err == nil {
		op.err = err
	}
	op.err = op.context.named(op.err)
	if op.pml.trace != nil {
		op.traceDone()
	}
	op.setBusy(false)
	if op.owned {
		op.pml.releaseBuffered(op)
	}
	if op.isSend {
		op.peer.sends--
		if op.pml.closing {
			op.pml.checkClosing()
		}
	}
	op.unbind()
	if op.in != nil && op.in.whole {
		op.pml.freeInbound(op.in)
	}
	op.in, op.buf = nil, payload.Memory{}
	if op.waiter != nil {
		op.pml.engine.Wake(op.waiter)
	}
	for _, s := range op.sets {
		s.told(op.pml.engine)
	}
	if op.then != nil {
		op.then(op)
	}
	if op.orphan {
		op.pml.freeOperation(op)
	}
}

// unbind notes that a receive takes nothing more of its message.
func (op *operation) unbind() {
	if !op.bound {
		return
	}
	op.bound = false
	op.peer.taking--
	if op.pml.closing {
		op.pml.checkClosing()
	}
}

// give makes the program's memory the operation's.
func (op *operation) give(buf []byte, more [][]byte) {
	// Field by field: a struct that was made a moment ago is copied by loads that have to wait
	// for its stores.
	op.buf.First, op.buf.More = buf, more
	op.size = uint64(len(buf))
	for _, piece := range more {
		op.size += uint64(len(piece))
	}
}

// take is give, or makes what a layout picks of buf the operation's.
func (op *operation) take(buf []byte, more [][]byte, as *layout.Layout) {
	if as == nil {
		op.give(buf, more)
		return
	}
	op.buf.Base, op.buf.Layout = unsafe.Pointer(unsafe.SliceData(buf)), as
	op.size = uint64(as.Size())
	op.packs = op.isSend && op.buf.Packs()
}

// setBusy tells the engine that there is, or is no longer, something to move on
// while the program computes.
func (op *operation) setBusy(on bool) {
	if op.busy == on {
		return
	}
	op.busy = on
	if on {
		op.pml.engine.Busy(1)
	} else {
		op.pml.engine.Busy(-1)
	}
}

// arrived reports whether the peer is known to have all that it wants of a send. Only
// frames that a transport still holds keep it from being complete.
func (op *operation) arrived() bool {
	return op.frames > 0 && !op.lost && (!op.asked || op.cleared && op.offset >= op.accept)
}

// source returns the endpoint from which the operation's end is to be expected.
func (op *operation) source() btl.Poller {
	switch {
	case op.peer != nil:
		return op.pml.pollerOf(op.peer)
	case op.isSend:
		return op.pml.recent
	}
	return op.pml.expectedFrom(op.recv.Source)
}

// expectedFrom returns the endpoint over which a message of the source, a rank of the world or
// any, is expected to come.
func (p *PML) expectedFrom(source int32) btl.Poller {
	if source == match.Any {
		return p.recent
	}
	return p.pollerOf(p.met(int(source)))
}

// pollerOf returns the peer's endpoint, or the one that was heard last if it has none yet.
func (p *PML) pollerOf(pe *peer) btl.Poller {
	if pe == nil || pe.poller == nil {
		return p.recent
	}
	return pe.poller
}
