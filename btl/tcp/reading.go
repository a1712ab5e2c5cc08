package tcp

import (
	"syscall"

	"github.com/strandmp/strand/btl"
)

// A reading is a read of many bytes into a landing place, without the loop's lock. There is at most
// one for each connection. Until it is over nothing else is read from the connection.
type reading struct {
	stage   stage
	landing *btl.Landing
	room    []byte // of landing
	n       int
	errno   syscall.Errno
}

// A stage is how far a move has come.
type stage uint8

const (
	noMove      stage = iota // there is none
	moveWaits                // for its turn
	moveStarted              // it is being made, or nobody knows yet that it is over
	moveCounted              // it is over, and what it has moved is counted
)

// reader is the endpoint as the [btl.Mover] of its reading.
type reader endpoint

// mayReadApart reports whether a reading can have the landing place. If the place was revoked, or belongs to
// another copy of the same frame too, bytes are read to it under the lock, however many they are: a reading
// would begin anew with each poll, and read nothing.
func (ep *endpoint) mayReadApart() bool {
	l, _ := ep.scanner.Pin()
	if l == nil {
		return false
	}
	l.Unpin(0)
	return true
}

// readApart has the next read made without the lock.
func (ep *endpoint) readApart() {
	ep.reading.stage = moveWaits
	ep.m.loop.Move((*reader)(ep))
}

// Begin implements [btl.Mover].
func (r *reader) Begin(most int) bool {
	ep, g := (*endpoint)(r), &r.reading
	if g.stage != moveWaits {
		return false
	}
	g.stage = noMove
	if !ep.Live() {
		return false
	}
	if g.landing, g.room = ep.scanner.Pin(); g.landing == nil {
		return false // the place was revoked; the next poll reads to scratch
	}
	g.room = g.room[:min(len(g.room), most)]
	g.stage = moveStarted
	return true
}

// Move implements [btl.Mover].
func (r *reader) Move() {
	g := &r.reading
	g.n, g.errno = r.conn.Recv(g.room)
	g.landing.Unpin(g.n)
}

// End implements [btl.Mover].
func (r *reader) End() bool { return (*endpoint)(r).finishReading() }

// settleReading waits until the system call of a reading is over. What it has read is counted in its
// landing place, and nobody makes an up-call for it: the connection ends.
func (ep *endpoint) settleReading() {
	if g := &ep.reading; g.stage == moveStarted {
		g.landing.Settle()
	}
	ep.reading = reading{}
}

// finishReading takes note of what a reading has brought, once it is over, and reports whether it was
// anything. It is called when the reading is over, or earlier by who can not go on without.
func (ep *endpoint) finishReading() bool {
	begun := ep.reading.stage == moveStarted
	if begun {
		ep.reading.landing.Settle()
	}
	g := ep.reading
	ep.reading = reading{}
	if !begun {
		return false
	}
	ep.counters.ReceiveCalls++
	if g.n <= 0 {
		return ep.nothing(g.errno)
	}
	ep.counters.BytesReceived += uint64(g.n)
	if err := ep.scanner.Landed(); err != nil {
		ep.Malformed(err)
	}
	return true
}
