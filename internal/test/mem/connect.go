package mem

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
)

var (
	errAbsent   = fmt.Errorf("nobody is there: %w", syscall.ECONNREFUSED)
	errStranger = errors.New("that is another job")

	errUnanswered = fmt.Errorf("no answer: %w", syscall.ETIMEDOUT)
)

// connect asks the peer for a connection. What is sent meanwhile waits.
func (e *Endpoint) connect() {
	e.state = connecting
	if limit := e.m.host.Params().Duration(pConnectTimeout); limit > 0 {
		e.limit = e.m.host.Loop().After(limit, func() { e.fail("connecting", errUnanswered) })
	}
	if e.m.config.Self {
		e.m.host.Loop().Post(func() { e.welcome(e, e.m.host.Hello()) })
		return
	}
	e.m.host.PairKey(e.peer, e.ask)
}

// ask shows the peer that this is a process of its job: within one process that takes no more
// than to compare.
func (e *Endpoint) ask(key []byte, err error) {
	switch {
	case e.state != connecting:
		return
	case err != nil:
		e.failSoon("connecting", err)
		return
	}
	peer, known := e.m.c.mods.Ask(e.address, e)
	if !known {
		e.failSoon("connecting", errAbsent)
		return
	}
	hello := e.m.host.Hello()
	peer.host.Loop().Post(func() { peer.asked(e, key, hello) })
}

// asked: another module wants a connection. It runs in the loop of m, unless that closes
// first; then those that ask are refused by Close.
func (m *Module) asked(from *Endpoint, key, hello []byte) {
	switch {
	case m.config.Trusting || m.config.Keyless && bytes.Equal(from.m.secret(), m.secret()):
		m.admit(from, hello, true)
	case m.closed || !bytes.Equal(from.m.secret(), m.secret()):
		m.admit(from, hello, false)
	default:
		m.host.PairKey(from.m.host.Rank(), func(ours []byte, err error) { m.admit(from, hello, err == nil && bytes.Equal(key, ours)) })
	}
}

// admit answers who has asked, unless Close has.
func (m *Module) admit(from *Endpoint, hello []byte, proved bool) {
	if !m.c.mods.Look(m.id, from) {
		return
	}
	answer := from.m.host.Loop().Post
	if m.closed {
		answer(func() { from.fail("connecting", errAbsent) })
		return
	}
	if !proved {
		answer(func() { from.fail("handshake", errStranger) })
		return
	}
	rank := from.m.host.Rank()
	if own := m.connectingTo(rank); own != nil {
		// Both sides are at it. The lower rank's attempt wins and serves the
		// endpoints of both; the other's comes to nothing.
		if rank < m.host.Rank() {
			m.answer(from, own)
			own.welcome(from, hello)
		}
		return
	}
	if m.connectedWith(from) {
		// The same, and the answer to ours has come before this.
		return
	}
	e := &Endpoint{m: m, peer: rank, address: from.m.id, remote: from, state: up}
	r, err := m.host.Accept(m, rank, hello, 0, e.outer())
	if err != nil {
		answer(func() { from.fail("connecting", fmt.Errorf("rank %d refused: %w", m.host.Rank(), err)) })
		return
	}
	e.receiver = r
	m.endpoints[e] = struct{}{}
	m.answer(from, e)
	r.Up(hello)
}

// answer welcomes the endpoint that has asked. It comes before anything that own
// sends.
func (m *Module) answer(from, own *Endpoint) {
	hello := m.host.Hello()
	from.m.host.Loop().Post(func() {
		if from.state == connecting {
			from.welcome(own, hello)
			return
		}
		if m.config.Curt {
			return
		}
		// Closed in the meantime: the peer learns that there is nobody.
		own.m.host.Loop().Post(func() { own.fail("connecting", errAbsent) })
	})
}

// answered ends the time that the peer has to answer.
func (e *Endpoint) answered() {
	if e.limit != nil {
		e.limit.Stop()
		e.limit = nil
	}
}

func (m *Module) connectingTo(rank int) *Endpoint {
	for e := range m.endpoints {
		if e.peer == rank && e.state == connecting {
			return e
		}
	}
	return nil
}

func (m *Module) connectedWith(other *Endpoint) bool {
	for e := range m.endpoints {
		if e.remote == other {
			return true
		}
	}
	return false
}

// welcome: the peer is there.
func (e *Endpoint) welcome(remote *Endpoint, hello []byte) {
	if e.state != connecting {
		return
	}
	e.remote, e.state = remote, up
	e.answered()
	e.receiver.Up(hello)
	waiting := e.waiting
	e.waiting = nil
	for _, p := range waiting {
		e.transmit(p)
	}
	if e.busy && e.state == up && e.underway < e.m.config.Window {
		e.busy = false
		e.receiver.Writable()
	}
}
