package pml

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
)

// Who declares a peer failed: judge, for one of these reasons and for no other. A peer
// that was met has not failed because connections to it fail: a network that is gone for
// a while, a host out of descriptors or ports, a middlebox that resets what it has
// forgotten look like that. It has failed when it has proved to refuse us, when the
// launcher says so, or when there was no sign of it for too long.

// A reason is why a peer counts as failed.
type reason uint8

const (
	noReason      reason = iota
	launchersWord        // the launcher says so, and what the peer had sent was read
	damage               // what it says makes no sense, and would not if it were said again
	refusal              // it has proved who it is and refuses; or who is there is not it
	departure            // nothing listens at any of its addresses
	silence              // it gives no sign of life
	standstill           // connections break again and again, and nothing gets through
	unreachable          // there was never a connection, and all ways were tried
)

// evidence is what there is to judge a peer by.
type evidence struct {
	met       bool // there was a connection
	connected bool // there is one
	doomed    bool // the launcher says that it has failed
	heardOut  bool // and what it had sent has had its time to be read
	damaged   bool // what it has said makes no sense
	refused   bool // by all ways that there are, with proof
	exhausted bool // never met, and all ways have failed
	absent    time.Duration
	silent    int  // beats that something depended on it and nothing came
	stuck     int  // beats in which nothing got through although something waited,
	breaks    int  // and how many connections broke meanwhile
	told      bool // a launcher tells of ranks that die
	leaving   bool // this process closes its world: no beat looks after peers any more
	patient   bool // pml_peer_timeout is 0: silence is no reason
}

const (
	// absence is how long a peer that was met may refuse connections at each of its
	// addresses, where no launcher tells that it lives: a firewall that is loaded anew,
	// or a router that starts, does so for half a second.
	absence = 2 * time.Second
	// manyBreaks is how many connections have to break in pml_peer_timeout, while nothing
	// gets through, for that to be no matter of time.
	manyBreaks = 8
)

// verdict says for which reason the peer has failed, if it has.
func (e evidence) verdict() reason {
	switch {
	case e.doomed && (!e.connected || e.heardOut):
		return launchersWord
	case e.damaged:
		return damage
	case e.refused && !e.connected:
		return refusal
	case e.exhausted && !e.connected:
		return unreachable
	case e.absent >= absence && !e.connected && (!e.told || e.leaving):
		return departure
	case e.met && !e.patient && e.silent >= missable:
		return silence
	case e.met && !e.patient && e.stuck >= missable && e.breaks >= manyBreaks:
		return standstill
	}
	return noReason
}

// conduct is what is remembered of a peer to judge it by.
type conduct struct {
	heardOut  bool
	exhausted error  // why no way leads to it, if all were tried
	nonsense  error  // what it has said
	away      int64  // since when it refuses everywhere; 0: it does not
	moves     uint32 // frames acknowledged, and frames that arrived on the general path
	moved     uint32 // as of the last beat
	stuck     int
	breaks    int
}

func (pe *peer) evidence() evidence {
	p, c := pe.pml, &pe.conduct
	e := evidence{
		met: pe.met, connected: pe.up(),
		doomed: pe.doomed != nil, heardOut: c.heardOut,
		damaged: c.nonsense != nil, refused: pe.refusesAll(), exhausted: c.exhausted != nil,
		silent: pe.silent, stuck: c.stuck, breaks: c.breaks,
		told: p.call != nil, leaving: p.closing, patient: p.tune.peerTimeout == 0,
	}
	if c.away != 0 {
		e.absent = time.Duration(p.engine.Now() - c.away)
	}
	return e
}

// judge declares the peer failed if there is reason to, and reports whether.
func (pe *peer) judge() bool {
	if pe.state == peerFailed || pe.state == peerClosed {
		return false
	}
	var cause error
	switch why := pe.evidence().verdict(); why {
	case noReason:
		return false
	case launchersWord:
		pe.fail(peerFailed, pe.doomed)
		return true
	case damage:
		cause = pe.conduct.nonsense
	case refusal:
		cause = pe.causes()
	case unreachable:
		cause = pe.conduct.exhausted
	case departure:
		cause = pe.gone()
	case silence:
		cause = pe.silence()
	case standstill:
		cause = fmt.Errorf("%d connections have broken in %v (pml_peer_timeout) and nothing got through: %w", pe.conduct.breaks, pe.pml.tune.peerTimeout, pe.causes())
	}
	pe.fail(peerFailed, &PeerFailedError{Rank: pe.rank, Host: pe.host, Cause: cause})
	return true
}

// final reports whether another attempt would only repeat a failure.
func final(err error) bool {
	conn, ok := errors.AsType[*btl.ConnError](err)
	return ok && conn.Final
}

// refusesAll reports whether each way to the peer that this side can open has come to a
// final end, and there is one.
func (pe *peer) refusesAll() bool {
	ended := false
	for _, r := range pe.rails {
		switch c := &r.recovery; {
		case c.foreign:
		case !pe.met || !c.failed:
			return false
		default:
			ended = true
		}
	}
	return ended
}

// hasLeft reports whether a peer that was there before refuses now, whichever of its
// addresses is tried: its process has ended, or something on the way resets all. Who has
// nothing more to say to it but goodbye does not wait for addresses that say nothing.
func (pe *peer) hasLeft() bool {
	tried := false
	for _, r := range pe.rails {
		if r.recovery.foreign {
			continue
		}
		switch refuses := errors.Is(r.recovery.cause, syscall.ECONNREFUSED); {
		case refuses, pe.pml.parting() && r.recovery.failed: // it has refused for good
			tried = true
		case !pe.pml.parting():
			return false
		}
	}
	return pe.met && tried
}

// noteAbsence takes note of the end of an attempt to reach the peer.
func (pe *peer) noteAbsence() {
	c, p := &pe.conduct, pe.pml
	if !pe.hasLeft() {
		c.away = 0
		return
	}
	if c.away != 0 {
		return
	}
	since := max(p.engine.Now(), 1)
	c.away = since
	p.engine.After(absence, func() {
		if c.away == since {
			pe.judge()
		}
	})
}

// look notes, with each beat, whether anything got through.
func (pe *peer) look() {
	c := &pe.conduct
	if moved := pe.moved(); moved != c.moved || pe.sent.empty() {
		c.moved, c.stuck, c.breaks = moved, 0, 0
		return
	}
	c.stuck++
}

// moved changes whenever either side has more of what the other one has sent.
func (pe *peer) moved() uint32 { return pe.received.next + pe.conduct.moves }

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
	g := &goneError{rank: pe.rank, host: pe.host, met: pe.met}
	var errs []error
	for _, r := range pe.rails {
		if r.recovery.cause == nil {
			continue
		}
		errs = append(errs, r.recovery.cause)
		if conn, ok := errors.AsType[*btl.ConnError](r.recovery.cause); ok && conn.Remote != "" {
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
	if !e.met {
		otherwise = ", unless a firewall there rejects connections"
	}
	return fmt.Sprintf("rank %d%s has gone: connection refused %s, where it listened before%s (see its output, and how it has ended)",
		e.rank, onHost(e.host), where, otherwise)
}

func (e *goneError) Unwrap() error { return e.cause }
