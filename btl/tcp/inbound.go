package tcp

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/strangers"
)

// An inbound is a connection that somebody has made to us and that is no
// endpoint's yet.
type inbound struct {
	talk
	acceptor *handshake.Acceptor
	from     netip.AddrPort
	place    *strangers.Place[*inbound]
	proved   bool
	greeting greeting
}

// welcome takes in a connection that somebody has made. Until that says
// something it costs no more than its descriptor and its place on a list.
func (m *module) welcome(fd int, from netip.AddrPort) {
	in := &inbound{talk: talk{m: m, conn: rawio.NewConn(fd)}, from: from}
	var err error
	if in.watch, err = m.loop.Watch(fd, in); err != nil {
		m.stray(btl.LogWarn, from, err)
		in.close()
		return
	}
	in.timer = overdue.After(m.loop, m.cfg.handshakeTimeout, func() {
		in.fail(fmt.Errorf("%w in %v: %w", errNoProof, m.cfg.handshakeTimeout, syscall.ETIMEDOUT))
	})
	var loser *strangers.Place[*inbound]
	in.place, loser = m.strangers.Enter(m.loop.Now(), netip.AddrPortFrom(from.Addr(), 0), in)
	if loser != nil {
		loser.Who.fail(fmt.Errorf("%w, and %d others wait", errNoProof, m.strangers.Count()-1))
	}
}

// greet starts the handshake with one that has something to say.
func (in *inbound) greet() error {
	m := in.m
	if err := m.tune(in.conn.FD(), m.nearby(in.from.Addr())); err != nil {
		return err
	}
	in.acceptor = m.identity().NewAcceptor(handshake.NewNonce(), in.claimed)
	return nil
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

// Poll implements [btl.Handler].
func (in *inbound) Poll(writable bool) bool {
	if in.watch == nil {
		return false
	}
	if writable {
		if err := in.send(); err != nil {
			in.fail(err)
			return true
		}
	}
	if in.proved {
		if err := in.ended(); err != nil {
			in.fail(err)
			return true
		}
		return false
	}
	return in.listen()
}

func (in *inbound) listen() bool {
	if in.acceptor == nil {
		if err := in.greet(); err != nil {
			in.fail(err)
			return true
		}
	}
	did := false
	for {
		b, err := in.receive(in.acceptor.Need())
		if err != nil {
			in.fail(err)
			return true
		}
		if len(b) == 0 {
			return did
		}
		did = true
		out, proved, err := in.acceptor.Feed(b, in.out)
		in.out = out
		if err == nil {
			err = in.send()
		}
		if err != nil {
			in.fail(err)
			return true
		}
		if proved {
			in.arrive()
			return true
		}
	}
}

// arrive decides about a peer that has proved itself.
func (in *inbound) arrive() {
	in.proved = true
	in.timer.Stop()
	in.timer = nil
	in.place.Leave()
	var err error
	if in.greeting, err = decodeGreeting(in.acceptor.Peer()); err != nil {
		in.fail(err)
		return
	}
	if path := in.acceptor.Request().Path; path >= maxPaths {
		in.refuse(handshake.BadPath, fmt.Sprintf("path %d, allowed are 0 to %d", path, maxPaths-1))
		return
	}
	in.tell(btl.LogDebug, "connect_ack", ", it has proved itself")
	in.settle()
}

// tell writes a line about a connection that has proved itself and is no
// endpoint's yet.
func (in *inbound) tell(level btl.LogLevel, what, more string) {
	r := in.acceptor.Request()
	way := fmt.Sprintf("%v ← %v", rawio.LocalAddr(in.conn.FD()), in.from)
	in.m.tell(level, slotKey{r.From, r.Path}, "←", what, way, r.Epoch, more)
}

func (in *inbound) settle() {
	r := in.acceptor.Request()
	s := in.m.slot(r.From, r.Path)
	epoch := uint32(0)
	if s.ep != nil {
		epoch = s.ep.epoch
	}
	switch handshake.Settle(in.m.host.Rank(), r.From, s.attempt(), epoch, r) {
	case handshake.Hold:
		in.tell(btl.LogDebug, "connect_ack", ", waits for our own attempt to end")
		s.keep(in)
	case handshake.Refuse:
		in.refuse(handshake.Duplicate, fmt.Sprintf("epoch %d is connected, this is %d", epoch, r.Epoch))
	case handshake.Replace:
		ep := s.ep
		ep.down(ep.connError("connected", fmt.Errorf("the peer has lost this connection and made a newer one, epoch %d", r.Epoch)))
		in.admit()
	case handshake.Accept:
		in.admit()
	}
}

// admit makes this connection the endpoint's, which is new unless one waits for
// it.
func (in *inbound) admit() {
	m, r := in.m, in.acceptor.Request()
	s := m.slot(r.From, r.Path)
	ep := s.ep
	if ep == nil || ep.state == stateFailed {
		if ep = in.newEndpoint(s); ep == nil {
			return
		}
	} else {
		ep.accepted(in)
	}
	s.epoch = max(s.epoch, r.Epoch)
	rest := in.acceptor.Accept(in.out, m.ourGreeting())
	ep.connect(in.release(), rest, r.Epoch, in.greeting)
}

// newEndpoint makes an endpoint that the host did not ask for, or refuses.
func (in *inbound) newEndpoint(s *slot) *endpoint {
	m := in.m
	ep := newEndpoint(m, s, in.greeting.host)
	ep.state = stateConnectAck // so that Send does not connect
	ep.accepted(in)
	s.ep = ep
	recv, err := m.host.Accept(m, s.key.rank, in.greeting.hello, s.key.path, ep)
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
	in.tell(btl.LogInfo, "refused", fmt.Sprintf(", %v: %s", code, reason))
	out := in.acceptor.Refuse(in.out, code, reason)
	in.m.leave(in.release(), out)
}

// fail ends a connection that has come to nothing, with a line for people: a warning,
// unless it has gone by itself before it proved anything, as those of port scans and
// health checks do, of which there can be any number.
func (in *inbound) fail(err error) {
	level := btl.LogWarn
	switch {
	case in.proved:
		level = btl.LogInfo
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		level = btl.LogDebug
	}
	in.m.stray(level, in.from, err)
	in.drop()
}

// drop ends the connection without a word.
func (in *inbound) drop() {
	in.place.Leave()
	if in.proved {
		r := in.acceptor.Request()
		if s := in.m.slot(r.From, r.Path); s.reserve == in {
			s.takeReserve()
		}
	}
	in.close()
}
