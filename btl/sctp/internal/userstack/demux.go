package userstack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/internal/rawio"
)

// arrived finds out whom a packet is for.
func (s *Stack) arrived(so *socket, from netip.AddrPort, b []byte) {
	if err := checkHeader(b); err != nil {
		s.cfg.Warn(from, err)
		return
	}
	a := s.byTag[tagOf(b)]
	if a != nil && a.setup != nil && !a.setup.echoed {
		if w, ok := a.setup.from(so, from); ok {
			a.use(w)
		}
	}
	switch {
	case a == nil || !same(a.remote, from):
		if err := s.stranger(so, from, b); err != nil {
			s.cfg.Warn(from, err)
		}
	case a.severed.Load():
	case a.setup != nil:
		err := checkSum(b)
		if err == nil {
			err = a.setup.answered(b)
		}
		if err != nil {
			s.cfg.Warn(from, err)
		}
	case a.isJoined(b):
		a.cut(so, b)
	case len(b) > largestPacket: // pion would take a part of it
	case !a.control(b):
		a.take(so, b)
	}
}

// control answers a packet whose first chunk is not for pion, and reports whether it was
// one. Other chunks of that packet are as if lost: the peer sends them again.
func (a *association) control(b []byte) bool {
	c := first(b)
	if c == nil {
		return true
	}
	switch c[0] {
	case chunkHeartbeat, chunkHeartbeatAck, chunkCookieEcho:
	default:
		return false
	}
	if checkSum(b) != nil {
		return true
	}
	a.heard()
	switch c[0] {
	case chunkCookieEcho: // our COOKIE ACK was lost
		a.s.send(a.so, seal(newPacket(a.theirs.tag, chunkCookieAck, 0)), a)
	case chunkHeartbeat:
		a.s.send(a.so, seal(append(newPacket(a.theirs.tag, chunkHeartbeatAck, 0), c[chunkHead:]...)), a)
	}
	return true
}

// same compares two addresses without their zones, which have two spellings.
func same(a, b netip.AddrPort) bool {
	return a.Port() == b.Port() && a.Addr().WithZone("") == b.Addr().WithZone("")
}

// stranger answers a packet that belongs to no association, without keeping
// anything.
func (s *Stack) stranger(so *socket, from netip.AddrPort, b []byte) error {
	if err := checkSum(b); err != nil {
		return err
	}
	c := first(b)
	if c == nil {
		return errForm
	}
	switch c[0] {
	case chunkInit:
		if tagOf(b) != 0 {
			return fmt.Errorf("%w: INIT with a verification tag", errForm)
		}
		return s.greet(so, from, c)
	case chunkCookieEcho:
		return s.admit(so, from, tagOf(b), c[chunkHead:])
	case chunkAbort:
		// The peer does not know an association of ours.
		if a := s.theirs(tagOf(b), from); a != nil && c[1]&flagReflected != 0 {
			a.finish(syscall.ECONNRESET)
		}
	case chunkInitAck, chunkCookieAck:
		// A late answer to an attempt that was given up.
	default:
		to := rawio.NewDestination(from)
		so.send(abortPacket(tagOf(b), flagReflected), &to)
	}
	return nil
}

// theirs finds an association by the peer's name for it.
func (s *Stack) theirs(tag uint32, remote netip.AddrPort) *association {
	for _, a := range s.byTag {
		if tag != 0 && a.theirs.tag == tag && same(a.remote, remote) {
			return a
		}
	}
	return nil
}

// supersede ends an older association that the peer takes for the same as a: the peer
// has made one of its attempt and ours, with one tag (RFC 9260, section 5.2.4). The
// peer is not told. It would take that for the end of a.
func (s *Stack) supersede(a *association) {
	for _, b := range s.byTag {
		if b != a && b.setup == nil && b.theirs.tag == a.theirs.tag && same(b.remote, a.remote) {
			b.severed.Store(true)
			b.finish(syscall.ECONNRESET)
		}
	}
}

// greet answers an INIT. All there is of the association is in the cookie.
func (s *Stack) greet(so *socket, from netip.AddrPort, c []byte) error {
	theirs, err := parseOpening(c)
	if err != nil {
		return err
	}
	ours := s.opening()
	ours.mute = theirs.mute
	ours.cookie, ours.tsn = s.baker.bake(s.cfg.Loop.Now(), from, theirs, ours.tag)
	to := rawio.NewDestination(from)
	so.send(seal(ours.appendTo(newPacket(theirs.tag, chunkInitAck, 0))), &to)
	return nil
}

// admit makes an association for a peer that has echoed our cookie: it receives
// at the address that it claims.
func (s *Stack) admit(so *socket, from netip.AddrPort, tag uint32, cookie []byte) error {
	theirs, ours, err := s.baker.open(cookie, s.cfg.Loop.Now(), from, tag)
	if err != nil {
		return err
	}
	if s.byTag[tag] != nil {
		return fmt.Errorf("%w: its tag is taken", errCookie)
	}
	if !s.cfg.Room(from) {
		return nil // the peer sends its cookie again
	}
	a := s.newAssociation(so, from, s.nearby(from.Addr()))
	a.ours = s.opening()
	a.ours.tag, a.ours.tsn, a.theirs = tag, ours, *theirs
	s.byTag[tag] = a
	if a.h = s.cfg.Accept(a); a.h == nil {
		a.Abort()
		return nil
	}
	if err := a.establish(); err != nil {
		a.finish(err)
		return nil
	}
	s.send(so, seal(newPacket(theirs.tag, chunkCookieAck, 0)), a)
	return nil
}

// undelivered is told that the network has not delivered a packet of ours. The answer
// quotes the packet, so whoever sent it has seen the packet.
func (s *Stack) undelivered(f rawio.Failure) {
	if len(f.Sent) < minimalPacketSize+4 {
		return
	}
	tag := tagOf(f.Sent)
	if tag == 0 {
		tag = binary.BigEndian.Uint32(f.Sent[minimalPacketSize:])
		if a := s.byTag[tag]; a != nil && a.setup != nil && !a.setup.echoed {
			a.setup.refused(f.To, f.Code)
		}
		return
	}
	a := s.theirs(tag, f.To)
	if a == nil {
		return
	}
	if a.setup != nil || errors.Is(f.Code, syscall.ECONNREFUSED) {
		a.finish(f.Code)
	} // else it may pass; pion repeats what is lost
}
