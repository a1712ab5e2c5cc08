package sctp

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// An Owner is told what happens to its association. It is called from within [Endpoint.Receive] and
// [Association.Tick] only, and may call the association meanwhile, but for Tick and Send.
type Owner interface {
	// Up: the association is established. It is not called for one that was accepted.
	Up()
	// Receive hands over a piece of a message: see [stream.Receiver].
	stream.Receiver
	// Confirmed: all of the message has arrived at the peer for good. It is the owner's again.
	Confirmed(m *stream.Message)
	// PathChanged: a path is good now, or is so no more. See [Association.Path].
	PathChanged(path int)
	// Down: the association has ended. [io.EOF] says: in order, and all that either side sent has arrived. It
	// is the last call. Messages that were not confirmed are the owner's again.
	Down(err error)
}

// Errors by which an association ends.
var (
	// ErrRestarted says that the peer has begun anew, and knows nothing of what was before.
	ErrRestarted = fmt.Errorf("the peer has restarted: %w", syscall.ECONNRESET)
	// ErrNoAnswer says that nothing has come for as long as retransmissions were to be tried.
	ErrNoAnswer = fmt.Errorf("no answer over any path: %w", syscall.ETIMEDOUT)
	// ErrMet says that the peer's own attempt has made an association already, from an address that ours did not know, and that there
	// is no other one.
	ErrMet = fmt.Errorf("the peer has made an association at the same time: %w", syscall.EISCONN)
	// ErrTooLong says that something that was sent is longer than what any path has come to carry, and that nothing is heard of it.
	ErrTooLong = fmt.Errorf("what was sent in long packets does not get through any more, however often, and short ones do (is an MTU on the way too large, or are fragments dropped?): %w", syscall.EMSGSIZE)
	// ErrUnfinished says that the peer has not ended the association in order in the time for that.
	ErrUnfinished = fmt.Errorf("the peer does not finish the shutdown: %w", syscall.ETIMEDOUT)
)

// ErrOver is what [Association.Push] says when the association takes no message any more.
var ErrOver = errors.New("the association is ending, or has ended")

// An AbortError says that an association was aborted.
type AbortError struct {
	// Peer says that the peer has done so; else it was us.
	Peer bool
	// Cause is the first one's code (RFC 9260, section 3.3.10); 0: there was none.
	Cause uint16
	// Info is what was said with it.
	Info string
	// Begun says that the association had been established.
	Begun bool
}

func (e *AbortError) Error() string {
	who := "aborted by us"
	if e.Peer {
		who = "aborted by the peer"
	}
	what := chunk.CauseName(e.Cause)
	if what == "" && e.Cause != 0 {
		what = fmt.Sprintf("cause %d", e.Cause)
	}
	if what != "" {
		who += ": " + what
	}
	if e.Info != "" {
		who += fmt.Sprintf(": %q", e.Info)
	}
	return who
}

// Unwrap returns what the system would say.
func (e *AbortError) Unwrap() error {
	switch {
	case !e.Peer:
		return syscall.ECONNABORTED
	case !e.Begun:
		return syscall.ECONNREFUSED
	}
	return syscall.ECONNRESET
}
