package handshake

import (
	"errors"
	"fmt"
)

// Errors of either side. Those that quote a value wrap one of these.
var (
	// ErrMagic: the other side does not speak this protocol.
	ErrMagic = errors.New("not a Strand handshake")
	// ErrVersion: the other side speaks another version of this protocol.
	ErrVersion = errors.New("other version of the handshake")
	// ErrJob: the connector belongs to another job.
	ErrJob = errors.New("connection from another job")
	// ErrRank: the connector looks for, or claims to be, a rank it can not be.
	ErrRank = errors.New("wrong rank")
	// ErrTarget: the connector meant to reach an address that is not ours.
	ErrTarget = errors.New("connection meant for another address")
	// ErrSecret: the connector does not hold the job's secret.
	ErrSecret = errors.New("the other side does not hold the secret of this job")
	// ErrProof: the other side is not the process that has published the key of its rank,
	// or something on the way has changed what was said.
	ErrProof = errors.New("the other side does not prove to be that rank of this job")
	// ErrFormat: a reserved field is set, or a length is out of bounds.
	ErrFormat = errors.New("malformed handshake")
	// ErrState: the machine was fed after its end; a mistake of the caller's.
	ErrState = errors.New("handshake is over")
)

// A Code says why an acceptor refuses a connector that has proved who it is.
type Code uint8

const (
	accepted Code = iota
	// Duplicate: there is a connection for this path already, and it is as new.
	Duplicate
	// Gone: the acceptor takes no more connections from this rank, or at all.
	Gone
	// BadPath: the path's number is beyond what the acceptor has.
	BadPath
	maxCode = BadPath
)

func (c Code) String() string {
	switch c {
	case accepted:
		return "accepted"
	case Duplicate:
		return "connected already"
	case Gone:
		return "not welcome"
	case BadPath:
		return "no such path"
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Final reports whether another attempt of a connector would only fail in the same way.
func Final(err error) bool {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Code != Duplicate
	}
	return errors.Is(err, ErrProof) || errors.Is(err, ErrKey) || errors.Is(err, ErrMagic) || errors.Is(err, ErrVersion) || errors.Is(err, ErrFormat)
}

// A RefusedError is an acceptor's refusal, with proof that it is the acceptor's.
type RefusedError struct {
	Code   Code
	Reason string // the acceptor's words
}

func (e *RefusedError) Error() string {
	s := "refused by the peer: " + e.Code.String()
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}
