package tcp

import (
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// A sending is a system call that sends many bytes, without the loop's lock. There is at most one
// for each connection. What Send takes meanwhile waits behind it, as if the system had no room.
type sending struct {
	stage  stage
	pin    btl.Pin
	vector *rawio.Vector // the module's, for as long
	size   int           // bytes in it
	n      int
	errno  syscall.Errno
}

// writer is the endpoint as the [btl.Mover] of its sending.
type writer endpoint

// sendApart has what waits sent without the lock.
func (ep *endpoint) sendApart() {
	ep.sender.sending.stage = moveWaits
	ep.m.loop.Move((*writer)(ep))
}

// Begin implements [btl.Mover].
func (w *writer) Begin(most int) bool {
	ep, g := (*endpoint)(w), &w.sender.sending
	if g.stage != moveWaits {
		return false
	}
	g.stage = noMove
	if !ep.Live() || ep.failure != nil {
		return false
	}
	g.vector = ep.m.takeVector()
	ep.sender.gather(g.vector)
	g.vector.Limit(most)
	if g.size = g.vector.Size(); g.size == 0 {
		ep.m.backVector(g)
		return false
	}
	g.stage, g.n, g.errno = moveStarted, 0, 0
	g.pin.Set()
	return true
}

// Move implements [btl.Mover].
func (w *writer) Move() {
	g := &w.sender.sending
	g.n, g.errno = w.conn.Sendv(g.vector)
	g.pin.Clear()
}

// End implements [btl.Mover].
func (w *writer) End() bool {
	ep, g := (*endpoint)(w), &w.sender.sending
	ep.settleSending()
	if g.stage != moveCounted {
		return false
	}
	g.stage = noMove
	return ep.Live() && ep.failure == nil && ep.goOn(g.n, g.size, g.errno)
}

// settleSending waits until the system call of a sending is over, and counts what was sent. From
// then on the sending refers to no memory. It still has its End.
func (ep *endpoint) settleSending() {
	g := &ep.sender.sending
	if g.stage != moveStarted {
		return
	}
	g.pin.Wait()
	g.stage = moveCounted
	ep.m.backVector(g)
	ep.counters.SendCalls++
	ep.sender.sent(g.n)
}

// takeVector lends a vector to a sending. The module's own is for calls under the lock.
func (m *module) takeVector() *rawio.Vector {
	last := len(m.vectors) - 1
	if last < 0 {
		return new(rawio.Vector)
	}
	v := m.vectors[last]
	m.vectors = m.vectors[:last]
	return v
}

func (m *module) backVector(g *sending) {
	g.vector.Reset()
	m.vectors = append(m.vectors, g.vector)
	g.vector = nil
}
