package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"

	"github.com/strandmp/strand/btl"
)

var (
	errAbsent = fmt.Errorf("nobody is there: %w", syscall.ECONNREFUSED)
	errCut    = errors.New("the connection was cut")
)

// connect asks the peer for a connection. What is sent meanwhile waits.
func (e *endpoint) connect() {
	e.state = connecting
	if e.peer == e.m.host.Rank() {
		e.m.post(func() { e.welcome(e, e.m.host.Hello()) })
		return
	}
	e.ask()
}

// ask asks the peer's module, unless the weather is bad.
func (e *endpoint) ask() {
	if e.hindered() {
		return
	}
	e.m.host.PairKey(e.peer, e.show)
}

// show tells the peer's module what only a process of its job has: the secret, and the key that
// this rank shares with it.
func (e *endpoint) show(key []byte, err error) {
	switch {
	case e.state != connecting:
		return
	case err != nil:
		e.m.post(e.refused)
		return
	}
	peer, known := e.m.c.modules.Ask(e.address, e)
	if !known {
		e.m.post(e.refused)
		return
	}
	secret, hello := e.m.host.Secret(), e.m.host.Hello()
	peer.host.Loop().Post(func() { peer.asked(e, secret, key, hello) })
}

// refused: the peer is not there, or is none of ours.
func (e *endpoint) refused() { e.fail("connecting", errAbsent) }

// hindered reports whether the weather keeps an attempt to connect from the peer, and has
// that fail or wait.
func (e *endpoint) hindered() bool {
	w := e.m.c.current()
	e.unasked = w == Silent || w == Down && e.m.config.Patient // until it is fair
	switch {
	case e.unasked:
	case w == Down:
		e.m.post(func() { e.fail("connecting", errDown) })
	case w == Gone:
		e.m.post(e.refused)
	}
	return w != Fair
}

// askAgain asks once more if the attempt to connect goes on.
func (e *endpoint) askAgain() {
	if e.state == connecting {
		e.ask()
	}
}

// asked: another module wants a connection. It runs in the loop of m, unless that
// closes first; then those that ask are refused by Close.
func (m *module) asked(from *endpoint, secret, key, hello []byte) {
	if m.closed || !bytes.Equal(secret, m.host.Secret()) {
		m.admit(from, hello, false)
		return
	}
	m.host.PairKey(from.m.host.Rank(), func(ours []byte, err error) { m.admit(from, hello, err == nil && bytes.Equal(key, ours)) })
}

// admit answers who has asked, unless Close has.
func (m *module) admit(from *endpoint, hello []byte, proved bool) {
	if !m.c.modules.Look(m.id, from) {
		return
	}
	if m.c.current() != Fair {
		from.m.post(from.askAgain) // the weather has changed on the way
		return
	}
	if m.closed || !proved {
		from.m.post(from.refused)
		return
	}
	rank := from.m.host.Rank()
	if own := m.connectingTo(rank, from.path); own != nil && !m.config.Both {
		// Both sides are at it. The lower rank's attempt wins and serves the
		// endpoints of both; the other's comes to nothing.
		if rank < m.host.Rank() {
			m.answer(from, own)
			own.welcome(from, hello)
		}
		return
	}
	e := &endpoint{m: m, peer: rank, path: from.path, address: from.m.id, remote: from, state: up}
	r, err := m.host.Accept(m, rank, hello, from.path, e)
	if err != nil {
		from.m.post(func() { from.finally(fmt.Errorf("rank %d refused: %w: %w", m.host.Rank(), btl.ErrUnwelcome, err)) })
		return
	}
	e.receiver = r
	m.endpoints[e] = struct{}{}
	m.answer(from, e)
	r.Up(hello)
}

// answer welcomes the endpoint that has asked. It comes before anything that own
// sends.
func (m *module) answer(from, own *endpoint) {
	hello := m.host.Hello()
	from.m.host.Loop().Post(func() {
		if from.state == connecting {
			from.welcome(own, hello)
			return
		}
		// Closed in the meantime: the peer learns that there is nobody.
		m.post(own.refused)
	})
}

func (m *module) connectingTo(rank, path int) *endpoint {
	for e := range m.endpoints {
		if e.peer == rank && e.path == path && e.state == connecting {
			return e
		}
	}
	return nil
}

// welcome: the peer is there.
func (e *endpoint) welcome(remote *endpoint, hello []byte) {
	if e.state != connecting {
		return
	}
	e.remote, e.state = remote, up
	for _, p := range e.waiting {
		e.transmit(p)
	}
	e.waiting = nil
	e.m.stir(e)
	e.receiver.Up(hello)
}

// Sever cuts the connection of an endpoint without a word to either side.
func Sever(ep btl.Endpoint) error {
	e, ok := ep.(*endpoint)
	if !ok {
		return fmt.Errorf("chaos: %T is no endpoint of this transport", ep)
	}
	if r := e.remote; r != nil {
		r.m.post(func() { r.fail("receiving", errCut) })
	}
	e.m.post(func() { e.fail("receiving", errCut) })
	return nil
}
