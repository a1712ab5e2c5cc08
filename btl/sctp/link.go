package sctp

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/wireup"
)

// A link is one association and its present owner: a handshake (pending), an endpoint, or a
// linger. It implements [stack.Handler].
type link struct {
	assoc   stack.Association
	m       *module
	route   *route // of an attempt of ours
	pending *wireup.Pending
	ep      *endpoint
	linger  *linger
	control control
}

var _ wireup.Link = (*link)(nil)

// Dial implements [wireup.Transport].
func (m *module) Dial(p *wireup.Pending, way wireup.Way) (wireup.Link, error) {
	l := &link{m: m, pending: p, route: way.(*route)}
	var err error
	if l.assoc, err = m.stack.Associate(m.forStack(l.route), l); err != nil {
		return nil, err
	}
	return l, nil
}

// accept takes an association that has come up.
func (m *module) accept(a stack.Association) stack.Handler {
	if !m.Wire.Room(a.Remote()) {
		return nil
	}
	l := &link{m: m, assoc: a}
	l.pending = m.Wire.Came(l, a.Remote())
	return l
}

// Up implements [stack.Handler].
func (l *link) Up() { l.pending.Up() }

// Receive implements [stack.Handler].
func (l *link) Receive(stream uint16, ppid uint32, piece []byte, end bool) {
	switch {
	case l.ep != nil:
		l.ep.receive(stream, ppid, piece, end)
	case l.linger != nil:
		l.linger.receive(stream, ppid)
	default:
		b, whole, err := l.control.add(ppid, piece, end)
		if err == nil && (stream != controlStream || l.control.ppid != ppidHandshake) {
			err = fmt.Errorf("%w: payload protocol %#08x on stream %d before the peer has proved itself", wireup.ErrForeign, l.control.ppid, stream)
		}
		if err != nil {
			l.pending.Ended(err)
		} else if whole {
			l.pending.Bytes(b)
		}
	}
}

// Released implements [stack.Handler].
func (l *link) Released(f *btl.Frame) {
	if l.ep != nil && l.ep.Live() {
		l.ep.Recv.Released(f)
	}
}

// Writable implements [stack.Handler].
func (l *link) Writable() {
	switch {
	case l.ep != nil:
		l.ep.offer()
	case l.linger != nil:
		l.linger.Work()
	}
}

// PathChanged implements [stack.Handler].
func (l *link) PathChanged(p btl.PathState) {
	if l.ep != nil {
		l.ep.pathChanged(p)
	}
}

// Down implements [stack.Handler].
func (l *link) Down(err error) {
	switch {
	case l.ep != nil:
		l.ep.ended(err)
	case l.linger != nil:
		l.m.Wire.Left(l.linger)
	default:
		l.pending.Ended(err)
	}
}

// Send implements [wireup.Link]. There is always room: the handshake's messages are few, and
// the first. If the association is over already, Send returns nil and Down tells the reason.
func (l *link) Send(b []byte) error {
	if l.assoc.Send(controlStream, ppidHandshake, b, nil) == btl.Busy {
		return errNoRoom
	}
	return nil
}

var errNoRoom = errors.New("the association takes no message")

// Abort implements [wireup.Link].
func (l *link) Abort() { l.assoc.Abort() }

// Leave implements [wireup.Link].
func (l *link) Leave(b []byte) {
	if len(b) > 0 && l.Send(b) != nil {
		l.Abort()
		return
	}
	l.m.leave(l, nil)
}

// Addresses implements [wireup.Link].
func (l *link) Addresses() (local, remote string) { return l.assoc.Addresses() }

// Target implements [wireup.Link]: the address that has answered.
func (l *link) Target() netip.AddrPort {
	return netip.AddrPortFrom(l.assoc.Remote().Addr(), l.route.Port)
}

// A control puts the messages of the control stream together.
type control struct {
	buf  []byte
	ppid uint32
	open bool // in the middle of a message
}

var errControl = errors.New("malformed control message")

// add takes the next piece. Whole means that the message is complete; it is valid
// until the next call.
func (c *control) add(ppid uint32, piece []byte, end bool) (b []byte, whole bool, err error) {
	if !c.open {
		c.buf, c.ppid, c.open = c.buf[:0], ppid, true
	}
	if len(c.buf)+len(piece) > wireup.MaxMessage {
		return nil, false, fmt.Errorf("%w: longer than %d bytes", errControl, wireup.MaxMessage)
	}
	c.buf = append(c.buf, piece...)
	c.open = !end
	return c.buf, end, nil
}
