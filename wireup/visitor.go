package wireup

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/strangers"
)

// A visitor is the accepting side of a handshake: a connection that somebody has made to us
// and that is no endpoint's yet. Until it has proved itself it is embryonic.
type visitor struct {
	p        *Pending
	acceptor *handshake.Acceptor // nil until there is something to read
	place    *strangers.Place[*visitor]
	timer    btl.Timer
	proved   bool
	differs  bool // the peer speaks another version, and has been told ours
	greeting Greeting
	// instead is our own attempt, if the transport has made one connection of it and the
	// peer's. It goes on if this handshake fails.
	instead *dial
}

var errNoProof = errors.New("no proof of belonging to this job")

// visit gives a stranger a place.
func (m *Manager) visit(p *Pending, from netip.AddrPort) *visitor {
	v := &visitor{p: p}
	p.owner = v
	v.timer = overdue.After(m.loop, m.HandshakeTimeout, func() { v.fail(v.late()) })
	var loser *strangers.Place[*visitor]
	v.place, loser = m.crowd.Enter(m.loop.Now(), from, v)
	if loser != nil {
		loser.Who.fail(fmt.Errorf("%w, and %d others wait", errNoProof, m.crowd.Count()-1))
	}
	return v
}

// late is why the handshake was not over in time.
func (v *visitor) late() error {
	t := v.p.m.HandshakeTimeout
	if v.acceptor != nil && v.acceptor.Claimed() {
		return fmt.Errorf("it claims to be rank %d, whose key the launcher has not told in %v", v.acceptor.Request().From, t)
	}
	return fmt.Errorf("%w in %v: %w", errNoProof, t, syscall.ETIMEDOUT)
}

// up: a connection that somebody has made is there already.
func (v *visitor) up() {}

// answerer returns the acceptor, and makes it at the first need: a stranger that says nothing
// costs no memory for one.
func (v *visitor) answerer() *handshake.Acceptor {
	if v.acceptor == nil {
		v.acceptor = v.p.m.identity().NewAcceptor(handshake.NewNonce(), binding(v.p.link), v.claimed)
	}
	return v.acceptor
}

func (v *visitor) need() int { return v.answerer().Need() }

// claimed looks at a request before it is answered.
func (v *visitor) claimed(r handshake.Request) error {
	m := v.p.m
	if r.From >= m.host.Size() {
		return fmt.Errorf("%w: it claims to be rank %d of %d", handshake.ErrRank, r.From, m.host.Size())
	}
	if !m.transport.Holds(r.Target) {
		return fmt.Errorf("%w: %v", handshake.ErrTarget, r.Target)
	}
	v.place.Claims()
	return nil
}

func (v *visitor) bytes(b []byte) {
	if v.differs {
		return
	}
	a := v.answerer()
	if v.proved || a.Claimed() {
		v.fail(errors.New("it goes on before it was answered"))
		return
	}
	out, proved, err := a.Feed(b)
	switch {
	case err != nil && len(out) > 0:
		v.differ(out, err)
	case err != nil:
		v.fail(err)
	case proved:
		v.arrive()
	case a.Claimed():
		v.answer()
	}
}

// differ tells a process of this job that speaks another version which one is ours. To end the
// connection at once could take back what was sent. So the connection stays embryonic, with its
// place and its time, until the peer has read the message and ends it.
func (v *visitor) differ(ours []byte, err error) {
	v.tellStray(btl.LogWarn, err)
	v.differs = true
	if err = v.p.say(ours); err != nil {
		v.fail(err)
	}
}

func (v *visitor) message(b []byte) bool {
	a := v.answerer()
	if v.proved || a.Claimed() {
		return false
	}
	before := *a
	out, proved, err := a.Feed(b)
	if err != nil || !proved && !a.Claimed() {
		*a = before
		if len(out) > 0 {
			_ = v.p.link.Send(out) // our version, as in differ; it is not repeated
		}
		return false
	}
	if proved {
		v.p.said = nil // until there is a verdict
		v.arrive()
	} else {
		v.answer()
	}
	return true
}

// answer proves to a claimant that we are the rank that it looks for. That takes the key that we
// share with the rank that it claims to be, for which the launcher may have to be asked.
func (v *visitor) answer() {
	rank := v.acceptor.Request().From
	v.p.awaitKey(rank, func(key []byte, err error) {
		if err == nil {
			err = v.p.say(v.acceptor.Answer(key))
		}
		if err != nil {
			v.fail(fmt.Errorf("it claims to be rank %d: %w", rank, err))
		}
	})
}

// arrive decides about a peer that has proved itself.
func (v *visitor) arrive() {
	v.proved = true
	v.stopTimer()
	v.place.Leave()
	m := v.p.m
	var err error
	v.greeting, err = m.greeted(v.acceptor.Request().From, v.acceptor.Peer())
	if _, unlike := errors.AsType[*unlikeError](err); unlike {
		v.tell(btl.LogWarn, "refused", ": "+err.Error())
		v.refuse(handshake.Gone, err.Error())
		v.resume(err)
		return
	}
	if err != nil {
		v.fail(err)
		return
	}
	if path := v.acceptor.Request().Path; path >= m.Paths {
		v.refuse(handshake.BadPath, m.noPath(path))
	} else {
		v.tell(btl.LogDebug, "connect_ack", ", it has proved itself")
		v.settle()
	}
	v.resume(errCrossed)
}

