package strand

import (
	"errors"

	"github.com/strandmp/strand/pml"
)

// Errors to look for with errors.Is.
var (
	// ErrClosed: the world was closed.
	ErrClosed = pml.ErrClosed
	// ErrFreed: the communicator was freed.
	ErrFreed = pml.ErrFreed
	// ErrRank: a rank is not one of the communicator's.
	ErrRank = pml.ErrRank
	// ErrTag: a tag is negative, or above MaxTag.
	ErrTag = pml.ErrTag
	// ErrTruncated: a message was longer than its receive's buffer; the error is
	// a *TruncateError.
	ErrTruncated = pml.ErrTruncated
	// ErrPeerFailed: a process can not be reached any more; the error is a
	// *PeerFailedError.
	ErrPeerFailed = pml.ErrPeerFailed
	// ErrPeerClosed: a process has closed its world in order.
	ErrPeerClosed = pml.ErrPeerClosed
	// ErrBuffer: there is no room for a buffered send (pml_buffered_max).
	ErrBuffer = pml.ErrBuffer
	// ErrFinished: a request was waited for before.
	ErrFinished = pml.ErrFinished
	// ErrNoMessage: the message to receive is nil; Improbe has found none.
	ErrNoMessage = pml.ErrNoMessage
	// ErrNilComm: a method was called on a nil communicator, such as the one that
	// Split returns to a process that is in none. Rank, Size and World, which
	// return no error, panic.
	ErrNilComm = errors.New("nil communicator")
	// ErrConcurrent: two goroutines make collective calls on one communicator at the
	// same time. The one that was first goes on.
	ErrConcurrent = errors.New("collective calls on a communicator come one after the other")
	// ErrOutOfStep: an earlier collective call on the communicator has ended early on
	// this process; the error wraps why.
	ErrOutOfStep = errors.New("the communicator takes no collective call any more")
	// ErrWorldComm: the world's own communicator can not be freed.
	ErrWorldComm = errors.New("the world's communicator can not be freed")
)

// A TruncateError says how long a message was and how much room there was.
type TruncateError = pml.TruncateError

// A PeerFailedError says which process has failed, on which host and why.
type PeerFailedError = pml.PeerFailedError
