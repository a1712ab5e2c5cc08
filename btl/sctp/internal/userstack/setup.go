package userstack

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/rawio"
)

// A setup is an association that we have begun and that is not established yet
// (COOKIE-WAIT and COOKIE-ECHOED of RFC 9260).
type setup struct {
	a      *association
	packet []byte // INIT, then COOKIE ECHO
	echoed bool
	wait   time.Duration // to the next repetition
	repeat btl.Timer
	limit  btl.Timer
}

func (t *setup) stop() {
	for _, timer := range []btl.Timer{t.repeat, t.limit} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// Associate implements [stack.Stack].
func (s *Stack) Associate(r stack.Route, h stack.Handler) (stack.Association, error) {
	p := r.Pairs[0]
	so := s.socketFor(p)
	if so == nil {
		return nil, fmt.Errorf("no UDP socket at %v: %w", p.Local, syscall.EADDRNOTAVAIL)
	}
	a := s.newAssociation(so, p.Remote, p.Nearby)
	a.h = h
	a.ours = s.opening()
	a.setup = &setup{a: a, wait: s.cfg.RTOInitial}
	a.setup.packet = seal(a.ours.appendTo(newPacket(0, chunkInit, 0)))
	a.setup.limit = overdue.After(s.cfg.Loop, s.cfg.ConnectTimeout, func() {
		a.finish(fmt.Errorf("no answer in %v: %w", s.cfg.ConnectTimeout, syscall.ETIMEDOUT))
	})
	s.byTag[a.ours.tag] = a
	a.setup.say()
	return a, nil
}

// socketFor finds the socket to send from.
func (s *Stack) socketFor(p stack.Pair) *socket {
	var family *socket
	for _, so := range s.sockets {
		local := so.local.Addr().WithZone("")
		switch {
		case p.Local.IsValid() && local == p.Local.WithZone(""):
			return so
		case !p.Local.IsValid() && local == p.Remote.Addr().WithZone(""):
			return so
		case family == nil && local.Is4() == p.Remote.Addr().Is4():
			family = so
		}
	}
	if p.Local.IsValid() {
		return nil
	}
	return family
}

func (s *Stack) newAssociation(so *socket, remote netip.AddrPort, nearby bool) *association {
	a := &association{s: s, so: so, remote: remote, to: rawio.NewDestination(remote), mtu: s.cfg.MTU}
	if nearby {
		a.mtu = s.cfg.LoopbackMTU
	}
	return a
}

// opening is what this side says of a new association.
func (s *Stack) opening() opening {
	o := opening{window: uint32(s.cfg.ReceiveBuffer), out: uint16(s.cfg.Streams), in: uint16(s.cfg.Streams), interleave: s.cfg.Interleave}
	var b [8]byte
	for o.tag == 0 || s.byTag[o.tag] != nil {
		rand.Read(b[:])
		o.tag, o.tsn = binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint32(b[4:])
	}
	return o
}

// say sends the packet, and again as long as there is no answer.
func (t *setup) say() {
	a := t.a
	a.s.send(a.so, t.packet, a)
	t.repeat = a.s.cfg.Loop.After(t.wait, func() {
		t.wait = min(2*t.wait, a.s.cfg.RTOMax)
		t.say()
	})
}

// answered takes a packet of the peer's.
func (t *setup) answered(b []byte) error {
	c := first(b)
	if c == nil {
		return errForm
	}
	switch c[0] {
	case chunkInitAck:
		if t.echoed {
			return nil // it comes twice
		}
		return t.acknowledged(c)
	case chunkCookieAck:
		if !t.echoed {
			return fmt.Errorf("%w: COOKIE ACK without a cookie", errForm)
		}
		a := t.a
		t.stop()
		if err := a.establish(); err != nil {
			a.finish(err)
			return nil
		}
		a.h.Up()
	case chunkAbort:
		t.a.finish(syscall.ECONNREFUSED)
	}
	return nil
}

// acknowledged echoes the cookie.
func (t *setup) acknowledged(c []byte) error {
	a := t.a
	o, err := parseOpening(c)
	if err != nil {
		return err
	}
	if o.cookie == nil {
		return fmt.Errorf("%w: INIT ACK without a cookie", errForm)
	}
	cookie := o.cookie
	o.cookie = nil
	a.theirs = *o
	t.echoed = true
	t.repeat.Stop()
	t.wait = a.s.cfg.RTOInitial
	t.packet = seal(append(newPacket(o.tag, chunkCookieEcho, 0), cookie...))
	t.say()
	return nil
}