var errCrossed = errors.New("the peer's attempt, which has crossed ours, came to nothing")

// tell writes a line about a connection that has proved itself and is no endpoint's yet.
func (v *visitor) tell(level btl.LogLevel, what, more string) {
	r := v.acceptor.Request()
	local, remote := v.p.link.Addresses()
	v.p.m.tell(level, slotKey{r.From, r.Path}, "←", what, local+" ← "+remote, r.Epoch, more)
}

func (v *visitor) settle() {
	r := v.acceptor.Request()
	s := v.p.m.slot(r.From, r.Path)
	epoch := uint32(0)
	if s.conn != nil {
		epoch = s.conn.epoch
	}
	if d := s.dial(); d != nil {
		epoch = d.epoch
	}
	switch handshake.Settle(v.p.m.host.Rank(), r.From, s.attempt(), epoch, r) {
	case handshake.Hold:
		v.tell(btl.LogDebug, "connect_ack", ", waits for our own attempt to end")
		s.keep(v)
	case handshake.Refuse:
		v.refuse(handshake.Duplicate, fmt.Sprintf("epoch %d is connected, this is %d", epoch, r.Epoch))
	case handshake.Replace:
		c := s.conn
		c.Down(c.Error("connected", fmt.Errorf("the peer has lost this connection and made a newer one, epoch %d", r.Epoch)))
		v.admit()
	case handshake.Accept:
		v.admit()
	}
}

// admit makes this connection that of the slot's endpoint, or of a new one if there is none that
// lives.
func (v *visitor) admit() {
	m, r := v.p.m, v.acceptor.Request()
	s := m.slot(r.From, r.Path)
	c := s.conn
	if c == nil || c.state == Failed {
		if c = v.newConn(s); c == nil {
			return
		}
	} else {
		c.prepare(v.p.link, false)
	}
	s.epoch = max(s.epoch, r.Epoch)
	verdict := v.acceptor.Accept(m.ourGreeting())
	if m.Repeat > 0 {
		v.p.said = verdict // to be said again if it is lost
	}
	v.p.release()
	c.establish(v.p.link, verdict, r.Epoch, v.greeting, v.acceptor.Session())
}

// newConn makes an endpoint that the host did not ask for, or refuses.
func (v *visitor) newConn(s *slot) *Conn {
	m := v.p.m
	c := m.newConn(s, v.greeting.Host)
	c.state = ConnectAck // so that Send does not connect
	s.conn = c
	c.prepare(v.p.link, false)
	recv, err := m.host.Accept(m.transport, s.key.rank, v.greeting.Hello, s.key.path, c.ep)
	if err == nil && !c.gone && !m.closed {
		c.Recv = recv
		return c
	}
	reason := "it is closing"
	if err != nil {
		reason = err.Error()
	}
	c.gone = true
	if s.conn == c {
		s.conn = nil
	}
	v.refuse(handshake.Gone, reason)
	return nil
}

// refuse tells the peer why it is not let in.
func (v *visitor) refuse(code handshake.Code, reason string) {
	v.tell(btl.LogInfo, "refused", fmt.Sprintf(", %v: %s", code, reason))
	v.p.leave(v.acceptor.Refuse(code, reason))
}

// ended: the connection is over before it was anybody's.
func (v *visitor) ended(err error) { v.fail(err) }

// fail ends a connection that has come to nothing, and writes a line about it. The line is a
// warning, but for a peer that has proved itself, and for one that has gone by itself: port scans
// and health checks do that, any number of times. A peer of another version was warned of before.
func (v *visitor) fail(err error) {
	level := btl.LogWarn
	switch {
	case v.proved:
		level = btl.LogInfo
	case v.differs, errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		level = btl.LogDebug
	}
	v.tellStray(level, err)
	v.drop()
	v.resume(err)
}

func (v *visitor) tellStray(level btl.LogLevel, err error) {
	_, from := v.p.link.Addresses()
	v.p.m.Stray(level, from, err)
}

// resume has our own attempt go on, unless the peer's has taken its place.
func (v *visitor) resume(err error) {
	if d := v.instead; d != nil && d.c.dial == d && v.p.owner == nil {
		v.instead = nil
		d.fail(err)
	}
}

// drop ends the connection without a word.
func (v *visitor) drop() {
	v.stopTimer()
	v.place.Leave()
	if v.proved {
		r := v.acceptor.Request()
		if s := v.p.m.slot(r.From, r.Path); s.reserve == v {
			s.takeReserve()
		}
	}
	v.p.close()
}

func (v *visitor) stopTimer() {
	if v.timer != nil {
		v.timer.Stop()
		v.timer = nil
	}
}
