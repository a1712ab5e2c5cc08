package sctp

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/handshake"
)

// A link is one association and whom it belongs to at the moment: somebody who
// dials, somebody who has come, an endpoint, or what is left of one.
type link struct {
	stack.Association
	owner owner
}

// An owner is told what happens to its link. The methods are those of
// [stack.Handler].
type owner interface {
	up()
	receive(stream uint16, ppid uint32, piece []byte, end bool)
	writable()
	pathChanged(p btl.PathState)
	down(err error)
}

// A bystander has nothing to do when these happen.
type bystander struct{}

func (bystander) up()                       {}
func (bystander) writable()                 {}
func (bystander) pathChanged(btl.PathState) {}

// Up implements [stack.Handler].
func (l *link) Up() { l.owner.up() }

// Receive implements [stack.Handler].
func (l *link) Receive(stream uint16, ppid uint32, piece []byte, end bool) {
	l.owner.receive(stream, ppid, piece, end)
}

// Writable implements [stack.Handler].
func (l *link) Writable() { l.owner.writable() }

// PathChanged implements [stack.Handler].
func (l *link) PathChanged(p btl.PathState) { l.owner.pathChanged(p) }

// Down implements [stack.Handler].
func (l *link) Down(err error) { l.owner.down(err) }

// say sends bytes of the handshake, which are few and the first: there is always
// room. If the association is over already the owner is told so, with the reason,
// by down.
func (l *link) say(b []byte) error {
	if len(b) > 0 && l.Send(controlStream, ppidHandshake, b, nil) == btl.Busy {
		return errNoRoom
	}
	return nil
}

var errNoRoom = errors.New("the association takes no message")

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
	if len(c.buf)+len(piece) > maxHandshake {
		return nil, false, fmt.Errorf("%w: longer than %d bytes", errControl, maxHandshake)
	}
	c.buf = append(c.buf, piece...)
	c.open = !end
	return c.buf, end, nil
}

// handshake takes a piece of a message that can only be one of the handshake.
func (c *control) handshake(stream uint16, ppid uint32, piece []byte, end bool) (b []byte, whole bool, err error) {
	b, whole, err = c.add(ppid, piece, end)
	if err == nil && (stream != controlStream || c.ppid != ppidHandshake) {
		err = fmt.Errorf("%w: payload protocol %#08x on stream %d before the peer has proved itself", handshake.ErrMagic, c.ppid, stream)
	}
	return b, whole, err
}
