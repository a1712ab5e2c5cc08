package sctp

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/openfiles"
)

// connError describes a failure of this endpoint.
func (ep *endpoint) connError(phase string, err error) *btl.ConnError {
	e := &btl.ConnError{
		Transport: "sctp",
		Rank:      ep.m.host.Rank(),
		Peer:      ep.slot.rank,
		PeerHost:  ep.host,
		Phase:     phase,
		Err:       err,
		Remedy:    remedy(err, ep),
		Final:     hopeless(err),
	}
	switch {
	case ep.link != nil:
		e.Local, e.Remote = ep.link.Addresses()
	case ep.route != nil:
		e.Local, e.Remote = ep.route.pairs[0].Local.String(), ep.route.target().String()
	}
	if ep.state == stateConnected {
		e.InFlight = ep.link.Queued()
	}
	return e
}

// remedy says what can be done about a failure of a connection.
func remedy(err error, ep *endpoint) string {
	port := uint16(0)
	if ep.route != nil {
		port = ep.route.port
	}
	var refused *handshake.RefusedError
	switch {
	case errors.As(err, &refused):
		return ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens on port %d there any more, or a firewall rejects it: see whether rank %d has ended", port, ep.slot.rank)
	case errors.Is(err, syscall.ETIMEDOUT) && ep.state == stateConnected:
		return "the network or the peer's host has stopped answering"
	case errors.Is(err, syscall.ETIMEDOUT):
		return fmt.Sprintf("does a firewall between the hosts drop packets to port %d? allow a range with %s and %s, or choose another network with %s",
			port, pPortMin, pPortRange, pInclude)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("there is no way from this address to that one: choose networks with %s or %s", pInclude, pExclude)
	case openfiles.Exhausted(err):
		return openfiles.Remedy(err)
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return "a local firewall rule forbids it"
	case errors.Is(err, handshake.ErrProof), errors.Is(err, handshake.ErrMagic):
		return fmt.Sprintf("another program, or another job, listens on port %d there", port)
	case errors.Is(err, errNoGoodbye), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Sprintf("rank %d has probably ended: see its output", ep.slot.rank)
	}
	return ""
}
