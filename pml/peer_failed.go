package pml

import (
	"errors"
	"fmt"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// why is what the errors of a peer that has failed tell.
type why struct {
	doomed    error // what the launcher says
	damaged   error // what the peer has said
	unreached error // why there are no ways to it
}

// failFor declares the peer failed.
func (pe *peer) failFor(reason rails.Reason) {
	var cause error
	switch reason {
	case rails.LaunchersWord:
		pe.doomed()
		return
	case rails.Damage:
		cause = pe.why.damaged
	case rails.Refusal:
		cause = pe.causes()
	case rails.Unreachable:
		if cause = pe.why.unreached; cause == nil {
			cause = pe.firstFailure()
		}
	case rails.Departure:
		cause = pe.gone()
	case rails.Silence:
		cause = pe.silence()
	case rails.Standstill:
		cause = fmt.Errorf("%d connections have broken and nothing got through, for %v (pml_peer_timeout): %w", pe.ways.Breaks(), pe.pml.tune.peerTimeout, pe.causes())
	}
	pe.fail(rails.Failed, &PeerFailedError{Rank: pe.rank, Host: pe.host, Cause: cause})
}

// damage notes that what the peer says makes no sense.
func (pe *peer) damage(err error) {
	pe.why.damaged = err
	pe.ways.Damage()
}

// moved changes whenever either side has more of what the other one has sent.
func (pe *peer) moved() uint32 { return pe.received.Next() + pe.moves }

// goneError says that a process does not listen any more.
type goneError struct {
	rank      int
	host      string
	met       bool
	addresses []string
	cause     error
}

// gone tells of a peer at whose addresses nothing listens.
func (pe *peer) gone() *goneError {
	g := &goneError{rank: pe.rank, host: pe.host, met: pe.ways.Met}
	var errs []error
	for _, r := range pe.rails {
		if r.way.Cause == nil {
			continue
		}
		errs = append(errs, r.way.Cause)
		if conn, ok := errors.AsType[*btl.ConnError](r.way.Cause); ok && conn.Remote != "" {
			g.addresses = append(g.addresses, conn.Remote+" ("+conn.Transport+")")
		}
	}
	g.cause = errors.Join(errs...)
	return g
}

func (e *goneError) Error() string {
	where := "at any of its addresses"
	if len(e.addresses) > 0 {
		where = "at " + strings.Join(e.addresses, ", ")
	}
	otherwise := ""
	if !e.met { // it would have said goodbye
		otherwise = ": it has left in order, or has failed, unless a firewall there rejects connections"
	}
	return fmt.Sprintf("rank %d%s has gone: connection refused %s, where it listened before%s (see its output, and how it has ended)",
		e.rank, onHost(e.host), where, otherwise)
}

func (e *goneError) Unwrap() error { return e.cause }
