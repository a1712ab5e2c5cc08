package udp

import (
	"bytes"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// A leaver is a connection after its endpoint. It sends what was taken, then that it leaves, until the peer
// has both.
type leaver struct{ ep *endpoint }

var _ wireup.Leaver = (*leaver)(nil)

// farewell is how long closing the module waits for peers to confirm our last bytes, which nobody repeats
// when the process has ended.
const farewell = time.Second

// leave ends the connection in order. The frames' memory is the host's again, so they are copied.
func (ep *endpoint) leave() {
	l := &leaver{ep}
	ep.link.ep, ep.link.leaving = nil, l
	for o := ep.sender.first; o != nil; o = o.next {
		f := &btl.Frame{Header: bytes.Clone(o.frame.Header), Payload: make([]byte, o.frame.Size), Size: o.frame.Size}
		o.frame.CopyPayload(f.Payload)
		o.frame = f
	}
	for ep.sender.done != nil {
		ep.sender.done = ep.sender.done.next
	}
	ep.receiver.open = nil
	ep.sender.bye = byeLater
	ep.m.Wire.Leave(l)
	l.work()
	if ep.sender.live() {
		ep.push()
	}
}

// work says goodbye when everything has arrived, and ends when that has.
func (l *leaver) work() {
	s := &l.ep.sender
	switch {
	case !s.live():
	case s.bye == byeLater && s.idle():
		s.bye = byeDue
	case s.bye == byeArrived:
		l.ep.m.Wire.Left(l)
	}
}

// theyLeave: the peer has sent all that it had.
func (ep *endpoint) theyLeave() {
	ep.parted = true
	if ep.link.leaving != nil {
		ep.sender.bye = byeArrived // it drops what still comes
	}
}

// theyDrop: the peer has left, and what is under way will not be taken. If it has more to say, that comes.
func (ep *endpoint) theyDrop() {
	ep.drops = ep.heard
	if ep.link.leaving != nil {
		ep.sender.bye = byeArrived
	}
}

// Work implements [wireup.Leaver]: the sockets are watched.
func (l *leaver) Work() bool { return false }

// Confirmed implements [wireup.Leaver].
func (l *leaver) Confirmed() bool { return l.ep.sender.bye == byeArrived }

// End implements [wireup.Leaver].
func (l *leaver) End() {
	if l.ep.sender.bye == byeArrived {
		l.ep.link.forget()
	} else {
		l.ep.link.Abort()
	}
	l.ep.stop()
}
