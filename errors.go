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
	// ErrUnderway: the context of a call that sends ended while it waited. The send goes on by
	// itself, and its buffer stays the library's until the world is closed. The error is the
	// context's too. Without ErrUnderway a call that ended with its context sends nothing any more.
	// So it is with a collective call that has ended early, for whatever reason, and with its request.
	ErrUnderway = pml.ErrUnderway
	// ErrSends: more than a million sends to one rank are under way, and no other is started.
	ErrSends = pml.ErrSends
	// ErrFinished: the request, or the message of a matched probe, has ended before.
	ErrFinished = pml.ErrFinished
	// ErrNoMessage: the message to receive is nil; Improbe has found none.
	ErrNoMessage = pml.ErrNoMessage
	// ErrRepresentation: what was received are values of a type that the sender's machine has in memory in another way than this one. Machines
	// differ in the order of bytes and in the length of words, which is that of int. Bytes can always be received. In a collective call it is the error
	// of the other ranks too, a [*CollectiveError].
	ErrRepresentation = pml.ErrRepresentation
	// ErrNilComm: a method was called on a nil communicator, such as the one that
	// Split returns to a process that is in none. Rank, Size, World and Translate, which
	// return no error, panic.
	ErrNilComm = errors.New("nil communicator")
	// ErrConcurrent: two goroutines make collective calls on one communicator at the
	// same time. The one that was first goes on.
	ErrConcurrent = errors.New("collective calls on a communicator come one after the other")
	// ErrOutOfStep: a collective call on the communicator has ended early, on this process or on
	// another one; the error wraps why. It takes no other one; [Comm.Shrink] makes the next communicator.
	ErrOutOfStep = errors.New("the communicator takes no collective call any more")
	// ErrWorldComm: the world's own communicator can not be freed.
	ErrWorldComm = errors.New("the world's communicator can not be freed")
)

// A TruncateError says that a message was longer than the buffer of its receive. The buffer
// has the beginning of the message. The rest of it is lost; the sender does not notice.
type TruncateError struct {
	Source  int   // the sender's rank in the communicator
	Tag     int   // the message's
	Message int64 // bytes sent
	Buffer  int64 // bytes that there was room for
}

// Error says how long the message was, whose, and how much room there was.
func (e *TruncateError) Error() string { return (*pml.TruncateError)(e).Error() }

// Unwrap returns [ErrTruncated].
func (e *TruncateError) Unwrap() error { return ErrTruncated }

// A PeerFailedError says that an operation can not complete because the process that it
// depends on has failed: docs/ARCHITECTURE.md, "Failure and close", says when it counts as
// failed.
type PeerFailedError struct {
	// Rank is the failed process's rank in the communicator of the operation, as
	// [Status.Source] would be. [Comm.Translate] finds its rank in another communicator.
	Rank int
	// WorldRank is its rank in the world.
	WorldRank int
	// Host is the name of the host it ran on; it is empty if the process was never heard of.
	Host string
	// Cause is the last thing that happened to it.
	Cause error
}

// Error names the process by its rank in the world, by its host and, if that is another
// number, by its rank in the communicator.
func (e *PeerFailedError) Error() string {
	return pml.FailureText(e.WorldRank, e.Rank, e.Host, e.Cause)
}

// Unwrap returns [ErrPeerFailed] and the cause.
func (e *PeerFailedError) Unwrap() []error { return []error{ErrPeerFailed, e.Cause} }

// own returns an error of the message layer as one of this package.
func own(err error) error {
	if err == nil {
		return nil
	}
	return translated(err)
}

func translated(err error) error {
	if e, is := errors.AsType[*pml.PeerFailedError](err); is {
		return &PeerFailedError{Rank: e.Member(), WorldRank: e.Rank, Host: e.Host, Cause: e.Cause}
	}
	if e, is := errors.AsType[*pml.TruncateError](err); is {
		return (*TruncateError)(e)
	}
	return err
}
