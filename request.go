package strand

import (
	"context"

	"github.com/strandmp/strand/pml"
)

// A Status describes a message that was received or probed.
type Status struct {
	// Source is the sender's rank in the communicator.
	Source int
	// Tag is the message's tag.
	Tag int
	// Count is the number of bytes received. The status of a probe has the length of the
	// whole message.
	Count int
	// Cancelled is true if the receive was taken back by [Request.Cancel]. Source and Tag are
	// then AnySource and AnyTag, and there is no message (MPI_Test_cancelled).
	Cancelled bool
}

// A Request stands for a send or a receive that was started. It is a small value: copies
// stand for the same operation. The zero Request stands for none (MPI_REQUEST_NULL); a call
// that starts an operation never returns it without an error. It is always complete, and its
// status empty: Source and Tag are AnySource and AnyTag, and Count is 0 (MPI 4.1, section 3.7.3).
//
// Wait, or a Test that reports true, ends the request: the buffer is the caller's again.
// A request that has ended once ends with [ErrFinished] when it is waited for again. The one
// exception is an operation that was complete when it was started: its request may be waited
// for any number of times.
type Request struct {
	op pml.Request
}

// Wait blocks until the operation is complete, returns its outcome and ends the request.
// If ctx ends first, Wait returns the context's error. The operation then goes on, its
// buffer stays the library's, and the request may be waited for again.
func (r Request) Wait(ctx context.Context) (Status, error) {
	st, err := r.op.Wait(ctx)
	return Status(st), own(err)
}

// Test makes progress once and reports whether the operation is complete. If it is, Test
// returns the outcome and ends the request.
func (r Request) Test() (st Status, done bool, err error) {
	s, done, err := r.op.Test()
	return Status(s), done, own(err)
}

// Cancel takes a receive back that has not matched a message, and reports whether it could.
// The buffer is then the caller's, and the request is complete: it is waited for or tested
// as any other, and ends without an error and with Status.Cancelled (MPI 4.1, section
// 3.8.4). A send can not be cancelled; MPI deprecates it.
func (r Request) Cancel() bool { return r.op.Cancel() }

// An Outcome is how one of several requests has ended.
type Outcome struct {
	Index  int // the request's place among those that were given
	Status Status
	Err    error
}
