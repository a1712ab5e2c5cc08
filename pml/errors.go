package pml

import (
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/selection"
)

// Errors to look for with errors.Is.
var (
	ErrClosed     = errors.New("world is closed")
	ErrFreed      = errors.New("communicator is freed")
	ErrRank       = errors.New("bad rank")
	ErrTag        = errors.New("bad tag")
	ErrTruncated  = errors.New("message truncated")
	ErrPeerClosed = errors.New("peer has left the world in order")
	ErrPeerFailed = errors.New("peer has failed")
	ErrBuffer     = errors.New("no room for a buffered send")
	ErrUnderway   = errors.New("the send goes on by itself, and its buffer stays the library's")
	ErrSends      = errors.New("too many sends to one rank are under way")
	ErrFinished   = errors.New("request has finished and was waited for already")
	ErrNoMessage  = errors.New("no message: the matched probe has found none")
	// ErrRepresentation is followed by the two machines.
	ErrRepresentation = errors.New("values of this type lie otherwise in the memory of their sender")
)

// receivedError is [ErrFinished] of a message.
type receivedError struct{}

func (receivedError) Error() string { return "the message of the matched probe was received before" }
func (receivedError) Unwrap() error { return ErrFinished }

// Ended is the error of a context that has ended. Every blocking call looks at its
// context before it does anything: what it then took, or sent, would be gone.
func Ended(ctx context.Context) error {
	given.Context(ctx)
	return ctx.Err()
}

// underwayError says that a call ended with its context while a send was under way.
type underwayError struct{ ended error }

func (e *underwayError) Error() string { return e.ended.Error() + ": " + ErrUnderway.Error() }

func (e *underwayError) Unwrap() []error { return []error{ErrUnderway, e.ended} }

// A TruncateError says that a message was longer than the receive's buffer. The
// buffer holds the message's beginning; the rest is lost, nothing else is.
type TruncateError struct {
	Source, Tag int
	Message     int64 // bytes sent
	Buffer      int64 // bytes there was room for
}

func (e *TruncateError) Error() string {
	return fmt.Sprintf("message of %d bytes from rank %d with tag %d does not fit into a buffer of %d bytes",
		e.Message, e.Source, e.Tag, e.Buffer)
}

// Unwrap makes errors.Is(err, ErrTruncated) true.
func (e *TruncateError) Unwrap() error { return ErrTruncated }

// A PeerFailedError says that an operation can not complete because the process
// that it depends on can not be reached any more.
type PeerFailedError struct {
	Rank  int // in the world
	Host  string
	Cause error  // the last thing that happened to it
	group *Group // of the context whose operation has ended so; nil for that of the world
}

// Member is the peer's rank in the group of the context whose operation has ended so.
func (e *PeerFailedError) Member() int { return memberOf(e.group, e.Rank) }

func (e *PeerFailedError) Error() string {
	return FailureText(e.Rank, e.Member(), e.Host, e.Cause)
}

// FailureText says that the peer of a rank in the world, which is a member of a group under
// a rank of that group, has failed.
func FailureText(rank, member int, host string, cause error) string {
	if never, ok := errors.AsType[*selection.UnreachableError](cause); ok {
		return never.Error() // it names both, and neither has failed
	}
	if gone, ok := errors.AsType[*goneError](cause); ok {
		return gone.Error() // likewise
	}
	return fmt.Sprintf("rank %d%s%s has failed: %v", rank, onHost(host), inGroup(rank, member), cause)
}

// memberOf returns the rank in a group of a rank in the world; nil is the world's group.
func memberOf(g *Group, rank int) int {
	if g == nil {
		return rank
	}
	return g.Rank(rank)
}

// inGroup adds the rank in the group to that in the world, where they differ.
func inGroup(rank, member int) string {
	if member == rank {
		return ""
	}
	return fmt.Sprintf(" (rank %d of the communicator)", member)
}

// onHost names a host, if it is known.
func onHost(host string) string {
	if host == "" {
		return ""
	}
	return " on " + host
}

// Unwrap makes errors.Is work for ErrPeerFailed and for the cause.
func (e *PeerFailedError) Unwrap() []error { return []error{ErrPeerFailed, e.Cause} }

// peerClosedError says that an operation can not complete because its peer has
// left the world in order.
type peerClosedError struct {
	rank  int // in the world
	host  string
	group *Group // as of a PeerFailedError
}

func (e *peerClosedError) Error() string {
	return fmt.Sprintf("rank %d%s%s has closed its world: it neither sends nor receives any more",
		e.rank, onHost(e.host), inGroup(e.rank, memberOf(e.group, e.rank)))
}

func (e *peerClosedError) Unwrap() error { return ErrPeerClosed }

// named returns an error with which an operation of the context ends. If it is about a peer,
// it names that as the context's group does too.
func (c *Context) named(err error) error {
	if err == nil {
		return nil
	}
	if failed, is := errors.AsType[*PeerFailedError](err); is {
		named := *failed
		named.group = c.group
		return &named
	}
	if closed, is := errors.AsType[*peerClosedError](err); is {
		return &peerClosedError{closed.rank, closed.host, c.group}
	}
	return err
}

// protocolError says that what a peer has sent makes no sense.
type protocolError struct {
	rank int
	err  error
}

func (e *protocolError) Error() string { return fmt.Sprintf("from rank %d: %v", e.rank, e.err) }
func (e *protocolError) Unwrap() error { return e.err }
