package sctp

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/strangers"
)

const (
	// mostStrangers bounds the associations that have not proved themselves.
	mostStrangers = 256
	// strangerPace bounds what a flood takes of the process's time: an association that
	// is let in costs some 50 µs.
	strangerPace = 500 * time.Microsecond
)

// An inbound is an association that somebody has made to us and that is no
// endpoint's yet.
type inbound struct {
	bystander
	*link
	m        *module
	acceptor *handshake.Acceptor
	control  control
	place    *strangers.Place[*inbound]
	timer    btl.Timer
	proved   bool
	greeting greeting
	// instead is our own attempt, which the stack has made one with the peer's and
	// which goes on if this fails.
	instead *dial
}

// accept takes an association that has come up.
func (m *module) accept(a stack.Association) stack.Handler {
	if m.closed || !m.room(a.Remote()) {
		return nil
	}
	return m.greet(&link{Association: a}).link
}

// room reports whether a stranger may be let in now.
func (m *module) room(from netip.AddrPort) bool { return m.strangers.Room(m.loop.Now(), from) }

// greet starts the handshake with whoever is at the other end.
func (m *module) greet(l *link) *inbound {
	in := &inbound{link: l, m: m}
	l.owner = in
	in.acceptor = m.identity().NewAcceptor(handshake.NewNonce(), in.claimed)
	in.timer = overdue.After(m.loop, m.cfg.handshakeTimeout, func() {
		in.fail(fmt.Errorf("no proof of belonging to this job in %v: %w", m.cfg.handshakeTimeout, syscall.ETIMEDOUT))
	})
	place, loser := m.strangers.Enter(m.loop.Now(), l.Remote(), in)
	in.place = place
	if loser != nil {
		loser.Who.fail(fmt.Errorf("no proof yet, and %d others wait", m.strangers.Count()-1))
	}
	return in
}

// claimed looks at a request before it is answered.
func (in *inbound) claimed(r handshake.Request) error {
	m := in.m
	if r.From >= m.host.Size() {
		return fmt.Errorf("%w: it claims to be rank %d of %d", handshake.ErrRank, r.From, m.host.Size())
	}
	if r.Target.Port() != m.local.Port || !m.local.Holds(r.Target.Addr()) {
		return fmt.Errorf("%w: %v", handshake.ErrTarget, r.Target)
	}
	in.place.Claims()
	return nil
}

func (in *inbound) receive(stream uint16, ppid uint32, piece []byte, end bool) {
	b, whole, err := in.control.handshake(stream, ppid, piece, end)
	if err == nil && in.proved {
		err = fmt.Errorf("%w: it goes on before it was let in", handshake.ErrFormat)
	}
	if err != nil || !whole {
		if err != nil {
			in.fail(err)
		}
		return
	}
	out, proved, err := in.acceptor.Feed(b, nil)
	if err == nil {
		err = in.say(out)
	}
	switch {
	case err != nil:
		in.fail(err)
	case proved:
		in.arrive()
	}
}

// arrive decides about a peer that has proved itself.
func (in *inbound) arrive() {
	in.proved = true
	in.stopTimer()
	in.place.Leave()
	var err error
	if in.greeting, err = decodeGreeting(in.acceptor.Peer()); err != nil {
		in.fail(err)
		return
	}
	if path := in.acceptor.Request().Path; path != 0 {
		in.refuse(handshake.BadPath, fmt.Sprintf("path %d, there is only 0", path))
	} else {
		in.settle()
	}
	in.resume(errCrossed)
}

func (in *inbound) settle() {
	r := in.acceptor.Request()
	s := in.m.slot(r.From)
	epoch := uint32(0)
	if s.ep != nil {
		epoch = s.ep.epoch
	}
	switch handshake.Settle(in.m.host.Rank(), r.From, s.attempt(), epoch, r) {
	case handshake.Hold:
		s.keep(in)
	case handshake.Refuse:
		in.refuse(handshake.Duplicate, fmt.Sprintf("epoch %d is connected, this is %d", epoch, r.Epoch))
	case handshake.Replace:
		ep := s.ep
		ep.fail(ep.connError("connected", fmt.Errorf("the peer has lost this connection and made a newer one, epoch %d", r.Epoch)))
		in.admit()
	case handshake.Accept:
		in.admit()
	}
}

// admit makes this connection the endpoint's, which is new unless one waits for
// it.
func (in *inbound) admit() {
	m, r := in.m, in.acceptor.Request()
	s := m.slot(r.From)
	ep := s.ep
	if ep == nil || ep.state == stateFailed {
		if ep = in.newEndpoint(s); ep == nil {
			return
		}
	}
	if ep.dial != nil {
		ep.dial.cancel()
		ep.dial = nil
	}
	s.epoch = max(s.epoch, r.Epoch)
	if err := in.say(in.acceptor.Accept(nil, m.ourGreeting())); err != nil {
		in.Abort()
		ep.fail(ep.connError("handshake", err))
		return
	}
	ep.opened = false
	ep.waits = true
	ep.connect(in.link, r.Epoch, in.greeting)
}

// newEndpoint makes an endpoint that the host did not ask for, or refuses.
func (in *inbound) newEndpoint(s *slot) *endpoint {
	m := in.m
	ep := newEndpoint(m, s, in.greeting.host)
	ep.state = stateConnecting // so that Send does not connect
	s.ep = ep
	recv, err := m.host.Accept(m, s.rank, in.greeting.hello, 0, ep)
	if err == nil && !ep.gone && !m.closed {
		ep.recv = recv
		return ep
	}
	reason := "it is closing"
	if err != nil {
		reason = err.Error()
	}
	ep.gone = true
	if s.ep == ep {
		s.ep = nil
	}
	in.refuse(handshake.Gone, reason)
	return nil
}

// refuse tells the peer why it is not let in.
func (in *inbound) refuse(code handshake.Code, reason string) {
	_, from := in.Addresses()
	in.m.host.Logf(btl.LogInfo, "sctp: rank %d: refusing rank %d from %v: %v: %s",
		in.m.host.Rank(), in.acceptor.Request().From, from, code, reason)
	if in.say(in.acceptor.Refuse(nil, code, reason)) != nil {
		in.Abort()
		return
	}
	in.m.leave(in.link, nil)
}

// fail ends an association that has come to nothing, with a line for people
// unless it said nothing at all.
func (in *inbound) fail(err error) {
	level := btl.LogWarn
	if errors.Is(err, syscall.ECONNRESET) || in.proved {
		level = btl.LogInfo
	}
	_, from := in.Addresses()
	in.m.stray(level, from, err)
	in.drop()
	in.resume(err)
}

// resume has our own attempt go on, unless the peer's has taken its place.
func (in *inbound) resume(err error) {
	if d := in.instead; d != nil && d.ep.dial == d {
		in.instead = nil
		d.fail(err)
	}
}

var errCrossed = errors.New("the peer's attempt, which has crossed ours, came to nothing")

// down: the association has ended before it was anybody's.
func (in *inbound) down(err error) { in.fail(err) }

// drop ends the association without a word of the handshake.
func (in *inbound) drop() {
	m := in.m
	in.stopTimer()
	in.place.Leave()
	if in.proved {
		if s := m.slot(in.acceptor.Request().From); s.reserve == in {
			s.takeReserve()
		}
	}
	in.Abort()
}

func (in *inbound) stopTimer() {
	if in.timer != nil {
		in.timer.Stop()
		in.timer = nil
	}
}
